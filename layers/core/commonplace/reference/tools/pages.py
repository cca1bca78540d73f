"""Pages of an entry, and several entries in one answer, each within a budget of tokens.

Page 1 begins with what no call is right without: syntax, required parameters, authentication, an example. None of that
is ever cut; everything else follows in a fixed order, as much of it as there is room for on each page.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.model import Entry, EntryType, Hit
from commonplace.reference.tools.answers import (
    ANSWER_TOKENS,
    NAME_CHARACTERS,
    EntryData,
    ExampleData,
    Shown,
    brief,
    cost,
    dumped,
    headlines,
    kind_of,
    named,
    row,
)
from commonplace.reference.tools.layout import GROUP_TOKENS, LEAST_CONTENT, Item, Pages, tokens
from commonplace.reference.tools.markdown import block, code, line
from commonplace.reference.tools.parameters import PLACES, fitted, optional, parameters_of, spent_whole
from commonplace.web.mcp.budgets import estimate_tokens, fitting
from commonplace.web.mcp.rendering import compact

LEAST_TOKENS, MOST_TOKENS = 200, 8_000
"""Of an answer, where a caller says how many."""
NOTES_TOKENS = 60
"""Of an answer, for notes of the frame on how arguments were understood."""
ROOM = ANSWER_TOKENS - NOTES_TOKENS

MAX_RELATED = 5
PAGE_TOKENS = 60
"""Of a page, for where it goes on."""
SHARE_OF_TEXT = 0.25
"""Of a page: a text and examples that need no more of it keep their room beside descriptions of parameters."""
OUTPUT_TOKENS = 110
"""Of an example's output: nobody types that, so its first lines will do."""
EXAMPLE_TOKENS = 300
"""An example with less code is shown before one with more."""
SYNTAX_TOKENS = 60
"""Of a syntax that data give twice."""
MARGIN_TOKENS = NOTES_TOKENS + PAGE_TOKENS + 100
STEP_TOKENS = 500
"""By which a larger answer is suggested."""

TOOL_OF: dict[EntryType, str] = {"command": "get_command", "api": "get_api_endpoint"}
"""Which tool pages through an entry; `get_guide` through those of other types."""


class Laid(NamedTuple):
    """An entry as pages: what the first begins with, as data and as text, and what each of them holds."""

    head: dict[str, Any]
    parts: Sequence[str]
    pages: Sequence[Sequence[Item]]
    source: str
    whole: int | None
    """Tokens of an answer in which no description of a parameter is shortened; None if none is."""


def page_of(hit: Hit, number: int = 1, room: int = ROOM, several: bool = False) -> Shown:
    """A page of an entry. Raises InvalidInput for one that is not there."""
    laid = _laid(hit, room - PAGE_TOKENS, several)
    count = len(laid.pages)
    if not 1 <= number <= count:
        raise InvalidInput(
            f"There is no page {number} of {code(hit.entry.called, NAME_CHARACTERS)}.",
            hint="All of it is on one page." if count == 1 else f"It has {count} pages of this length.",
        )
    place = {"page": number, "pages": count} if count > 1 else {}
    onward = []
    if number < count:
        place |= {"next_page": number + 1, "truncated": True}
        summed = _summed(laid.pages[number])
        onward = [f"Page {number} of {count}; page {number + 1} of {tool_of(hit)} goes on with {summed}."]
    if number == 1:
        return _opened(hit, laid, laid.pages[0], place, onward)
    data, written = _written(laid.pages[number - 1])
    again = {key: value for key, value in laid.head.items() if key in _AGAIN}
    head = f"{code(hit.entry.called)}, page {number} of {count}."
    return EntryData(**again | data | place), "\n\n".join([head, *written, *onward])


def beginning_of(hit: Hit, room: int, several: bool = False, *, alone: bool = False, bare: bool = False) -> Shown:
    """All of an entry if it has room, else its head. `alone`: and as much more as has room; `bare`: never more."""
    laid = _laid(hit, room - PAGE_TOKENS, several)
    if len(laid.pages) == 1 and not (bare and laid.pages[0]):
        return _opened(hit, laid, laid.pages[0], {}, [])
    tool = tool_of(hit)
    shown = laid.pages[0] if alone else []
    return _opened(hit, laid, shown, {"continued_by": tool}, [f"That is its beginning: {tool} has all of it."])


def tool_of(hit: Hit) -> str:
    """Return which tool pages through an entry."""
    return TOOL_OF.get(hit.entry.type, "get_guide")


