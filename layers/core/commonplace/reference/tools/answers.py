"""Entries in answers, as data and as Markdown: whole, then without outputs, then with less text, then in a line.

Text of a catalogue is fenced so that whatever it holds stays text. What has to be typed is never cut.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any
from urllib.parse import quote

from pydantic import Field

from commonplace.reference.model import Catalogue, Entry, EntryType, Example, Hit, MatchedBy, Method, Placed
from commonplace.web.mcp.budgets import estimate_tokens, fitting, piece
from commonplace.web.mcp.declaration import Link, Part
from commonplace.web.mcp.rendering import compact

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
"""What follows backticks on their line has none (CommonMark, section 4.5)."""

MAX_EXAMPLES = 3
MAX_RELATED = 5
SUMMARY_CHARACTERS = 160
"""Of a summary in a list."""

ANSWER_TOKENS = 1_000
"""Of an answer, its text or its data, whichever is larger (the issue of this toolset; a page and a half)."""
NOTES_TOKENS = 60
"""Of that, for notes of the frame on how arguments were understood."""
ROOM = ANSWER_TOKENS - NOTES_TOKENS

EXAMPLE_TOKENS = 300
"""Of an example's code, and of its output: what is longer is in the resource."""
OUTPUT_TOKENS = 110
"""Of an output's first lines, where all of them are too many."""
NAME_CHARACTERS = 120
LEAST_CONTENT = 25
"""Tokens below which a beginning of a text says nothing."""


def line(text: str, most: int = 500) -> str:
    """One printable line of at most so many characters, with an ellipsis where something is gone."""
    told = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * most])
    told = " ".join(told.split())
    return told if len(told) <= most else told[: most - 1].rstrip() + "…"


def code(text: str, most: int = 500) -> str:
    """A code span that its text cannot end."""
    told = line(text, most)
    ticks = "`" * (1 + max((len(found) for found in re.findall("`+", told)), default=0))
    pad = " " if "`" in told else ""
    return f"{ticks}{pad}{told}{pad}{ticks}"


def either(names: Sequence[str], most: int = 150) -> str:
    """`a`, `b` or `c`, each a code span; empty for none."""
    *others, last = [code(name, most) for name in names] or [""]
    return f"{', '.join(others)} or {last}" if others else last


def block(text: str) -> str:
    """A code block that its text cannot end."""
    runs = {mark: max((len(found) for found in re.findall(f"{mark}+", text)), default=0) for mark in "`~"}
    mark = min(runs, key=lambda one: max(2, runs[one]))
    fence = mark * max(3, 1 + runs[mark])
    return f"{fence}\n{text.strip(chr(10))}\n{fence}"


def closed(text: str) -> str:
    """Markdown whose last code block ends, so that what follows stands outside of it."""
    fence = ""
    for row in text.splitlines():
        found = _FENCE.match(row)
        if found is None:
            continue
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not row.strip().strip(fence[0]):
            fence = ""
    return f"{text}\n{fence}" if fence else text


class ToldExample(Part):
    description: str
    code: str
    output: str | None = None


class Told(Part):
    """One entry, with as much of it as there is room for."""

    id: str
    type: EntryType
    title: str | None = None
    category: str | None = None
    subcategory: str | None = None
    module: str | None = None
    name: str | None = None
    syntax: str | None = None
    method: Method | None = None
    path_template: str | None = None
    summary: str | None = None
    content: str | None = Field(None, description="Markdown")
    examples: list[ToldExample] | None = None
    related_ids: list[str] | None = None
    deprecated: bool | None = None
    replaced_by: str | None = None
    instead_of: str | None = Field(None, description="Deprecated name that was asked for")
    source: str | None = None
    source_url: str | None = None
    path: str | None = Field(None, description="Of its file, where that has no URL")
    commit: str | None = None
    catalogue: str | None = None
    last_updated: str | None = None
    matched_by: MatchedBy | None = Field(None, description="Absent: by words and meaning")
    score: float | None = None
    truncated: bool | None = Field(None, description="There is more in the resource")


def resource_of(hit: Hit) -> Link:
    """The whole entry."""
    return Link(uri=entry_uri(hit.catalogue.name, hit.entry.id), name=hit.entry.id, mime_type="text/markdown")


def entry_uri(catalogue: str, id: str) -> str:
    return f"reference://entries/{quote(catalogue, safe='')}/{quote(id, safe='')}"


def brief(hit: Hit) -> dict[str, Any]:
    """An entry among others: enough to choose it, and to type a command. Nothing exact is ever cut."""
    entry = hit.entry
    named = entry.called != entry.title
    return {
        "id": entry.id,
        "type": entry.type,
        "title": None if named else entry.title,
        "category": entry.category,
        "subcategory": entry.subcategory,
        "module": entry.module,
        "name": entry.name,
        "syntax": entry.syntax if entry.syntax != entry.name else None,
        "method": entry.method,
        "path_template": entry.path_template,
        "summary": line(entry.summary, SUMMARY_CHARACTERS),
        "deprecated": entry.deprecated or None,
        "replaced_by": entry.replaced_by,
        "instead_of": hit.instead_of.called if hit.instead_of else None,
        "catalogue": hit.catalogue.name,
        "matched_by": hit.matched_by if hit.matched_by != "words" else None,
        "score": round(hit.score, 2),
    }


