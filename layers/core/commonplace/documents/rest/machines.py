"""Endpoints for machines: the latest changes as JSON Feed 1.1, and the library as text for language models."""

import json
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from commonplace.documents.content.document import SHOWS_EVERYTHING, Entry
from commonplace.documents.content.document_index import Selection
from commonplace.documents.content.filter_values import unknown
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.rest import models
from commonplace.documents.rest.examples import EXAMPLES, answers
from commonplace.documents.rest.models import entry_url
from commonplace.documents.rest.parameters import Feed
from commonplace.documents.rest.services import Services, services
from commonplace.documents.views import moment
from commonplace.kernel.objects import StoredObject
from commonplace.repository.comments import visible
from commonplace.web.representations import API, PAGE_BYTES, Page, fitting
from commonplace.web.rest.documentation import STRING
from commonplace.web.rest.models import json_bytes

router = APIRouter(tags=["For machines"])

TEXT = "text/plain; charset=utf-8"
MAP_HEAD = """\
# {name}

> {count} published documents, each with the page to cite and its Markdown. Search them at {api}/search?q=…

## Interface

- [MCP]({host}/connect): tools for agents at {host}/mcp, and how to connect a client
- [API description]({api}/openapi.json): OpenAPI 3.1
- [Everything in one file]({api}/llms-full.txt)
- [What changed last]({api}/feed.json): JSON Feed
- [Manifest]({api}/manifest): every document with its path and hash
"""
HEADING_BYTES = 400  # About what a document's title, address and rule add to its text in `llms-full.txt`


@router.get(
    "/llms.txt",
    operation_id="getLlmsText",
    summary="Get the map for language models",
    response_class=Response,
    responses=answers(
        EXAMPLES["llms"],
        description="Markdown: what there is, each with a sentence and a link.",
        media_type="text/plain",
        schema=STRING,
    ),
)
async def get_llms_text(request: Request) -> Response:
    """Every document by type, linked to its page and to its Markdown, in the form of llmstxt.org."""
    using = services(request)
    edition = using.library.edition()

    def build() -> Page:
        entries, host = edition.catalogue.entries, using.site.base_url
        lines = list(_map_lines(entries, using))
        shown = fitting(lines, len)
        left_out = sum(line.startswith(b"- [") for line in lines[len(shown) :])
        head = MAP_HEAD.format(name=using.site.name, count=len(entries), host=host, api=f"{host}{API}")
        head += f"\n{SHOWS_EVERYTHING}\n" if edition.manifest.everything else ""
        notice = _notice(left_out, f"{host}{API}/entries") if left_out else b""
        return Page.of(head.encode() + b"".join(shown) + notice, TEXT)

    return using.pages.page(edition.etag, ("llms",), build).answer(request)


@router.get(
    "/llms-full.txt",
    operation_id="getLlmsFullText",
    summary="Get everything as text",
    response_class=Response,
    responses=answers(
        EXAMPLES["llms_full"],
        description="Every document's Markdown, index pages first; cut with a notice at 4 MB.",
        media_type="text/plain",
        schema=STRING,
    ),
)
async def get_llms_full_text(request: Request) -> Response:
    """The whole library in one file. Bodies are as authored, but for their comments."""
    using = services(request)
    edition = using.library.edition()

    def build() -> Page:
        entries = sorted(edition.catalogue.entries, key=lambda entry: _type_order(entry.content_type))
        # No more are read than are shown: as many leading documents as fit.
        spent = accumulate(entry.size + HEADING_BYTES for entry in entries)
        chosen = [entry for entry, size in zip(entries, spent, strict=True) if size <= PAGE_BYTES]
        stored = using.library.documents(chosen)

        def texts_of() -> Iterator[bytes]:
            for entry, found in zip(chosen, stored, strict=True):
                if found:
                    content = visible(json.loads(found.body)["content"])
                    source = f"Source: {using.addresses.of(entry)}"
                    text = f"\n---\n\n# {_one_line(entry.title)}\n\n{source}\n\n{content}\n"
                    yield text.encode("utf-8", "backslashreplace")

        texts = fitting(texts_of(), len)
        head = f"# {using.site.name}\n\n> {len(entries)} published documents, as Markdown.\n".encode()
        left_out = len(entries) - len(texts)
        notice = _notice(left_out, f"{using.site.base_url}{API}/llms.txt") if left_out else b""
        return Page.of(head + b"".join(texts) + notice, TEXT)

    return using.pages.page(edition.etag, ("llms-full",), build).answer(request)


