"""Entries in answers, as data and in a line of Markdown."""

from bisect import bisect_left
from typing import Any

from pydantic import ConfigDict

from commonplace.reference.model import (
    Catalogue,
    Confidence,
    EntryType,
    Hit,
    MatchedBy,
    Method,
    Placed,
)
from commonplace.reference.tools.markdown import code, either, line
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.declaration import Output, Part
from commonplace.web.mcp.rendering import compact

SUMMARY_CHARACTERS = 160
"""Of a summary in a list."""
NAME_CHARACTERS = 120
MAX_UNLISTED = 5
"""Words of a line that an answer repeats."""

ANSWER_TOKENS = 1_000
"""Of an answer, its text or its data, whichever is larger, unless a caller says otherwise."""

INFERRED = "This was inferred from the program's source, and may differ from what it takes."


class ExampleData(Part):
    description: str
    code: str
    output: str | None = None


class UnknownData(Part):
    name: str
    nearest: list[str]


def _open(schema: dict[str, Any]) -> None:
    schema["properties"] = {}
    schema.pop("required", None)


class OpenOutput(Output):
    """An output of which the list of tools says that it is an object, no more: all that it may hold would double the
    list.
    """

    model_config = ConfigDict(json_schema_extra=_open)


class EntryData(Part):
    """One entry, with as much of it as there is room for."""

    id: str
    type: EntryType
    title: str | None = None
    category: str | None = None
    subcategory: str | None = None
    module: str | None = None
    name: str | None = None
    syntax: str | None = None
    usages: list[str] | None = None
    method: Method | None = None
    path_template: str | None = None
    confidence: Confidence | None = None
    unknown_options: list[UnknownData] | None = None
    unlisted: list[str] | None = None
    """Words and options that the entry does not list, which may exist."""
    deprecated: bool | None = None
    replaced_by: str | None = None
    instead_of: str | None = None
    summary: str | None = None
    authentication: str | None = None
    required: dict[str, list[str]] | None = None
    """A line for each parameter, by where they stand; the others likewise."""
    parameters: dict[str, list[str]] | None = None
    content: str | None = None
    examples: list[ExampleData] | None = None
    related_ids: list[str] | None = None
    source: str | None = None
    source_url: str | None = None
    path: str | None = None
    commit: str | None = None
    catalogue: str | None = None
    product: str | None = None
    last_updated: str | None = None
    matched_by: MatchedBy | None = None
    score: float | None = None
    page: int | None = None
    pages: int | None = None
    next_page: int | None = None
    truncated: bool | None = None
    continued_by: str | None = None
    """Among other entries: the tool that gives all of it."""


Shown = tuple[EntryData, str]
"""An entry as data, and for a reader."""


def brief(hit: Hit, several: bool = False) -> dict[str, Any]:
    """An entry among others: enough to choose it, and to type a command. `several`: products that are served."""
    entry = hit.entry
    return {
        "id": entry.id,
        "type": entry.type,
        "title": None if entry.called != entry.title else entry.title,
        "category": entry.category,
        "subcategory": entry.subcategory,
        "module": entry.module,
        "name": entry.name,
        "syntax": entry.syntax if entry.syntax != entry.name else None,
        "method": entry.method,
        "path_template": entry.path_template,
        "summary": line(entry.summary, SUMMARY_CHARACTERS),
        "confidence": entry.confidence if entry.confidence != "exact" else None,
        "unknown_options": [{"name": one.name, "nearest": one.nearest} for one in hit.unknown_options] or None,
        "unlisted": [line(one.name, NAME_CHARACTERS) for one in hit.unlisted[:MAX_UNLISTED]] or None,
        "deprecated": entry.deprecated or None,
        "replaced_by": entry.replaced_by,
        "instead_of": hit.instead_of.called if hit.instead_of else None,
        "catalogue": hit.catalogue.name,
        "product": product_of(hit.catalogue) if several else None,
        "matched_by": hit.matched_by if hit.matched_by != "words" else None,
        "score": round(hit.score, 2),
    }


def product_of(catalogue: Catalogue) -> str:
    return line(" ".join(filter(None, (catalogue.title, catalogue.version))), NAME_CHARACTERS)


def headlines(hit: Hit) -> list[str]:
    """Return what has to be known before anything of an entry is used."""
    entry, called = hit.entry, code(hit.entry.called)
    told = []
    if hit.instead_of:
        told.append(f"{code(hit.instead_of.called)} was replaced by {called}.")
    if entry.deprecated:
        new = f"use {named(hit.catalogue, entry.replaced_by)}" if entry.replaced_by else ""
        told.append(f"{called} is deprecated: {new}." if new else f"{called} is deprecated, and nothing replaces it.")
    for one in hit.unknown_options:
        kind = "option" if entry.type == "command" else "parameter"
        nearest = f"; nearest: {either(one.nearest)}" if one.nearest else ""
        told.append(f"There is no {kind} {code(one.name)} of {called}{nearest}.")
    if hit.unlisted:
        words = ", ".join(code(line(one.name, NAME_CHARACTERS)) for one in hit.unlisted[:MAX_UNLISTED])
        near = dict.fromkeys(other for one in hit.unlisted for other in one.nearest)
        nearest = f"; nearest: {either(tuple(near)[:MAX_UNLISTED])}" if near else ""
        told.append(f"Its source does not list {words}, and need not list all{nearest}.")
    return [*told, INFERRED] if entry.confidence == "inferred" else told


def cost(data: EntryData, text: str) -> int:
    """Tokens, with what stands between one entry and the next: of the larger of text and data."""
    return max(estimate_tokens(text), estimate_tokens(compact(dumped(data)))) + 2


def row(number: int, hit: Hit, several: bool) -> str:
    """One entry among others, in a line."""
    entry = hit.entry
    exact = code(entry.syntax or entry.called, 2_000) if entry.called != entry.title else f"**{line(entry.title)}**"
    facts = (kind_of(hit, several), entry.subcategory or entry.category, None if entry.name else entry.id)
    told = f"{number}. {exact}: {line(entry.summary, SUMMARY_CHARACTERS)} ({', '.join(filter(None, facts))})"
    return " ".join([told, *headlines(hit)])


def kind_of(hit: Hit, several: bool) -> str:
    return f"{hit.entry.type} of {product_of(hit.catalogue)}" if several else hit.entry.type


def named(catalogue: Catalogue, id: str) -> str:
    """Return what an entry is called where there is one, so that it can be looked up by that."""
    found = placed_of(catalogue, id)
    if found is None:
        return code(id)
    entry = found.entry
    named = entry.called != entry.title
    return code(entry.called, NAME_CHARACTERS) if named else f"{line(entry.title, NAME_CHARACTERS)} ({entry.id})"


def placed_of(catalogue: Catalogue, id: str) -> Placed | None:
    """Return the entry of this id, by halving: entries are in order of id."""
    at = bisect_left(catalogue.entries, id, key=lambda placed: placed.entry.id)
    found = catalogue.entries[at : at + 1]
    return found[0] if found and found[0].entry.id == id else None


def dumped(data: Part) -> dict[str, Any]:
    return data.model_dump(mode="json", by_alias=True, exclude_none=True)
