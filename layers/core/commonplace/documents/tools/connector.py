"""`search` and `fetch` in the shape that connectors of ChatGPT expect, over the same search and the same documents."""

from functools import partial

from pydantic import Field

from commonplace.documents.content.document import reference
from commonplace.documents.tools import pagination
from commonplace.documents.tools.documents import read
from commonplace.documents.tools.search import FilterArguments, ask
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Output, Part, Tool
from commonplace.web.mcp.rendering import compact

RESULTS = 10

CONTINUED = "#"
"""Between an id and the handle that continues it; no id contains it."""


class Query(Arguments):
    query: str


class Result(Part):
    id: str
    title: str
    url: str


class Results(Output):
    results: list[Result]


class DocumentId(Arguments):
    id: str = Field(description="Of a result of search")


class Metadata(Part):
    content_type: str
    date: str | None = None
    group: str | None = None
    release: str | None = None
    status: str | None = None
    tags: list[str] | None = None
    link: str | None = None
    source_url: str | None = None
    truncated: bool
    next: str | None = Field(None, description="An id that fetch goes on with")


class Fetched(Output):
    id: str
    title: str
    text: str
    url: str
    metadata: Metadata


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="search",
            title="Search",
            description="Finds documents; returns ids, titles and URLs. For connectors that need this shape.",
            arguments=Query,
            output=Results,
            run=partial(search, using),
            cost="search",
            verbatim=True,
        ),
        Tool(
            name="fetch",
            title="Fetch",
            description="The text of a document found by search.",
            arguments=DocumentId,
            output=Fetched,
            run=partial(fetch, using),
            tier=using.full_text_tier,
            verbatim=True,
        ),
    )


def search(using: KnowledgeServices, _: Call, asked: Query) -> Answer:
    found = ask(using, asked.query, FilterArguments(limit=RESULTS), tool="search")
    results = []
    for hit in found.findings.hits:
        ref = reference(hit.content_type, hit.id)
        results.append(Result(id=ref, title=hit.title, url=using.addresses.of(hit)))
    return _verbatim(Results(results=results))


def fetch(using: KnowledgeServices, _: Call, asked: DocumentId) -> Answer:
    """A cut document names in `metadata.next` the id that fetches on."""
    name, handle = _parts(asked.id)
    resolved, body = read(using, None, name)
    entry = resolved.entry
    start = pagination.position(entry, handle)
    told = {
        "content_type": entry.content_type,
        "date": entry.date,
        "group": entry.group,
        "release": entry.release,
        "status": entry.status,
        "tags": entry.tags or None,
        "link": entry.url,
        "source_url": entry.source_url,
    }

    def answer(excerpt: pagination.Excerpt | None) -> Answer:
        cursor = excerpt.cursor if excerpt else None
        onward = {"truncated": cursor is not None, "next": f"{entry.ref}{CONTINUED}{cursor}" if cursor else None}
        return _verbatim(
            Fetched(
                id=entry.ref,
                title=entry.title,
                text=excerpt.piece.text if excerpt else "",
                url=using.addresses.of(entry),
                metadata=Metadata.model_validate(told | onward),
            )
        )

    room = pagination.budget(None) - pagination.cost(answer(None)) - pagination.MARGIN
    most, weigh = pagination.PAGE_CHARACTERS, pagination.twice_as_data
    return answer(pagination.excerpt(entry, body, start, room, max_characters=most, weigh=weigh))


def _parts(text: str) -> tuple[str, str | None]:
    """The id, and the handle of one that fetches on."""
    name, mark, handle = text.strip().rpartition(CONTINUED)
    return (name, handle) if mark and "/" in name else (text, None)


def _verbatim(data: Output) -> Answer:
    return Answer(compact(data.model_dump(mode="json", by_alias=True, exclude_none=True)), data)
