"""`search` and `fetch` in the shape that connectors of ChatGPT expect, over the same search and the same documents."""

from functools import partial

from pydantic import Field

from commonplace.documents.content.document import Entry, reference
from commonplace.documents.tools import pagination
from commonplace.documents.tools.documents import SAME, page, read
from commonplace.documents.tools.search import FilterArguments, ask
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Output, Part, Tool
from commonplace.web.mcp.rendering import compact

RESULTS = 10

PAGE = "#"
"""Between an id and the number of a page; no id contains it."""


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
    page: int | None = None
    pages: int | None = None
    next: str | None = Field(None, description="An id to fetch")


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
            description="Finds documents: ids, titles, URLs. For connectors that need this shape.",
            arguments=Query,
            output=Results,
            run=partial(search, using),
            cost="search",
            verbatim=True,
        ),
        Tool(
            name="fetch",
            title="Fetch",
            description="The text of a document found by search, a page at a time: `id#2` is the second.",
            arguments=DocumentId,
            output=Fetched,
            run=partial(fetch, using),
            tier=using.full_text_tier,
            page=lambda asked: page(using, None, _parts(asked.id)[0]),
            verbatim=True,
        ),
    )


def search(using: KnowledgeServices, _: Call, asked: Query) -> Answer:
    found = ask(using, asked.query, FilterArguments(limit=RESULTS), tool="search")
    results = []
    # Their shape has no place for a grade, nor for the sentence that nothing fits.
    for hit in found.findings.hits if found.findings.hint is None else ():
        ref = reference(hit.content_type, hit.id)
        results.append(Result(id=ref, title=hit.title, url=using.addresses.of(hit)))
    return _verbatim(Results(results=results))


def fetch(using: KnowledgeServices, _: Call, asked: DocumentId) -> Answer:
    """A page of a document of several says in its text, which is all that some clients show, what fetches the next."""
    name, number = _parts(asked.id)
    resolved, body = read(using, None, name)
    # Everything but the body, with what can be said of a page at most.
    room = pagination.Room.beside(
        _page(using, resolved.entry, "", 9_999, 10_000), pagination.budget(using.document_tokens)
    )
    starts = pagination.page_starts(body, room)
    start = pagination.page_start(body, number, room)
    text = body[start : starts[number]] if number < len(starts) else body[start:]
    return _page(using, resolved.entry, text, number, len(starts))


def _page(using: KnowledgeServices, entry: Entry, text: str, number: int, pages: int) -> Answer:
    onward = f"{entry.ref}{PAGE}{number + 1}" if number < pages else None
    if pages > 1:
        go_on = f'the next is fetched with id "{onward}"' if onward else "the last"
        text = f"[Page {number} of {pages}; {go_on}]\n\n{text}\n\n[End of page {number} of {pages}; {go_on}]"
    metadata = Metadata(
        **{name: getattr(entry, name) for name in SAME if name in Metadata.model_fields},
        tags=entry.tags or None,
        link=entry.url,
        truncated=onward is not None,
        page=number if pages > 1 else None,
        pages=pages if pages > 1 else None,
        next=onward,
    )
    url = using.addresses.of(entry)
    return _verbatim(Fetched(id=entry.ref, title=entry.title, text=text, url=url, metadata=metadata))


def _parts(text: str) -> tuple[str, int]:
    """Return the id, and the number of the page."""
    name, mark, number = text.strip().rpartition(PAGE)
    if mark and number.isascii() and number.isdigit():
        return name, int(number)
    return text.strip().removesuffix(PAGE), 1


def _verbatim(data: Output) -> Answer:
    return Answer(compact(data.model_dump(mode="json", by_alias=True, exclude_none=True)), data)
