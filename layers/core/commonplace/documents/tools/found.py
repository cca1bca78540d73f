"""What a search found, as tools tell it: for a reader, and the same as data."""

from typing import Any

from pydantic import Field

from commonplace.documents.content.document import reference
from commonplace.documents.tools.asking import Asked
from commonplace.documents.tools.citing import citation
from commonplace.documents.tools.names import shown
from commonplace.documents.tools.paging import Excerpt
from commonplace.search.model import Hit
from commonplace.web.mcp.declaration import Call, Output, Part


class _Result(Part):
    content_type: str
    id: str
    title: str
    snippet: str | None = None
    score: float
    date: str | None = None
    url: str = Field(description="To cite")
    link: str | None = Field(None, description="What it is about")


class FoundPassage(_Result):
    heading: str | None = None
    rerank_score: float | None = None
    duplicates: list[str] | None = None


class FoundDocument(_Result):
    content: str | None = None
    next_cursor: str | None = Field(None, description="For get_document")


class _Found(Output):
    total: int
    total_relation: str = Field(description="exact or candidates")
    truncated: bool
    suggestion: str | None = Field(None, description="Did you mean")
    hints: list[str] | None = None


class Passages(_Found):
    next_cursor: str | None = None
    results: list[FoundPassage]


class Documents(_Found):
    results: list[FoundDocument]


def whole(found: Asked) -> dict[str, Any]:
    """What is told of a search as a whole, whatever its results."""
    return {
        "total": found.findings.total,
        "total_relation": found.findings.relation,
        "truncated": found.truncated,
        "suggestion": found.findings.suggestion,
        "hints": list(found.hints) or None,
    }


def head(found: Asked) -> str:
    """First things first: how many there are, what was perhaps meant, what to know, how to go on."""
    first, here, total = found.findings.passed + 1, len(found.findings.hits), found.findings.total
    place = f"Results {first} to {first + here - 1} of {total}" if here else "No results"
    told = [f'{place} for "{shown(found.query)}"{"; more were not shown" if found.truncated else ""}.']
    told += [f'Did you mean "{found.findings.suggestion}"?'] if found.findings.suggestion else []
    told += found.hints
    return "\n".join([*told, f"More: cursor `{found.cursor}`."] if found.cursor else told)


def passage(call: Call, hit: Hit) -> FoundPassage:
    duplicates = list(hit.duplicates) or None
    return FoundPassage(**_facts(call, hit), heading=hit.heading, rerank_score=hit.rerank_score, duplicates=duplicates)


def document(call: Call, hit: Hit, excerpt: Excerpt | None) -> FoundDocument:
    facts = _facts(call, hit)
    if excerpt is None:
        return FoundDocument(**facts)
    if excerpt.complete:
        # The passage that was found stands in the whole text.
        facts["snippet"] = None
    return FoundDocument(**facts, content=excerpt.piece.text, next_cursor=excerpt.cursor)


def passage_told(number: int, one: FoundPassage) -> str:
    heading = one.heading if one.heading != one.title else None
    lines = [*_lines(number, one, heading)]
    lines += [f"Nearly the same text: {', '.join(one.duplicates)}"] if one.duplicates else []
    return "\n".join(lines)


def document_told(number: int, one: FoundDocument, excerpt: Excerpt | None) -> str:
    lines = _lines(number, one)
    if excerpt is None:
        return "\n".join(lines)
    cut = f"; get_document goes on with cursor `{excerpt.cursor}`" if excerpt.cursor else ""
    return "\n".join([*lines, "", f"--- {excerpt.place}{cut} ---", excerpt.piece.text.strip(), "--- end ---"])


def _lines(number: int, one: _Result, heading: str | None = None) -> list[str]:
    place = f"`{one.content_type}/{one.id}`" + (f", {one.date}" if one.date else "")
    about = f"About <{one.link}>" if one.link else None
    told = (f"{number}. **{one.title}** ({place})", heading, one.snippet, f"<{one.url}>", about)
    return [line for line in told if line]


def _facts(call: Call, hit: Hit) -> dict[str, Any]:
    return {
        "content_type": hit.content_type,
        "id": hit.id,
        "title": hit.title,
        "snippet": hit.snippet,
        "score": hit.score,
        "date": hit.date,
        "url": citation(call, reference(hit.content_type, hit.id), hit.source_url),
        "link": hit.url,
    }
