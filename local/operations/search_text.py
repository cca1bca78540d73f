"""The answer of a search for a terminal: results as paragraphs, an explanation as tables."""

import re
from collections.abc import Iterable
from textwrap import fill
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

Json = dict[str, Any]

WIDTH = 100
PIPE_WIDTH = 140
"""Of tables that go into a file or another program."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Texts come from a repository, and a terminal would obey some of these."""


def results_text(answer: Json) -> str:
    """The results, one paragraph each, with what is worth knowing about the whole."""
    lines = [f"Did you mean: {_clean(answer['suggestion'])}"] if answer["suggestion"] else []
    if not answer["results"]:
        return "\n\n".join(["Nothing was found.", *lines])
    left_out = answer.get("documentsLeftOut", [])
    hits = [_paragraph(position, hit, left_out) for position, hit in enumerate(answer["results"], 1)]
    return "\n\n".join([*lines, *hits, ", ".join(_notes(answer))])


def print_explanation(explanation: Json | None, *, publication_known: bool) -> None:
    """Tables of how the ranking came about, and the sentence about the document that was expected."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    if explanation is None:
        console.print(Text("\nThere is no explanation: nothing was asked of the index."))
        return
    parts: list[RenderableType] = [Text(), _facts(explanation), Text(), _hits(explanation["hits"]), Text()]
    parts.append(_timings(explanation["timingsMs"]))
    if (expectation := explanation["expectation"]) is not None:
        parts += [Text(), Text(f"Expected {_clean(expectation['id'])}: {expectation['verdict']}", style="bold")]
        parts.append(Text(_clean(expectation["sentence"])))
        parts += [_standing(expectation["standing"])] if expectation["standing"] else []
        if not publication_known:
            parts.append(Text("Whether it is published is not known: an index file was asked, which has no store."))
    console.print(Group(*parts))


def _notes(answer: Json) -> list[str]:
    kind = "found" if answer["totalRelation"] == "exact" else "candidates"
    notes = [f"{answer['total']} {kind}", f"{answer['tookMs']} ms"]
    notes += ["by words only"] if answer["fallback"] else []
    return notes + (["reranked"] if answer["reranked"] else [])


def _paragraph(position: int, hit: Json, left_out: list[str]) -> str:
    number = f"{position}. "
    indent = " " * len(number)
    ref = f"{hit['contentType']}/{hit['id']}"
    where = " · ".join(_clean(part) for part in (ref, hit["heading"]) if part)
    snippet = fill(_clean(hit["snippet"]), WIDTH, initial_indent=indent, subsequent_indent=indent)
    same = f"{indent}Nearly the same text: {', '.join(hit['duplicates'])}" if hit["duplicates"] else ""
    head = f"{number}{_clean(hit['title'])}  ({hit['score']:.2f})"
    paragraph = "\n".join(line for line in (head, indent + where, snippet, same) if line)
    if "document" not in hit:
        return paragraph
    if hit["document"] is None:
        reason = "does not fit into the answer" if ref in left_out else "has gone meanwhile"
        return f"{paragraph}\n{indent}(The document {reason}.)"
    return f"{paragraph}\n\n{_clean(hit['document']['content']).strip()}"


def _facts(explanation: Json) -> Table:
    table = Table.grid(padding=(0, 2))
    index = f", index {explanation['index']}" if explanation["index"] else ""
    legs = f"{explanation['lexicalHits']} by words, {explanation['vectorHits']} by meaning"
    for name, value in (
        ("engine", explanation["engine"] + index),
        ("model", explanation["model"] or "none, words only"),
        ("fusion", explanation["fusion"]),
        ("reranker", explanation["reranker"] or "none"),
        ("filters", _filters(explanation["filters"])),
        ("found", f"{legs}, {explanation['namedHits']} by name; {explanation['candidates']} candidates"),
    ):
        table.add_row(Text(name, style="bold"), Text(_clean(value)))
    return table


def _filters(filters: Json) -> str:
    told = [f"{name} {_value(value)}" for name, value in filters.items() if value not in (None, [], "")]
    return "; ".join(told) or "none"


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _hits(hits: Iterable[Json]) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="bold")
    table.add_column("#", justify="right")
    table.add_column("document", overflow="fold")
    for name in ("score", "words: rank", "score", "share", "meaning: rank", "score", "share", "name", "rerank"):
        table.add_column(name, justify="right", no_wrap=True)
    for hit in hits:
        numbers = (_number(hit["score"]), *_leg(hit["lexical"]), *_leg(hit["vector"]))
        told = (*numbers, _number(hit["named"]), _number(hit["rerankScore"]))
        table.add_row(str(hit["rank"]), Text(_clean(hit["id"])), *told)
    return table


def _leg(share: Json | None) -> tuple[str, str, str]:
    if share is None:
        return ("-", "-", "-")
    return (str(share["rank"]), _number(share["score"]), _number(share["share"]))


def _standing(standing: Json) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, value in (
        ("by words", _place(standing["lexical"])),
        ("by meaning", _place(standing["vector"], standing["belowFloor"])),
        ("in the index", "no" if standing["held"] is None else f"generation {standing['held']}"),
        ("passes the filters", "yes" if standing["admitted"] else "no"),
    ):
        table.add_row(Text(name, style="bold"), Text(value))
    return table


def _place(place: list[float] | None, below_floor: float | None = None) -> str:
    if place is not None:
        return f"rank {place[0]:.0f}, score {_number(place[1])}"
    return "not found" if below_floor is None else f"not found: its similarity is {_number(below_floor)}"


def _timings(timings: Json) -> Text:
    return Text("ms: " + ", ".join(f"{name} {value:.1f}" for name, value in timings.items()))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _clean(text: Any) -> str:
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", str(text).replace("\r\n", "\n"))
