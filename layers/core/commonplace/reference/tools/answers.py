"""Entries as tools tell them: as data, and for a reader who wants to type what is there."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from pydantic import Field

from commonplace.reference.catalogue import Catalogue, Placed
from commonplace.reference.entries import Entry, EntryType, Example, Method
from commonplace.reference.model import Hit, MatchedBy
from commonplace.reference.tools.markdown import block, closed, code, line
from commonplace.web.mcp.declaration import Link, Part

MAX_EXAMPLES = 3
MAX_RELATED = 5
SUMMARY_CHARACTERS = 160
"""Of a summary in a list."""


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
    """What is told of an entry among others: enough to choose it, and to type a command. Nothing exact is ever cut."""
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
        "commit": hit.catalogue.commit_sha,
        "last_updated": entry.last_updated,
        "matched_by": hit.matched_by,
    }


def example_of(example: Example, *, output: bool = True) -> ToldExample:
    return ToldExample(
        description=example.description, code=example.code, output=example.output if output and example.output else None
    )


def headline(one: Told, catalogue: Catalogue) -> str | None:
    """What became of the name that was asked for."""
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
    if not one.source_url:
        return None
    written = f" ({line(one.source, 200)})" if one.source else ""
    return f"Source: {one.source_url}{written}, updated {str(one.last_updated)[:10]}"