def full(hit: Hit, examples: list[ToldExample], content: str) -> dict[str, Any]:
    """Everything but what may be too long: those are given."""
    entry = hit.entry
    return brief(hit) | {
        "title": entry.title,
        "syntax": entry.syntax or entry.name,
        "summary": entry.summary,
        "content": content or None,
        "examples": examples or None,
        "related_ids": entry.related_ids[:MAX_RELATED] or None,
        "source": entry.source,
        "source_url": hit.catalogue.source_url(hit.placed),
        "path": None if hit.catalogue.web_url else hit.placed.path,
        "commit": hit.catalogue.commit_sha,
        "last_updated": entry.last_updated,
        "matched_by": hit.matched_by,
    }


def example_of(example: Example, *, output: bool = True) -> ToldExample:
    return ToldExample(
        description=example.description, code=example.code, output=example.output if output and example.output else None
    )


def headline(one: Told, catalogue: Catalogue) -> str | None:
    """The outcome of a look-up by name."""
    called = one.name or one.title or one.id
    if one.instead_of:
        return f"{code(one.instead_of)} was replaced by {code(called)}."
    if one.deprecated:
        new = _named(catalogue, one.replaced_by) if one.replaced_by else None
        return f"{code(called)} is deprecated" + (f": use {new}." if new else ", and nothing replaces it.")
    return None


def row(number: int, one: Told, catalogue: Catalogue) -> str:
    """One entry among others, in a line."""
    told = headline(one, catalogue)
    facts = ", ".join(filter(None, (one.type, one.subcategory or one.category, None if one.name else one.id)))
    return f"{number}. {_exact(one)}: {line(one.summary or '')} ({facts})" + (f" {told}" if told else "")


def whole(one: Told, catalogue: Catalogue, number: int | None = None) -> str:
    """One entry for a reader: what to type first, then what it does, how, and where that is written."""
    exact = one.syntax or one.name or (_endpoint(one) if one.path_template else None)
    head = block(line(exact)) if exact else f"**{line(one.title or one.id)}**"
    parts = [
        f"{number}. {line(one.title or one.id)}" if number else None,
        headline(one, catalogue),
        head,
        f"{line(one.summary or '')} ({_facts(one)})",
        closed(_rest(one, exact)) if one.content else None,
        *(_example(example) for example in one.examples or ()),
        "See also: " + ", ".join(_related(one, catalogue)) if one.related_ids else None,
        _source(one),
        f"This is not all of it: read {entry_uri(catalogue.name, one.id)}" if one.truncated else None,
    ]
    return "\n\n".join(part for part in parts if part)


def _rest(one: Told, exact: str | None) -> str:
    """Of the content, what does not stand above it already."""
    text = (one.content or "").strip()
    summary = (one.summary or "").strip().rstrip(".")
    first, _, after = text.partition("\n\n")
    text = after.strip() if first.strip().rstrip(".") == summary else text
    if exact is None:
        return text
    again = re.escape(exact)
    return re.sub(rf"(?:\*\*Syntax:?\*\*:?\s*```\w*\n{again}\n```|`{again}`)(?:\n+|\Z)", "", text, count=1).strip()


def _exact(one: Told) -> str:
    if one.path_template:
        return code(_endpoint(one))
    return code(one.syntax or one.name) if one.name else f"**{line(one.title or one.id)}**"


def _endpoint(one: Told) -> str:
    return f"{one.method} {one.path_template}" if one.method else str(one.path_template)


def _facts(one: Told) -> str:
    facts = (
        one.type,
        " / ".join(filter(None, (one.category, one.subcategory))),
        f"module {one.module}" if one.module else None,
        f"found by {one.matched_by}" if one.matched_by not in (None, "name", "words") else None,
        f"id {one.id}",
    )
    return ", ".join(fact for fact in facts if fact)


def _example(example: ToldExample) -> str:
    told = f"Example: {line(example.description)}\n{block(example.code)}"
    return told + (f"\nOutput:\n{block(example.output)}" if example.output else "")


def _related(one: Told, catalogue: Catalogue) -> Iterator[str]:
    return (_named(catalogue, id) for id in one.related_ids or ())


def _named(catalogue: Catalogue, id: str) -> str:
    """What an entry is called where there is one, so that it can be looked up by that."""
    found = placed_of(catalogue, id)
    return _called(found.entry) if found else code(id)


def _called(entry: Entry) -> str:
    return code(entry.called, 120) if entry.called != entry.title else f"{line(entry.title, 120)} ({entry.id})"


def placed_of(catalogue: Catalogue, id: str) -> Placed | None:
    """By halving: entries are in order of id."""
    at = bisect_left(catalogue.entries, id, key=lambda placed: placed.entry.id)
    found = catalogue.entries[at : at + 1]
    return found[0] if found and found[0].entry.id == id else None