def _opened(hit: Hit, laid: Laid, items: Sequence[Item], place: dict[str, Any], onward: Sequence[str]) -> Shown:
    """The first page, with these of its items."""
    data, written = _written(items)
    if "examples" in data:
        data["examples"] = laid.head["examples"] + data["examples"]
    shortened = []
    if laid.whole and (items or laid.head.get("required")):
        gives = "gives them whole" if laid.whole <= MOST_TOKENS else "gives more of them"
        amount = min(laid.whole, MOST_TOKENS)
        shortened = [f"Descriptions are shortened: {tool_of(hit)} with maxTokens {amount} {gives}."]
    text = "\n\n".join([*laid.parts, *written, laid.source, *shortened, *onward])
    return EntryData(**laid.head | data | place), text


def _laid(hit: Hit, room: int, several: bool) -> Laid:
    entry = hit.entry
    place = hit.catalogue.source_url(hit.placed) or f"{code(hit.placed.path)} at commit {hit.catalogue.commit_sha}"
    written = f" ({line(entry.source, 200)})" if entry.source else ""
    source = f"Source: {place}{written}, updated {entry.last_updated[:10]}"
    head, parts, more, shortened = _head(hit, room, several)
    every = {key: value for key, value in head.items() if key in _AGAIN}
    laid = Pages(
        room - tokens("\n\n".join([*parts, source]), dumped(EntryData(**head))),
        room - tokens(code(entry.called), dumped(EntryData(**every))),
    )
    content, exact = entry.content.strip(), line(entry.syntax or entry.called)
    # The content of a command has its syntax (seed 003, "Testing"), unless that is long.
    if entry.type == "command" and exact not in content and estimate_tokens(exact) <= SYNTAX_TOKENS:
        content = f"{code(exact)}\n\n{content}".strip()
    examples = [Item("examples", None, _example(one), dumped(one)) for one in _examples(entry)[1:]]
    after = sum(item.tokens + GROUP_TOKENS for item in (*examples, Item("", None, "", content)))
    left = laid.left
    lines, short = optional(hit, left - (after if after <= left * SHARE_OF_TEXT else 0))
    for item in (*more, *lines):
        laid.add(item)
    # The content without what stands above it already.
    again = re.escape(entry.syntax or entry.called)
    text = re.sub(rf"(?:\*\*Syntax:?\*\*:?\s*```\w*\n{again}\n```|`{again}`)(?:\n+|\Z)", "", content, count=1).strip()
    opening, _, rest = text.partition("\n\n")
    repeats = opening.strip().rstrip(".") == entry.summary.strip().rstrip(".")
    laid.add_content(content, rest.strip() if repeats else text)
    for item in examples:
        laid.add(item)
    related = entry.related_ids[:MAX_RELATED]
    also = Item("related_ids", None, ", ".join(named(hit.catalogue, id) for id in related), related)
    if related and laid.fits(also):  # no page of its own
        laid.add(also)
    whole = room - left + spent_whole(hit, after) if shortened or short else None
    return Laid(head, parts, laid.pages, source, whole and -(-(whole + MARGIN_TOKENS) // STEP_TOKENS) * STEP_TOKENS)


_AGAIN = ("id", "type", "title", "name", "method", "path_template", "catalogue", "product")
"""On every page."""


def _head(hit: Hit, room: int, several: bool) -> tuple[dict[str, Any], list[str], Sequence[Item], bool]:
    """Return what is never cut: data, text, required parameters that no answer has room for, and whether any are
    shortened.
    """
    entry = hit.entry
    examples = _examples(entry)[:1]
    data = brief(hit, several) | {
        "title": entry.title,
        "syntax": entry.syntax or entry.name,
        "usages": entry.usages or None,
        "summary": entry.summary,
        "authentication": entry.authentication,
        "examples": examples or None,
        "source": entry.source,
        "source_url": hit.catalogue.source_url(hit.placed),
        "path": None if hit.catalogue.web_url else hit.placed.path,
        "commit": hit.catalogue.commit_sha,
        "last_updated": entry.last_updated,
        "matched_by": hit.matched_by,
    }
    facts = (
        kind_of(hit, several),
        " / ".join(filter(None, (entry.category, entry.subcategory))),
        f"module {entry.module}" if entry.module else None,
        f"found by {hit.matched_by}" if hit.matched_by not in ("name", "words") else None,
        f"id {entry.id}",
    )
    exact = [line(one, 2_000) for one in (entry.syntax or entry.called, *entry.usages)]
    parts = [
        *headlines(hit),
        block("\n".join(exact)) if entry.syntax or entry.called != entry.title else f"**{line(entry.title)}**",
        f"{line(entry.summary)} ({', '.join(fact for fact in facts if fact)})",
        *([f"Authentication: {line(entry.authentication, 1_000)}"] if entry.authentication else []),
    ]
    shown = [_example(example) for example in examples]
    left = room - tokens("\n\n".join(parts + shown), dumped(EntryData(**data)))
    parameters = parameters_of(entry, essential=True)
    required, most = fitted("required", parameters, left // 2)
    shortened = any(len(one.description) > most for one in parameters)
    first = fitting(required, lambda item: item.tokens, MOST_TOKENS)
    told, written = _written(first)
    return data | told, [*parts, *written, *shown], required[len(first) :], shortened


def _written(items: Iterable[Item]) -> tuple[dict[str, Any], list[str]]:
    """Items of a page as data and as text."""
    data: dict[str, Any] = {}
    parts: list[str] = []
    for (kind, place), group in groupby(items, lambda item: (item.kind, item.place)):
        found = list(group)
        if place is not None:
            rows = "\n".join(item.text for item in found)
            heading = f"{PLACES[place][0]}{', required' if kind == 'required' else ''}:"
            parts.append(f"{heading}\n{block(rows) if place in ('argument', 'option') else rows}")
            data.setdefault(kind, {})[place] = [item.data for item in found]
        elif kind == "examples":
            parts += [item.text for item in found]
            data[kind] = [item.data for item in found]
        else:
            ((_, _, text, data[kind]),) = found
            parts.append(f"See also: {text}" if kind == "related_ids" else text)
    return data, [part for part in parts if part]


def _summed(items: Iterable[Item]) -> str:
    """Return what a page holds, in a few words."""
    told = []
    for (kind, place), group in groupby(items, lambda item: (item.kind, item.place)):
        count = sum(1 for _ in group)
        noun = PLACES[place][1] if place else kind
        if kind != "related_ids":
            told.append("the text" if kind == "content" else f"{count} {noun[: -(count == 1) or None]}")
    return ", ".join(told)


def _examples(entry: Entry) -> list[ExampleData]:
    """A short one first; of outputs no more than their first lines."""
    at = next((at for at, one in enumerate(entry.examples) if estimate_tokens(one.code) <= EXAMPLE_TOKENS), 0)
    ordered = [*entry.examples[at : at + 1], *entry.examples[:at], *entry.examples[at + 1 :]]
    found = []
    for one in ordered:
        lines = (one.output or "").splitlines()
        first = fitting(lines, lambda row: estimate_tokens(row) + 1, OUTPUT_TOKENS)
        output = one.output if len(first) == len(lines) else "\n".join([*first, "…"])
        shown = lines and estimate_tokens(first[0]) <= OUTPUT_TOKENS
        found.append(ExampleData(description=one.description, code=one.code, output=output if shown else None))
    return found


def _example(example: ExampleData) -> str:
    told = f"Example: {line(example.description)}\n{block(example.code)}"
    return told + (f"\nOutput:\n{block(example.output)}" if example.output else "")


def fit_many(hits: Sequence[Hit], room: int, several: bool = False, *, evenly: bool = False) -> list[Shown]:
    """Return as many of the first as fit in a line each; what they leave is spent on more of them, in order.

    `evenly`: on the heads of all, before the rest of any.
    """
    lines = [(EntryData(**brief(hit, several)), row(at, hit, several)) for at, hit in enumerate(hits, 1)]
    shown = fitting(lines, lambda one: cost(*one), room)
    left = room - sum(cost(*one) for one in shown)
    for bare in (True, False) if evenly else (False,):
        for at, hit in enumerate(hits[: len(shown)]):
            if left < LEAST_CONTENT:
                return shown
            was = cost(*shown[at])
            data, text = beginning_of(hit, left + was - 2 * GROUP_TOKENS, several, alone=len(hits) == 1, bare=bare)
            more = data, f"{at + 1}. {line(hit.entry.title)}\n\n{text}" if len(hits) > 1 else text
            if (now := cost(*more)) <= left + was:
                left -= now - was
                shown[at] = more
    return shown


def fit_names(hits: Sequence[Hit], room: int) -> list[str]:
    """Return what the first of these are called, as many as there is room for."""
    names = [line(hit.entry.called, NAME_CHARACTERS) for hit in hits]
    return [name for name, spent in zip(names, accumulate(map(name_cost, names)), strict=True) if spent <= room]


def name_cost(name: str) -> int:
    """Return the tokens of a name with what stands around it."""
    return estimate_tokens(compact(name)) + 2
