"""Documents, groups, releases and passages as every interface shows them."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from typing import Any

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Entry
from commonplace.documents.content.facets import Facet

Json = dict[str, Any]


def pointer(entry: Entry, addresses: DocumentAddresses) -> Json:
    """Return a document, shortly."""
    return {
        "documentUrl": addresses.of(entry),
        "id": entry.id,
        "contentType": entry.content_type,
        "title": entry.title,
        "description": entry.description,
        "path": entry.path,
    }


def group(facet: Facet, addresses: DocumentAddresses) -> Json:
    page = facet.page
    return {
        "id": facet.name,
        "title": page.title if page else facet.name,
        "description": page.description if page else None,
        "status": page.status if page else None,
        "count": facet.count,
        "page": pointer(page, addresses) if page else None,
    }


def release(facet: Facet, addresses: DocumentAddresses) -> Json:
    return {name: value for name, value in group(facet, addresses).items() if name != "status"}


def tag(facet: Facet, addresses: DocumentAddresses) -> Json:
    return {"tag": facet.name, "count": facet.count, "entry": pointer(facet.page, addresses) if facet.page else None}


def in_utc(value: datetime | None) -> datetime | None:
    return value.astimezone(UTC) if value else None


def moment(value: datetime | None) -> str | None:
    """RFC 3339 in UTC."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if value else None


def markdown(entry: Entry, document_url: str, content: str) -> bytes:
    """Return the body after a minimal frontmatter. Values are JSON strings, which YAML reads as the same strings.

    Lone surrogates, which UTF-8 cannot carry, are escaped.
    """
    told = {
        "title": entry.title,
        "type": entry.content_type,
        "id": entry.id,
        "description": entry.description,
        "date": entry.date,
        "group": entry.group,
        "release": entry.release,
        "tags": entry.tags or None,
        "url": entry.url,
        "documentUrl": document_url,
        "source": entry.source_url,
    }
    lines = [
        f"{name}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n"
        for name, value in told.items()
        if value is not None
    ]
    return f"---\n{''.join(lines)}---\n{content}".encode("utf-8", "backslashreplace")


def highlighted(snippet: str, marks: Iterable[tuple[int, int]]) -> str:
    """Return the snippet for a web page. `marks` are spans in characters; those that overlap or touch become one."""
    # Spans inside the text, in order and apart: an engine that errs costs a mark, never a broken page.
    spans: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(end, len(snippet))) for start, end in marks):
        if start < end and spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        elif start < end:
            spans.append((start, end))
    html, place = "", 0
    for start, end in spans:
        html += f"{escape(snippet[place:start])}<mark>{escape(snippet[start:end])}</mark>"
        place = end
    return html + escape(snippet[place:])
