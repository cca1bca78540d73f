"""Pages of an entry, and several entries in one answer, each within a budget of tokens.

Page 1 begins with what no call is right without: syntax, required parameters, authentication, an example. None of that
is ever cut; everything else follows in a fixed order, as much of it as there is room for on each page.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.model import Catalogue, Entry, EntryType, Example, Hit, Parameter, Place
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
from commonplace.reference.tools.markdown import block, closed, code, line, open_fence
from commonplace.web.mcp.budgets import escaped, estimate_tokens, fitting, piece
from commonplace.web.mcp.rendering import compact

LEAST_TOKENS, MOST_TOKENS = 200, 8_000
"""Of an answer, where a caller says how many."""
NOTES_TOKENS = 60
"""Of an answer, for notes of the frame on how arguments were understood."""
ROOM = ANSWER_TOKENS - NOTES_TOKENS

MAX_RELATED = 5
PAGE_TOKENS = 60
"""Of a page, for where it goes on."""
GROUP_TOKENS = 12
"""For what begins a group of lines, or ends a code block."""
OUTPUT_TOKENS = 110
"""Of an example's output: nobody types that, so its first lines will do."""
EXAMPLE_TOKENS = 300
"""An example with less code is shown before one with more."""
LEAST_CONTENT = 25
"""Tokens below which a beginning of a text says nothing."""

LENGTHS = (1_000, 300, 160, 100, 60, 40, 0)
"""Characters of descriptions of parameters: the first that leaves room for every parameter."""
PAGED_LENGTH = 60
"""The same where not even their names have room on one page."""
LEAST_SHARING = 3
"""Commands that have an option, or more of them, before it counts as one that most have."""
SHORTENED = "Descriptions are shortened: a larger maxTokens gives more of them."

PLACES: dict[Place, tuple[str, str]] = {
    "argument": ("Arguments", "arguments"),
    "option": ("Options", "options"),
    "path": ("Path parameters", "path parameters"),
    "query": ("Query parameters", "query parameters"),
    "header": ("Headers", "headers"),
    "cookie": ("Cookies", "cookies"),
    "body": ("Body", "body fields"),
}
"""Above a list of them, and after a number."""

TOOL_OF: dict[EntryType, str] = {"command": "get_command", "api": "get_api_endpoint"}
"""Which tool pages through an entry, unless it is `get_guide`."""


class Item(NamedTuple):
    """What stands on a page after its head. Items of one kind and place that follow each other are a group."""

    kind: str
    """`required`, `parameters`, `content`, `examples` or `related_ids`, as the data has them."""
    place: Place | None
    text: str
    data: Any


class Cost(NamedTuple):
    """Tokens of text and of data."""

    text: int
    data: int

    @classmethod
    def of(cls, text: str, data: Any) -> "Cost":
        return cls(estimate_tokens(text) + 1, estimate_tokens(compact(data)) + 1)

    def less(self, other: "Cost") -> "Cost":
        return Cost(self.text - other.text, self.data - other.data)


class Pages:
    """Items laid on pages one after the other. What is too large for an empty page stands there alone."""

    def __init__(self, first: Cost, room: Cost) -> None:
        """`first` is what the head of the first page leaves, `room` that of any other."""
        self.pages: list[list[Item]] = [[]]
        self._left, self._room = first, room

    @property
    def left(self) -> int:
        """Of the page that is being filled."""
        return min(self._left)

    def add(self, item: Item) -> None:
        left = self._left_by(item)
        if min(left) < 0 and self._turn():
            left = self._left_by(item)
        self._left = left
        self.pages[-1].append(item)

    def add_content(self, content: str, beginning: str) -> None:
        """In pieces that are the content when laid end to end. `beginning` is how a reader sees one that is whole."""
        start = 0
        while start < len(content):
            if self.left < LEAST_CONTENT + 2 * GROUP_TOKENS:
                self._turn()
            room = max(self.left - 2 * GROUP_TOKENS, LEAST_CONTENT)
            found = piece(content, start, max_tokens=room, write=escaped)
            fence = open_fence(content[:start])
            text = beginning if found.complete and not start else f"{fence}\n{found.text}" if fence else found.text
            self.add(Item("content", None, closed(text).strip("\n"), found.text))
            start = found.end

    def _left_by(self, item: Item) -> Cost:
        last = self.pages[-1][-1] if self.pages[-1] else None
        group = 0 if last and (last.kind, last.place) == (item.kind, item.place) else GROUP_TOKENS
        return self._left.less(Cost.of(item.text, item.data)).less(Cost(group, group))

    def _turn(self) -> bool:
        """Begins a page, unless this one is empty and any other would be as small."""
        if not self.pages[-1] and len(self.pages) > 1:
            return False
        self.pages.append([])
        self._left = self._room
        return True


