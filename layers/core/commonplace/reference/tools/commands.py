"""The tool `list_commands`: every command by category, a page at a time."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from pydantic import Field

from commonplace.kernel.errors import NotFound
from commonplace.reference.model import Entry
from commonplace.reference.tools import services
from commonplace.reference.tools.answers import OpenOutput, product_of
from commonplace.reference.tools.markdown import block, line
from commonplace.reference.tools.pages import ROOM
from commonplace.reference.tools.services import ReferenceServices
from commonplace.web.mcp import budgets
from commonplace.web.mcp.budgets import estimate_tokens, fitting
from commonplace.web.mcp.declaration import Answer, Call, Part, Tool
from commonplace.web.mcp.rendering import cost

LIST = "list_commands"
SUMMARY_CHARACTERS = (100, 50, 0)
"""Of summaries in a list: the first that leaves room for everything."""
MOST_NAMES = 100
"""On a page, each of them in text and data."""
NAME_CHARACTERS = 160
"""A name that is longer ends in an ellipsis: it can be searched for."""
HEAD_TOKENS, GROUP_TOKENS, NAME_TOKENS = 130, 16, 3
"""Beside the description of the whole, of a category and of a command."""
COUNTED_TOKENS = 300
"""For how many commands the categories have."""


class ListArguments(services.Filtered):
    category: str | None = Field(None, description="Or subcategory")
    module: str | None = Field(None, description="Optional part of the product")
    cursor: str | None = Field(None, description="nextCursor of the last page")


class Row(NamedTuple):
    """A row of the list, in the order of lists."""

    product: str
    """Empty where there is one alone."""
    label: str
    """What most narrows: the subcategory where there is one."""
    called: str
    entry: Entry


class Group(Part):
    product: str | None = None
    category: str
    commands: dict[str, str]
    """Name: what it does, where there is room for that."""
    deprecated: list[str] | None = None


class Commands(OpenOutput):
    total: int
    categories: dict[str, int] | None = None
    """How many commands each has."""
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
            in_use={"category": lambda _: services.listable([one.slug for one in services.with_commands(using)])},
        ),
    )


def list_commands(using: ReferenceServices, call: Call, asked: ListArguments) -> Answer:  # noqa: ARG001 - a tool's shape
    category, module = services.filtered(asked.category), services.filtered(asked.module)
    found = using.reference.commands(category, module, asked.within)
    products: dict[int, str] = {}
    if using.several:
        for catalogue in using.reference.catalogues():
            products |= dict.fromkeys(map(id, catalogue.entries), product_of(catalogue))
    rows = [
        Row(
            products.get(id(placed), ""),
            placed.entry.subcategory or placed.entry.category,
            line(placed.entry.called, NAME_CHARACTERS),
            placed.entry,
        )
        for placed in found
    ]
    rows.sort(key=lambda row: (row.product, row.label, row.called.casefold(), row.entry.id))
    if not rows:
        hints = services.unknown(using, category, module, asked.within)
        if not hints:
            known = [one.slug for one in services.with_commands(using)]
            hints = [f"Categories with commands: {services.listed(known)}."]
        raise NotFound("There is no command under these conditions.", hint=" ".join(hints))
    question = f"{category} {module} {asked.within}"
    version = using.reference.version
    resumed: int | str = 0
    if asked.cursor is not None:
        resumed = budgets.resume(asked.cursor, tool=LIST, question=question, version=version)
    start = resumed if isinstance(resumed, int) else 0
    counts = Counter(row.label for row in rows)
    for characters in SUMMARY_CHARACTERS if len(rows) - start <= MOST_NAMES else ():
        answer = _page(rows, start, counts, len(rows) - start, characters=characters)
        if cost(answer) <= ROOM:
            return answer
    size = _guessed(rows[start:-1])
    while True:
        cursor = budgets.handle(start + size, tool=LIST, question=question, version=version)
        answer = _page(rows, start, counts, size, cursor=cursor)
        if size == 1 or cost(answer) <= ROOM:
            return answer
        size -= max(1, size // 16)


def _guessed(rows: Sequence[Row]) -> int:
    """Return how many rows fit, by what each of them costs: to weigh whole pages takes far longer."""
    left, group = ROOM - HEAD_TOKENS, ""
    for at, row in enumerate(rows[:MOST_NAMES]):
        if (own := f"{row.product} {row.label}") != group:
            left -= estimate_tokens(own) + GROUP_TOKENS
            group = own
        left -= estimate_tokens(row.called) + NAME_TOKENS
        if left < 0:
            return max(at, 1)
    return max(len(rows[:MOST_NAMES]), 1)


def _page(
    rows: Sequence[Row],
    start: int,
    counts: Counter[str],
    size: int,
    *,
    characters: int = 0,
    cursor: str | None = None,
) -> Answer:
    """`characters` is how long a summary may be."""
    # The largest categories, as many as leave room for commands.
    largest = fitting(counts.most_common(), lambda one: estimate_tokens(one[0]) + 8, COUNTED_TOKENS)
    groups: list[Group] = []
    for (product, label), members in groupby(rows[start : start + size], lambda row: (row.product, row.label)):
        found = list(members)
        summaries = {row.called: line(row.entry.summary, characters) if characters else "" for row in found}
        old = [row.called for row in found if row.entry.deprecated]
        groups.append(Group(product=product or None, category=label, commands=summaries, deprecated=old or None))
    data = Commands(
        total=len(rows),
        categories=dict(largest) if start == 0 and len(counts) > 1 else None,
        groups=groups,
        next_cursor=cursor,
    )
    # How many there are, and how to go on, come first: a reader takes a page that looks full for all there is.
    categories = len(counts)
    head = f"{data.total} commands in " + ("one category." if categories == 1 else f"{categories} categories.")
    head += f" Here are {start + 1} to {start + size}." if data.next_cursor or start else ""
    lines = [head]
    if data.categories:
        told = ", ".join(f"{slug} {count}" for slug, count in data.categories.items())
        lines.append(f"By category: {told}" + (", and others." if categories > len(data.categories) else "."))
    if data.next_cursor:
        lines.append(f"{LIST} goes on with cursor `{data.next_cursor}`; a category narrows it.")
    for group in data.groups:
        shown = []
        for name, summary in group.commands.items():
            # As a shell would take them: what follows a name is a comment.
            told = " ".join(filter(None, ("(deprecated)" if name in (group.deprecated or ()) else "", summary)))
            shown.append(f"{name} # {told}" if told else name)
        lines += ["", f"**{', '.join(filter(None, (group.product, group.category)))}**", block("\n".join(shown))]
    return Answer("\n".join([*lines, "", "get_command tells syntax, options and examples of each."]), data)
