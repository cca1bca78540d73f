"""Search by words and meaning, with passages or with whole documents."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pydantic import Field

from commonplace.documents.content.document import reference
from commonplace.documents.tools import found, paging
from commonplace.documents.tools.asking import Asked, ask
from commonplace.documents.tools.citing import link
from commonplace.documents.tools.search import Narrowing
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.web.mcp.budgets import DEFAULT_TOKENS, MAX_TOKENS
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Link, Tool

KNOWLEDGE = "search_knowledge"
DOCUMENTS = "search_with_documents"

LEAST_EXCERPT = 60
"""Tokens, told twice, below which a beginning of a document says nothing."""

NOT_ALL = "Not every text is here: get_document has them; a larger maxTokens or a smaller limit makes room."


class SearchArguments(Arguments):
    query: str = Field(description="A question, or the words or title to look for")
    filters: Narrowing | None = None
    cursor: str | None = Field(None, description="nextCursor of the page before")


class DocumentsArguments(Arguments):
    query: str
    filters: Narrowing | None = None
    max_tokens: int = Field(DEFAULT_TOKENS, ge=paging.LEAST_TOKENS, le=MAX_TOKENS)


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name=KNOWLEDGE,
            title="Search the knowledge base",
            description="Finds documents by words and meaning. Returns the best passages with ids and citation URLs, "
            "not whole documents.",
            arguments=SearchArguments,
            output=found.Passages,
            run=partial(search_knowledge, using),
            cost="search",
        ),
        Tool(
            name=DOCUMENTS,
            title="Search with documents",
            description="Finds documents like search_knowledge, and gives their text as far as maxTokens reach; "
            "get_document continues it.",
            arguments=DocumentsArguments,
            output=found.Documents,
            run=partial(search_with_documents, using),
            tier=using.full_text_tier,
            cost="search",
        ),
    )


def search_knowledge(using: KnowledgeServices, call: Call, asked: SearchArguments) -> Answer:
    came = ask(using, asked.query, asked.filters, tool=KNOWLEDGE, cursor=asked.cursor)
    passages = [found.passage(call, hit) for hit in came.findings.hits]
    told = [found.passage_told(came.findings.passed + at, one) for at, one in enumerate(passages, 1)]
    data = found.Passages(**found.whole(came), next_cursor=came.cursor, results=passages)
    return Answer("\n\n".join([found.head(came), *told]), data, _links(using, came))


def search_with_documents(using: KnowledgeServices, call: Call, asked: DocumentsArguments) -> Answer:
    came = ask(using, asked.query, asked.filters, tool=DOCUMENTS, documents=True)
    # Its handle would continue a ranking of passages, and this tool has no use for it.
    came = replace(came, cursor=None)
    hits = came.findings.hits
    bare = _with_documents(using, call, came, [None] * len(hits))
    room = paging.budget(asked.max_tokens) - paging.cost(bare) - paging.MARGIN * (1 + len(hits))
    return _with_documents(using, call, came, _excerpts(came, room))


def _excerpts(came: Asked, room: int) -> list[paging.Excerpt | None]:
    """As much of each document as its share of the room holds; what a short one leaves goes to the long ones."""
    bodies = [hit.document.content if hit.document else None for hit in came.findings.hits]
    needs = [paging.twice(body) if body else 0 for body in bodies]
    entries = [came.known[reference(hit.content_type, hit.id)] for hit in came.findings.hits]
    return [
        paging.excerpt(entry, body, 0, given) if body is not None and given >= min(need, LEAST_EXCERPT) else None
        for entry, body, need, given in zip(entries, bodies, needs, paging.shares(needs, room), strict=True)
    ]


def _with_documents(
    using: KnowledgeServices, call: Call, came: Asked, excerpts: Sequence[paging.Excerpt | None]
) -> Answer:
    if None in excerpts:
        came = replace(came, hints=(*came.hints, NOT_ALL))
    pairs = list(zip(came.findings.hits, excerpts, strict=True))
    documents = [found.document(call, hit, excerpt) for hit, excerpt in pairs]
    told = [found.document_told(at, one, pairs[at - 1][1]) for at, one in enumerate(documents, 1)]
    data = found.Documents(**found.whole(came), results=documents)
    return Answer("\n\n".join([found.head(came), *told]), data, _links(using, came))


def _links(using: KnowledgeServices, came: Asked) -> tuple[Link, ...]:
    return tuple(link(using, reference(hit.content_type, hit.id), hit.title) for hit in came.findings.hits)
