"""The endpoint of the latest changes, a JSON Feed 1.1."""

import json
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from commonplace.documents.content.document import Entry
from commonplace.documents.content.document_index import Selection
from commonplace.documents.content.filter_values import unknown
from commonplace.documents.rest import models
from commonplace.documents.rest.examples import EXAMPLES, answers
from commonplace.documents.rest.parameters import Feed
from commonplace.documents.rest.services import Services, services
from commonplace.documents.views import moment
from commonplace.kernel.objects import StoredObject
from commonplace.repository.comments import visible
from commonplace.web.representations import API, Page, fitting
from commonplace.web.rest.models import json_bytes

router = APIRouter(tags=["For machines"])

FEED_JSON = "application/feed+json"
FEED_VERSION = "https://jsonfeed.org/version/1.1"

MAX_TEXT_CHARACTERS = 500_000
"""Of one body: even if each has to be escaped, one item does not fill an answer."""


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
