"""`list_commands`: every command there is, by category, a page at a time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from pydantic import Field

from commonplace.errors import NotFound
from commonplace.interfaces.mcp import continuing
from commonplace.interfaces.mcp.budgets import estimate_tokens
from commonplace.interfaces.mcp.declaring import Answer, Arguments, Call, Output, Part, Tool
from commonplace.interfaces.mcp.reference import vocabulary
from commonplace.interfaces.mcp.reference.fitting import ROOM
from commonplace.interfaces.mcp.reference.markdown import block, line
from commonplace.interfaces.mcp.reference.services import ReferenceServices
from commonplace.interfaces.mcp.rendering import compact, data_of
from commonplace.reference.catalogue import Placed
from commonplace.reference.entries import Entry

LIST = "list_commands"
SUMMARY_CHARACTERS = (100, 50, 0)
"""Of summaries in a list: the first that leaves room for everything."""
MAX_COUNTED = 12
"""Categories whose counts are told."""


class ListArguments(Arguments):
    category: str | None = Field(None, description="Only this category or subcategory; all is no filter")
    module: str | None = Field(None, description="Only this optional module of the product")
    cursor: str | None = Field(None, description="nextCursor of the page before")


class Group(Part):
    category: str
    commands: dict[str, str] = Field(description="Name: what it does, where there is room for that")
    deprecated: list[str] | None = None


class Commands(Output):
    total: int
    categories: dict[str, int] | None = Field(None, description="How many commands each has")
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
    for characters in SUMMARY_CHARACTERS:
        answer = _page(rows, start, counts, len(rows) - start, characters=characters)
        if _cost(answer) <= ROOM:
            return answer
    return _longest(rows, start, counts, question, version)


def _longest(rows: Sequence[Placed], start: int, counts: Counter[str], question: str, version: str) -> Answer:
    """The page with most names that there is room for; with one at least."""

    def page(size: int) -> Answer:
        cursor = continuing.handle(start + size, tool=LIST, question=question, version=version)
        return _page(rows, start, counts, size, cursor=cursor)

    low, high = 1, min(len(rows) - start - 1, ROOM // 10)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _cost(page(middle)) <= ROOM else (low, middle - 1)
    return page(low)


def _page(
    rows: Sequence[Placed],
    start: int,
    counts: Counter[str],
    size: int,
    *,
    characters: int = 0,
    cursor: str | None = None,
) -> Answer:
    """`characters` is how long a summary may be."""
    groups: dict[str, list[Entry]] = {}
    for placed in rows[start : start + size]:
        groups.setdefault(_label(placed.entry), []).append(placed.entry)
    data = Commands(
        total=len(rows),
        categories=dict(counts.most_common(MAX_COUNTED)) if start == 0 and len(counts) > 1 else None,
        groups=[_group(label, entries, characters) for label, entries in groups.items()],
        next_cursor=cursor,
    )
    return Answer(_text(data, start, size, len(counts)), data)


def _group(label: str, entries: Sequence[Entry], characters: int) -> Group:
    return Group(
        category=label,
        commands={line(one.called): line(one.summary, characters) if characters else "" for one in entries},
        deprecated=[line(one.called) for one in entries if one.deprecated] or None,
    )


def _text(data: Commands, start: int, size: int, categories: int) -> str:
    """How many there are, and how to go on, come first: a reader takes a page that looks full for all there is."""
    head = f"{data.total} commands in {_plural(categories)}."
    head += f" Here are {start + 1} to {start + size}." if data.next_cursor or start else ""
    lines = [head]
    if data.categories:
        told = ", ".join(f"{slug} {count}" for slug, count in data.categories.items())
        lines.append(f"By category: {told}" + (", and others." if categories > MAX_COUNTED else "."))
    if data.next_cursor:
        lines.append(f"{LIST} goes on with cursor `{data.next_cursor}`; a category narrows it.")
    for group in data.groups:
        lines += ["", f"**{group.category}**", block("\n".join(_rows(group)))]
    return "\n".join([*lines, "", "get_command tells syntax, options and examples of each."])


def _rows(group: Group) -> Iterator[str]:
    """As a shell would take them: what follows a name is a comment."""
    for name, summary in group.commands.items():
        told = " ".join(filter(None, ("(deprecated)" if name in (group.deprecated or ()) else "", summary)))
        yield f"{name} # {told}" if told else name


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
    known = [one.slug for one in vocabulary.with_commands(using)]
    told = vocabulary.unknown(using, category, module) or [f"Categories with commands: {vocabulary.listed(known)}."]
    return NotFound("There is no command under these conditions.", hint=" ".join(told))


def _plural(categories: int) -> str:
    return "one category" if categories == 1 else f"{categories} categories"


def _cost(answer: Answer) -> int:
    return estimate_tokens(answer.text) + estimate_tokens(compact(data_of(answer)))
