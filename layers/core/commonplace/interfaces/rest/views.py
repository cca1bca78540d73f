"""Documents of the catalogue as they appear in answers."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from commonplace.content.document import Summary
from commonplace.content.graph import BrokenLink
from commonplace.content.manifest import Attachment, Entry
from commonplace.interfaces.rest.pages import API, encode

SUMMARY_FIELDS = set(Summary.model_fields)

Json = dict[str, Any]


def entry_url(entry: Entry) -> str:
    return f"{API}/entries/{quote(entry.content_type)}/{quote(entry.id)}"


def summary(entry: Entry) -> bytes:
    """A list's item, encoded."""
    return entry.model_dump_json(by_alias=True, include=SUMMARY_FIELDS).encode()


def pointer(entry: Entry) -> Json:
    return {
        "id": entry.id,
        "contentType": entry.content_type,
        "title": entry.title,
        "description": entry.description,
        "path": entry.path,
    }


def broken_link(link: BrokenLink) -> Json:
    return {"target": link.target, "line": link.line, "suggestion": link.suggestion}


def manifest_document(entry: Entry) -> bytes:
    return encode(
        {
            "ref": entry.ref,
            "id": entry.id,
            "contentType": entry.content_type,
            "path": entry.path,
            "key": entry.key,
            "etag": entry.etag,
            "blobSha": entry.blob_sha,
            "updatedAt": moment(entry.updated_at),
            "url": entry_url(entry),
        }
    )


def manifest_attachment(attachment: Attachment) -> bytes:
    return encode(
        {
            "name": attachment.name,
            "path": attachment.path,
            "mediaType": attachment.media_type,
            "size": attachment.size,
            "blobSha": attachment.blob_sha,
            "url": f"{API}/attachments/{quote(attachment.name)}?v={attachment.blob_sha}",
        }
    )


def moment(value: datetime | None) -> str | None:
    """RFC 3339 in UTC."""
    if value is None:
        return None
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def markdown(entry: Entry, content: str) -> bytes:
    """The body after a minimal frontmatter. Values are JSON strings, which YAML reads as the same strings."""
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
        "source": entry.source_url,
    }
    lines = [b"%b: %b\n" % (name.encode(), encode(value)) for name, value in told.items() if value is not None]
    return b"---\n" + b"".join(lines) + b"---\n" + content.encode("utf-8", "backslashreplace")