def page_of(hit: Hit, number: int = 1, room: int = ROOM, several: bool = False) -> Shown:
    """A page of an entry. Raises InvalidInput for one that is not there."""
    entry, room = hit.entry, room - PAGE_TOKENS
    head, parts, more, shortened = _head(hit, room, several)
    foot = [source] if (source := _source(hit)) else []
    again = {key: value for key, value in brief(hit, several).items() if key in _AGAIN}
    laid = Pages(
        Cost(room, room).less(Cost.of("\n\n".join(parts + foot), dumped(EntryData(**head)))),
        Cost(room, room).less(Cost.of(code(entry.called), dumped(EntryData(**again)))),
    )
    lines, short = _optional(hit, laid.left)
    for item in (*more, *lines):
        laid.add(item)
    content = entry.content.strip()
    laid.add_content(content, _without_repeats(entry, content))
    for example in _examples(entry)[1:]:
        laid.add(Item("examples", None, _example(example), dumped(example)))
    if related := entry.related_ids[:MAX_RELATED]:
        laid.add(Item("related_ids", None, ", ".join(named(hit.catalogue, id) for id in related), related))
    count = len(laid.pages)
    if not 1 <= number <= count:
        raise InvalidInput(
            f"There is no page {number} of {code(entry.called, NAME_CHARACTERS)}.",
            hint="All of it is on one page." if count == 1 else f"It has {count} pages of this length.",
        )
    told, written = _written(laid.pages[number - 1])
    if number > 1:
        head, parts, foot = again, [f"{code(entry.called)}, page {number} of {count}."], []
    elif "examples" in told and "examples" in head:
        told["examples"] = head["examples"] + told["examples"]
    if shortened or short:
        foot.append(SHORTENED)
    if number < count:
        tool = TOOL_OF.get(entry.type, "get_guide")
        onward = f"page {number + 1} of {tool} goes on with {_summed(laid.pages[number])}."
        foot.append(f"Page {number} of {count}; {onward}")
        told |= {"next_page": number + 1, "truncated": True}
    told |= {"page": number, "pages": count} if count > 1 else {}
    return EntryData(**head | told), "\n\n".join([*parts, *written, *foot])


_AGAIN = ("id", "type", "title", "name", "method", "path_template", "catalogue", "product")
"""On every page."""


