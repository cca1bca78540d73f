"""Search by words and meaning, with passages or with whole documents."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from pydantic import Field

from commonplace.content.document import reference
from commonplace.interfaces.mcp.budgets import DEFAULT_TOKENS, MAX_TOKENS, shortened
from commonplace.interfaces.mcp.declaring import Answer, Arguments, Call, Link, Output, Part, Tool
from commonplace.interfaces.mcp.knowledge import paging
from commonplace.interfaces.mcp.knowledge.asking import Asked, ask
from commonplace.interfaces.mcp.knowledge.citing import citation, link
from commonplace.interfaces.mcp.knowledge.narrowing import Narrowing
from commonplace.interfaces.mcp.knowledge.services import KnowledgeServices
from commonplace.search.model import Hit

KNOWLEDGE = "search_knowledge"
DOCUMENTS = "search_with_documents"

QUERY_CHARACTERS = 100
"""Of the query that an answer repeats."""


class SearchArguments(Arguments):
    query: str = Field(description="A question, or the words or title to look for")
    filters: Narrowing | None = None
    cursor: str | None = Field(None, description="nextCursor of the page before, with the same query and filters")


class DocumentsArguments(Arguments):
    query: str
    filters: Narrowing | None = None
    max_tokens: int = Field(DEFAULT_TOKENS, ge=paging.LEAST_TOKENS, le=MAX_TOKENS)


class _Result(Part):
    content_type: str
    id: str
    title: str
    snippet: str | None = None
    score: float
    date: str | None = None
    url: str = Field(description="To cite")
    link: str | None = Field(None, description="What it is about")
    duplicates: list[str] | None = None


class FoundPassage(_Result):
    heading: str | None = None
    rerank_score: float | None = None


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


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name=KNOWLEDGE,
            title="Search the knowledge base",
            description="Finds documents by words and meaning. Returns the best passages with ids and citation URLs, "
            "not whole documents.",
            arguments=SearchArguments,
            output=Passages,
            run=partial(search_knowledge, using),
            cost="search",
        ),
        Tool(
            name=DOCUMENTS,
            title="Search with documents",
            description="The same search, with the text of each document as far as maxTokens reach. get_document "
            "continues a cut one.",
            arguments=DocumentsArguments,
            output=Documents,
            run=partial(search_with_documents, using),
            tier=using.full_text_tier,
            cost="search",
        ),
    )


def search_knowledge(using: KnowledgeServices, call: Call, asked: SearchArguments) -> Answer:
    found = ask(using, asked.query, asked.filters, tool=KNOWLEDGE, cursor=asked.cursor)
    hits = found.findings.hits
    passages = [FoundPassage(**_facts(call, hit), heading=hit.heading, rerank_score=hit.rerank_score) for hit in hits]
    head = _head(asked.query, found)
    if found.cursor:
        head.append(f"More: cursor `{found.cursor}`.")
    told = ["\n".join(head), *(_passage(found.start + at, one) for at, one in enumerate(passages, 1))]
    data = Passages(**_whole(found), next_cursor=found.cursor, results=passages)
    return Answer("\n\n".join(told), data, _links(using, hits))


def search_with_documents(using: KnowledgeServices, call: Call, asked: DocumentsArguments) -> Answer:
    found = ask(using, asked.query, asked.filters, tool=DOCUMENTS, documents=True)
    hits = found.findings.hits
    bare = _with_documents(using, call, asked.query, found, [None] * len(hits))
    room = paging.budget(asked.max_tokens) - paging.cost(bare) - paging.MARGIN * len(hits)
    return _with_documents(using, call, asked.query, found, _excerpts(found, room))


def _excerpts(found: Asked, room: int) -> list[paging.Excerpt | None]:
    """As much of each document as its share of the room holds; what a short one leaves goes to the long ones."""
    bodies = [hit.document.content if hit.document else None for hit in found.findings.hits]
    given = paging.shares([paging.twice(body) if body else 0 for body in bodies], room)
    entries = [found.known[reference(hit.content_type, hit.id)] for hit in found.findings.hits]
    return [
        paging.excerpt(entry, body, 0, tokens) if body is not None else None
        for entry, body, tokens in zip(entries, bodies, given, strict=True)
    ]


def _with_documents(
    using: KnowledgeServices, call: Call, query: str, found: Asked, excerpts: Sequence[paging.Excerpt | None]
) -> Answer:
    told, documents = ["\n".join(_head(query, found))], []
    for at, (hit, excerpt) in enumerate(zip(found.findings.hits, excerpts, strict=True), 1):
        document = FoundDocument(**_facts(call, hit) | _content(excerpt))
        told += [_passage(at, document), *([_document(excerpt)] if excerpt else [])]
        documents.append(document)
    data = Documents(**_whole(found), results=documents)
    return Answer("\n\n".join(told), data, _links(using, found.findings.hits))


def _content(excerpt: paging.Excerpt | None) -> dict[str, Any]:
    if excerpt is None:
        return {}
    told = {"content": excerpt.piece.text, "next_cursor": excerpt.cursor}
    # The passage that was found stands in the whole text.
    return told if excerpt.cursor else told | {"snippet": None}


def _document(excerpt: paging.Excerpt) -> str:
    cut = f"; get_document goes on with cursor `{excerpt.cursor}`" if excerpt.cursor else ""
    return f"--- {excerpt.place}{cut} ---\n{excerpt.piece.text.strip()}\n--- end ---"


def _head(query: str, found: Asked) -> list[str]:
    """First things first: how many there are, what was perhaps meant, and what to know."""
    shown, total = len(found.findings.hits), found.findings.total
    asked = shortened(" ".join(query.split()), QUERY_CHARACTERS)
    place = f"Results {found.start + 1} to {found.start + shown} of {total}" if shown else "No results"
    told = [f'{place} for "{asked}"{"; more were not shown" if found.truncated else ""}.']
    if found.findings.suggestion:
        told.append(f'Did you mean "{found.findings.suggestion}"?')
    return [*told, *found.hints]


def _whole(found: Asked) -> dict[str, Any]:
    return {
        "total": found.findings.total,
        "total_relation": found.findings.relation,
        "truncated": found.truncated,
        "suggestion": found.findings.suggestion,
        "hints": list(found.hints) or None,
    }


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
        "duplicates": list(hit.duplicates) or None,
    }


def _passage(number: int, one: _Result) -> str:
    """A result, for a reader."""
    place = f"`{one.content_type}/{one.id}`" + (f", {one.date}" if one.date else "")
    heading = one.heading if isinstance(one, FoundPassage) and one.heading != one.title else None
    lines = [f"{number}. **{one.title}** ({place})", heading, one.snippet, f"<{one.url}>"]
    if one.link:
        lines.append(f"About <{one.link}>")
    if one.duplicates:
        lines.append(f"Nearly the same text: {', '.join(one.duplicates)}")
    return "\n".join(line for line in lines if line)


def _links(using: KnowledgeServices, hits: Sequence[Hit]) -> tuple[Link, ...]:
    return tuple(link(using, reference(hit.content_type, hit.id), hit.title) for hit in hits)
