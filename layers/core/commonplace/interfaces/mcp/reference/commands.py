"""`list_commands`: every command there is, by category, a page at a time."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

from pydantic import Field

from commonplace.errors import NotFound
from commonplace.interfaces.mcp import continuing
from commonplace.interfaces.mcp.budgets import estimate_tokens
from commonplace.interfaces.mcp.declaring import Answer, Arguments, Call, Output, Part, Tool
from commonplace.interfaces.mcp.reference import vocabulary
from commonplace.interfaces.mcp.reference.fitting import ROOM
from commonplace.interfaces.mcp.reference.markdown import code, line
from commonplace.interfaces.mcp.reference.services import ReferenceServices
from commonplace.interfaces.mcp.rendering import compact, data_of
from commonplace.reference.catalogue import Placed
from commonplace.reference.entries import Entry

LIST = "list_commands"
SUMMARY_CHARACTERS = 100
MAX_COUNTED = 12
"""Categories whose counts are told."""


class ListArguments(Arguments):
    category: str | None = Field(None, description="Only this category or subcategory; all is no filter")
    module: str | None = Field(None, description="Only this optional module of the product")
    cursor: str | None = Field(None, description="nextCursor of the page before")


class Counted(Part):
    category: str
    commands: int


class Listed(Part):
    name: str
    summary: str | None = None
    deprecated: bool | None = None


class Group(Part):
    category: str
    commands: list[Listed]


class Commands(Output):
    total: int
    categories: list[Counted] | None = Field(None, description="How many commands each has")
    groups: list[Group]
    next_cursor: str | None = None


def tools(using: ReferenceServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name=LIST,
            title="List commands",
            description="Every command there is, by category. Use it when a search finds nothing.",
            arguments=ListArguments,
            output=Commands,
            run=partial(list_commands, using),
            in_use={
                "category": lambda: [one.slug for one in vocabulary.with_commands(using)],
                "module": lambda: vocabulary.modules(using),
            },
        ),
    )


def list_commands(using: ReferenceServices, call: Call, asked: ListArguments) -> Answer:  # noqa: ARG001 - a tool's shape
    category, module = vocabulary.filtered(asked.category), vocabulary.filtered(asked.module)
    rows = sorted(using.reference.commands(category, module), key=_order)
    if not rows:
        raise _none(using, category, module)
    question = f"{category} {module}"
    version = " ".join(f"{one.name}@{one.generation}:{one.commit_sha}" for one in using.reference.catalogues())
    start = _position(asked.cursor, question, version)
    counts = Counter(_label(placed.entry) for placed in rows)
    for summaries in (True, False):
        answer = _page(rows, start, counts, len(rows) - start, summaries=summaries, cursor=None)
        if _cost(answer) <= ROOM:
            return answer
    return _longest(rows, start, counts, question, version)


def _longest(rows: Sequence[Placed], start: int, counts: Counter[str], question: str, version: str) -> Answer:
    """The page with most names that there is room for; with one at least."""

    def page(size: int) -> Answer:
        cursor = continuing.handle(start + size, tool=LIST, question=question, version=version)
        return _page(rows, start, counts, size, summaries=False, cursor=cursor)

    low, high = 1, min(len(rows) - start - 1, ROOM // 10)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _cost(page(middle)) <= ROOM else (low, middle - 1)
    return page(low)


def _page(
    rows: Sequence[Placed], start: int, counts: Counter[str], size: int, *, summaries: bool, cursor: str | None
) -> Answer:
    groups: dict[str, list[Listed]] = {}
    for placed in rows[start : start + size]:
        groups.setdefault(_label(placed.entry), []).append(_listed(placed.entry, summaries=summaries))
    counted = [Counted(category=slug, commands=count) for slug, count in counts.most_common(MAX_COUNTED)]
    data = Commands(
        total=len(rows),
        categories=counted if start == 0 and len(counts) > 1 else None,
        groups=[Group(category=slug, commands=commands) for slug, commands in groups.items()],
        next_cursor=cursor,
    )
    return Answer(_text(data, start, size, len(counts)), data)


def _text(data: Commands, start: int, size: int, categories: int) -> str:
    """How many there are, and how to go on, come first: a reader takes a page that looks full for all there is."""
    lines = [f"{data.total} commands in {_plural(categories)}."]
    if data.next_cursor or start:
        lines[0] += f" Here are {start + 1} to {start + size}."
    if data.categories:
        told = ", ".join(f"{one.category} {one.commands}" for one in data.categories)
        lines.append(f"By category: {told}" + (", and others." if categories > MAX_COUNTED else "."))
    if data.next_cursor:
        lines.append(f"{LIST} goes on with cursor `{data.next_cursor}`; a category narrows it.")
    for group in data.groups:
        lines += ["", f"**{group.category}**", *map(_row, group.commands)]
    return "\n".join([*lines, "", "get_command tells syntax, options and examples of each."])


def _row(one: Listed) -> str:
    told = f"- {code(one.name)}" + (f" {line(one.summary)}" if one.summary else "")
    return told + (" (deprecated)" if one.deprecated else "")


def _listed(entry: Entry, *, summaries: bool) -> Listed:
    return Listed(
        name=entry.called,
        summary=line(entry.summary, SUMMARY_CHARACTERS) if summaries else None,
        deprecated=entry.deprecated or None,
    )


def _label(entry: Entry) -> str:
    """What most narrows: the subcategory where there is one."""
    return entry.subcategory or entry.category


def _order(placed: Placed) -> tuple[str, str]:
    return _label(placed.entry), placed.entry.called.casefold()


def _position(cursor: str | None, question: str, version: str) -> int:
    """Raises InvalidInput for a cursor of another question, or of commands that have changed since."""
    if cursor is None:
        return 0
    found = continuing.resume(cursor, tool=LIST, question=question, version=version)
    return found if isinstance(found, int) else 0


def _none(using: ReferenceServices, category: str | None, module: str | None) -> NotFound:
    told = vocabulary.unknown(using, category, module) or ["There is no command here."]
    known = [one.slug for one in vocabulary.with_commands(using)]
    return NotFound(" ".join(told), hint=f"Categories with commands: {vocabulary.listed(known)}.")


def _plural(categories: int) -> str:
    return "one category" if categories == 1 else f"{categories} categories"


def _cost(answer: Answer) -> int:
    return estimate_tokens(answer.text) + estimate_tokens(compact(data_of(answer)))
