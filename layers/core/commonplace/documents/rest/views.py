"""Documents of the catalogue as they appear in answers."""

from typing import Any
from urllib.parse import quote

from commonplace.documents.content.document import Attachment, Entry, Summary
from commonplace.documents.content.graph import BrokenLink
from commonplace.documents.views import moment
from commonplace.web.rest.pages import API, encode

SUMMARY_FIELDS = set(Summary.model_fields)

Json = dict[str, Any]


def entry_url(entry: Entry) -> str:
    return f"{API}/entries/{quote(entry.content_type)}/{quote(entry.id)}"


def summary(entry: Entry) -> bytes:
    """A list's item, encoded."""
    return entry.model_dump_json(by_alias=True, include=SUMMARY_FIELDS).encode()


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