def _map_lines(entries: Iterable[Entry], using: Services) -> Iterator[bytes]:
    by_type: dict[str, list[Entry]] = {}
    for entry in entries:
        by_type.setdefault(entry.content_type, []).append(entry)
    for content_type in sorted(by_type, key=_type_order):
        yield f"\n## {content_type.capitalize()}\n\n".encode()
        for entry in by_type[content_type]:
            told = f": {_one_line(entry.description)}" if entry.description else ""
            title = _one_line(entry.title).replace("[", "\\[").replace("]", "\\]")
            text = f"{using.site.base_url}{entry_url(entry)}.md"
            yield f"- [{title}]({using.addresses.of(entry)}){told} ([Markdown]({text}))\n".encode()


def _notice(left_out: int, where: str) -> bytes:
    return (
        f"\n---\n\n{left_out} more documents are left out here to keep this file small. Find them at {where}\n".encode()
    )


def _type_order(content_type: str) -> tuple[bool, int]:
    """Index pages first, for they introduce the rest; then the ontology's order."""
    names = list(ONTOLOGY.types)
    return content_type != "index", names.index(content_type) if content_type in names else len(names)


def _one_line(text: str) -> str:
    return " ".join(text.split())


FEED_JSON = "application/feed+json"
FEED_VERSION = "https://jsonfeed.org/version/1.1"

MAX_TEXT_CHARACTERS = 500_000  # Of one body: even if each has to be escaped, one item does not fill an answer


class FeedResponse(JSONResponse):
    media_type = FEED_JSON


@router.get(
    "/feed.json",
    operation_id="getFeed",
    summary="Follow what changes",
    response_class=FeedResponse,
    response_model=models.JsonFeed,
    responses=answers(
        EXAMPLES["feed"],
        422,
        description="Documents by when their file last changed, newest first.",
        media_type=FEED_JSON,
    ),
)
async def get_feed(request: Request, asked: Annotated[Feed, Query()]) -> Response:
    """For feed readers and web sites. `content_text` is Markdown as authored, but for its comments."""
    using = services(request)
    edition = using.library.edition()
    key = ("feed", asked.query())

    def build() -> Page:
        host = using.site.base_url
        wanted = asked.filters(edition.catalogue)
        latest = edition.catalogue.select(Selection(wanted), "-updated")
        shown = latest[asked.offset : asked.offset + asked.limit]
        stored = using.library.documents(shown)
        items = (_item(using, entry, found) if found else None for entry, found in zip(shown, stored, strict=True))
        taken = fitting(items, lambda item: json_bytes(item) if item else 0)
        told = models.JsonFeed(
            version=FEED_VERSION,
            title=using.site.name,
            home_page_url=f"{host}/",
            feed_url=_address(host, asked),
            description=f"What changed last in {using.site.name}.",
            items=[item for item in taken if item],
        )
        if hints := unknown(edition.catalogue, wanted):
            told.commonplace = models.FeedNotes(hints=hints)
        following = asked.offset + len(taken)
        if following < len(latest):
            told.next_url = _address(host, asked.model_copy(update={"offset": following}))
        return Page.of(told.to_json(), FEED_JSON)

    return using.pages.page(edition.etag, key, build).answer(request)


def _address(host: str, asked: Feed) -> str:
    query = asked.query()
    return f"{host}{API}/feed.json" + (f"?{query}" if query else "")


def _item(using: Services, entry: Entry, stored: StoredObject) -> models.FeedItem:
    document = json.loads(stored.body)
    address = f"{using.site.base_url}{models.entry_url(entry)}"
    text = visible(document["content"])
    if len(text) > MAX_TEXT_CHARACTERS:
        text = f"{text[:MAX_TEXT_CHARACTERS]}\n\n(This text is cut here. The whole of it: {address}.md)\n"
    item = {
        "id": address,
        "url": using.addresses.of(entry),
        "external_url": entry.url,
        "title": entry.title,
        "summary": entry.description,
        "content_text": text,
        "date_published": f"{entry.date}T00:00:00Z" if entry.date and len(entry.date) == 10 else None,
        "date_modified": moment(entry.updated_at),
        "authors": [{"name": name} for name in entry.author] or None,
        "tags": entry.tags or None,
    }
    return models.FeedItem.model_validate({name: value for name, value in item.items() if value is not None})
