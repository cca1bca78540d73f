"""What is new as an Atom feed (RFC 4287), and the sitemap for crawlers."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.documents.content.document_index import Selection
from commonplace.documents.content.library import Edition
from commonplace.documents.pages.services import HERE, Services, Window, page_number
from commonplace.documents.views import moment
from commonplace.kernel.errors import NotFound
from commonplace.web.representations import Page

ATOM = "application/atom+xml; charset=utf-8"
XML = "application/xml; charset=utf-8"
LATEST = 30

_IMPOSSIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # Characters that XML has no way to write
PER_SITEMAP = 20_000
"""Addresses of one sitemap: at most 50,000 (sitemaps.org), and less than an answer may hold."""


def routes(services: Services) -> list[Route]:
    async def get_feed(request: Request) -> Response:
        def build(edition: Edition) -> Page:
            manifest = edition.manifest
            entries = edition.catalogue.select(Selection(), "-updated")[:LATEST]
            told = [
                {
                    "entry": entry,
                    "id": _urn(f"{manifest.repository}/{entry.ref}"),
                    "url": services.addresses.of(entry),
                    "updated": moment(entry.updated_at or manifest.synced_at),
                }
                for entry in entries
            ]
            updated: list[datetime] = [entry.updated_at for entry in entries if entry.updated_at]
            return _xml(
                services,
                request,
                "feed.xml",
                ATOM,
                entries=told,
                id=_urn(manifest.repository or services.frame.name),
                base=services.frame.base_url,
                updated=moment(max(updated, default=manifest.synced_at)),
            )

        return services.kept(request, ("feed",), build)

    async def get_sitemap(request: Request) -> Response:
        number = page_number(request.query_params) if "page" in request.query_params else 0

        def build(edition: Edition) -> Page:
            # Page 0 is the whole where it fits, else the list of pages.
            base = services.frame.base_url
            if not base:
                raise NotFound("This site does not know its own address.", hint="Set BASE_URL.")
            # A sitemap names addresses of its own host alone: none of documents that are read elsewhere.
            listed = edition.catalogue.select(Selection(), "path")
            entries = [entry for entry in listed if services.addresses.of(entry) == base + HERE.of(entry)]
            window = Window(max(number, 1), len(entries), PER_SITEMAP)
            window.check()
            several = window.last > 1 and number == 0
            return _xml(
                services,
                request,
                "sitemap.xml",
                XML,
                maps=[f"{base}/sitemap.xml?page={one}" for one in range(1, window.last + 1)] if several else [],
                pages=[f"{base}{path}" for path in ("/", "/types", "/groups", "/t")] if window.number == 1 else [],
                entries=[
                    (base + HERE.of(entry), moment(entry.updated_at)) for entry in entries[window.start : window.end]
                ],
            )

        return services.kept(request, ("sitemap", str(number)), build)

    return [Route("/feed.xml", get_feed), Route("/sitemap.xml", get_sitemap)]


def _urn(name: str) -> str:
    """Lasting, whatever host the site answers under (RFC 4287, section 4.2.6)."""
    return f"urn:uuid:{uuid5(NAMESPACE_URL, name)}"


def _xml(services: Services, request: Request, template: str, media_type: str, **values: Any) -> Page:
    text = services.frame.render(request, template, **values).decode()
    return Page.of(_IMPOSSIBLE.sub("", text).encode(), media_type)