def _source(one: Told) -> str | None:
    if not one.commit:
        return None
    place = one.source_url or f"{code(one.path or '')} at commit {one.commit}"
    written = f" ({line(one.source, 200)})" if one.source else ""
    return f"Source: {place}{written}, updated {str(one.last_updated)[:10]}"


Shown = tuple[Told, str]
"""An entry as data, and for a reader."""


def fit_one(hit: Hit, room: int = ROOM) -> Shown:
    """As much as there is room for. What has to be exact is there whole or not at all."""
    barest = (_view(hit, "", []), Told(**brief(hit), truncated=True))
    return _first_fit(hit, chain(_views(hit), barest), room) or _last(hit)


def fit_many(hits: Sequence[Hit], room: int) -> list[Shown]:
    """As many of the first as fit in a line each; what they leave is spent on more of them, the first one first."""
    lines = [_line(number, hit, room) for number, hit in enumerate(hits, 1)]
    shown = fitting(lines, lambda one: cost(*one), room)
    left = room - sum(cost(*one) for one in shown)
    for at, hit in enumerate(hits[: len(shown)]):
        was = cost(*shown[at])
        number = at + 1 if len(hits) > 1 else None
        more = _first_fit(hit, _views(hit), left + was, number) if left > LEAST_CONTENT else None
        if more is not None:
            left -= cost(*more) - was
            shown[at] = more
    return shown


def fit_names(hits: Sequence[Hit], room: int) -> list[str]:
    """What the first of these are called, as many as there is room for."""
    names = [line(hit.entry.called, NAME_CHARACTERS) for hit in hits]
    return [name for name, spent in zip(names, accumulate(map(name_cost, names)), strict=True) if spent <= room]


def name_cost(name: str) -> int:
    """With what stands around it."""
    return estimate_tokens(compact(name)) + 2


def cost(told: Told, text: str) -> int:
    """Tokens, with what stands between one entry and the next: of the larger of text and data."""
    return max(estimate_tokens(text), estimate_tokens(compact(_dumped(told)))) + 2


def _first_fit(hit: Hit, views: Iterable[Told], room: int, number: int | None = None) -> Shown | None:
    shown = ((told, whole(told, hit.catalogue, number)) for told in views)
    return next((one for one in shown if cost(*one) <= room), None)


def _views(hit: Hit) -> Iterator[Told]:
    """From all of an entry to the beginning of its text, each with less than the one before."""
    content, examples = hit.entry.text.strip(), _examples(hit)
    bare = [example.model_copy(update={"output": None}) for example in examples]
    for count in (MAX_EXAMPLES, 2, 1):
        if count == MAX_EXAMPLES or count < len(examples):
            yield _view(hit, content, examples[:count])
    yield _view(hit, content, [_beginning(example) for example in examples[:1]])
    yield _view(hit, content, bare[:1])
    share = min(estimate_tokens(content), ROOM)
    while (share := share * 4 // 5) >= LEAST_CONTENT:
        yield _view(hit, piece(content, max_tokens=share).text.rstrip(), bare[:1])
    if bare:
        yield _view(hit, "", bare[:1])


def _view(hit: Hit, content: str, examples: list[ToldExample]) -> Told:
    """Marked where less is shown than the first view would."""
    entry = hit.entry
    complete = content == entry.text.strip() and examples == [
        example_of(example) for example in entry.examples[:MAX_EXAMPLES]
    ]
    return Told(**full(hit, examples, content), truncated=None if complete else True)


def _examples(hit: Hit) -> list[ToldExample]:
    """The first that are short enough, without outputs that are not."""
    short = (one for one in hit.entry.examples if estimate_tokens(one.code) <= EXAMPLE_TOKENS)
    told = [example_of(one, output=estimate_tokens(one.output or "") <= EXAMPLE_TOKENS) for one in short]
    return told[:MAX_EXAMPLES]


def _beginning(example: ToldExample) -> ToldExample:
    """With the first lines of its output: nobody types that, so less of it is not wrong."""
    lines = (example.output or "").splitlines()
    first = fitting(lines, lambda row: estimate_tokens(row) + 1, OUTPUT_TOKENS)
    if len(first) == len(lines) or estimate_tokens(lines[0]) > OUTPUT_TOKENS:
        return example.model_copy(update={"output": None})
    return example.model_copy(update={"output": "\n".join([*first, "…"])})


def _line(number: int, hit: Hit, room: int) -> Shown:
    told = Told(**brief(hit))
    shown = told, row(number, told, hit.catalogue)
    return shown if cost(*shown) <= room else _last(hit)


def _last(hit: Hit) -> Shown:
    """Of an entry whose very name has no room here: where it can be read."""
    told = Told(id=hit.entry.id, type=hit.entry.type, catalogue=hit.catalogue.name, truncated=True)
    return told, f"This {hit.entry.type} is too long to be told here: read {resource_of(hit).uri}"


def _dumped(told: Told) -> dict[str, Any]:
    return told.model_dump(mode="json", by_alias=True, exclude_none=True)