def _head(hit: Hit, room: int, several: bool) -> tuple[dict[str, Any], list[str], Sequence[Item], bool]:
    """What is never cut: data, text, required parameters that no answer has room for, and whether any are shortened."""
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
    exact = [line(one, 2_000) for one in (entry.syntax or entry.called, *entry.usages)]
    parts = [
        *headlines(hit),
        block("\n".join(exact)) if entry.syntax or entry.called != entry.title else f"**{line(entry.title)}**",
        f"{line(entry.summary)} ({_facts(hit, several)})",
        *([f"Authentication: {line(entry.authentication, 1_000)}"] if entry.authentication else []),
    ]
    shown = [_example(example) for example in examples]
    left = room - max(Cost.of("\n\n".join(parts + shown), dumped(EntryData(**data))))
    parameters = [one for one in _parameters(entry) if one.required]
    required, most = _fitted("required", parameters, left * 2 // 3)
    shortened = any(len(one.description) > most for one in parameters)
    first = fitting(required, lambda item: max(Cost.of(item.text, item.data)), MOST_TOKENS)
    told, written = _written(first)
    return data | told, [*parts, *written, *shown], required[len(first) :], shortened


def _parameters(entry: Entry) -> list[Parameter]:
    order = list(PLACES)
    return sorted(entry.parameters or (), key=lambda one: order.index(one.place))


def _optional(hit: Hit, left: int) -> tuple[Sequence[Item], bool]:
    """A line each, and whether any is shortened. Options of most commands come last where room is scarce, bare."""
    optional = [one for one in _parameters(hit.entry) if not one.required]
    left -= GROUP_TOKENS * len({one.place for one in optional})
    items, most = _fitted("parameters", optional, left, LENGTHS[:-1])
    if optional and _spent(items) > left:
        shared = _shared(hit.catalogue) if hit.entry.type == "command" else set()
        own = [one for one in optional if one.name not in shared]
        bare = [_item("parameters", one, 0) for one in optional if one.name in shared]
        items, most = _fitted("parameters", own, left - _spent(bare))
        if _spent(items) + _spent(bare) > left:
            items, most = _fitted("parameters", own, 0, (PAGED_LENGTH,))
        return items + bare, True
    return items, any(len(one.description) > most for one in optional)


def _shared(catalogue: Catalogue) -> set[str]:
    """Options that more than half of its commands have: what is known of one is known of all."""
    commands = [placed.entry.parameters for placed in catalogue.entries if placed.entry.type == "command"]
    known = [{one.name for one in parameters} for parameters in commands if parameters]
    counts = Counter(name for names in known for name in names)
    return {name for name, count in counts.items() if count > max(len(known) / 2, LEAST_SHARING)}


def _fitted(
    kind: str, parameters: Sequence[Parameter], left: int, lengths: Sequence[int] = LENGTHS
) -> tuple[list[Item], int]:
    """A line each, with as much of their descriptions as leaves room for all; else with the least. And how much."""
    for most in lengths:
        items = [_item(kind, one, most) for one in parameters]
        if _spent(items) <= left:
            break
    return items, most


def _spent(items: Iterable[Item]) -> int:
    return sum(max(Cost.of(item.text, item.data)) for item in items)


def _item(kind: str, parameter: Parameter, most: int) -> Item:
    """Of a command as a help page has it: in a code block names need no marks."""
    names = line(", ".join((parameter.name, *parameter.aliases)), 1_000)
    type = line(parameter.type or "")
    said = line(parameter.description, most) if most else ""
    if parameter.place in ("argument", "option"):
        label = f"{names} {type}" if type and parameter.place == "option" else names
        text = f"{label}  {said}".rstrip()
    else:
        label = f"{names} ({type})" if type else names
        text = f"- {code(names, 1_000)}{label.removeprefix(names)}" + (f": {said}" if said else "")
    return Item(kind, parameter.place, text, f"{label}: {said}" if said else label)


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
    """What a page holds, in a few words."""
    told = []
    for (kind, place), group in groupby(items, lambda item: (item.kind, item.place)):
        count = sum(1 for _ in group)
        noun = PLACES[place][1] if place else kind
        told.append(
            {"content": "the text", "related_ids": "see also"}.get(noun, f"{count} {noun[: -(count == 1) or None]}")
        )
    return ", ".join(told)


def _without_repeats(entry: Entry, content: str) -> str:
    """Of the content, what does not stand above it already."""
    first, _, after = content.partition("\n\n")
    text = after.strip() if first.strip().rstrip(".") == entry.summary.strip().rstrip(".") else content
    again = re.escape(entry.syntax or entry.called)
    return re.sub(rf"(?:\*\*Syntax:?\*\*:?\s*```\w*\n{again}\n```|`{again}`)(?:\n+|\Z)", "", text, count=1).strip()


def _facts(hit: Hit, several: bool) -> str:
    entry = hit.entry
    facts = (
        kind_of(hit, several),
        " / ".join(filter(None, (entry.category, entry.subcategory))),
        f"module {entry.module}" if entry.module else None,
        f"found by {hit.matched_by}" if hit.matched_by not in ("name", "words") else None,
        f"id {entry.id}",
    )
    return ", ".join(fact for fact in facts if fact)


def _examples(entry: Entry) -> list[ExampleData]:
    """A short one first; of outputs no more than their first lines."""
    at = next((at for at, one in enumerate(entry.examples) if estimate_tokens(one.code) <= EXAMPLE_TOKENS), 0)
    ordered = [*entry.examples[at : at + 1], *entry.examples[:at], *entry.examples[at + 1 :]]
    return [ExampleData(description=one.description, code=one.code, output=_beginning(one)) for one in ordered]


def _beginning(example: Example) -> str | None:
    lines = (example.output or "").splitlines()
    first = fitting(lines, lambda row: estimate_tokens(row) + 1, OUTPUT_TOKENS)
    if not lines or estimate_tokens(first[0]) > OUTPUT_TOKENS:
        return None
    return example.output if len(first) == len(lines) else "\n".join([*first, "…"])


def _example(example: ExampleData) -> str:
    told = f"Example: {line(example.description)}\n{block(example.code)}"
    return told + (f"\nOutput:\n{block(example.output)}" if example.output else "")


def _source(hit: Hit) -> str:
    place = hit.catalogue.source_url(hit.placed)
    place = place or f"{code(hit.placed.path)} at commit {hit.catalogue.commit_sha}"
    written = f" ({line(hit.entry.source, 200)})" if hit.entry.source else ""
    return f"Source: {place}{written}, updated {hit.entry.last_updated[:10]}"


def fit_many(hits: Sequence[Hit], room: int, several: bool = False) -> list[Shown]:
    """As many of the first as fit in a line each; what they leave is spent on more of them, the first one first."""
    lines = [(EntryData(**brief(hit, several)), row(at, hit, several)) for at, hit in enumerate(hits, 1)]
    shown = fitting(lines, lambda one: cost(*one), room)
    left = room - sum(cost(*one) for one in shown)
    for at, hit in enumerate(hits[: len(shown)]):
        if left < LEAST_CONTENT:
            break
        was = cost(*shown[at])
        data, text = page_of(hit, 1, left + was - 2 * GROUP_TOKENS, several)
        more = data, f"{at + 1}. {line(hit.entry.title)}\n\n{text}" if len(hits) > 1 else text
        if (now := cost(*more)) <= left + was:
            left -= now - was
            shown[at] = more
    return shown


def fit_names(hits: Sequence[Hit], room: int) -> list[str]:
    """What the first of these are called, as many as there is room for."""
    names = [line(hit.entry.called, NAME_CHARACTERS) for hit in hits]
    return [name for name, spent in zip(names, accumulate(map(name_cost, names)), strict=True) if spent <= room]


def name_cost(name: str) -> int:
    """With what stands around it."""
    return estimate_tokens(compact(name)) + 2
