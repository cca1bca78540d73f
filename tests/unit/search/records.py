"""Documents and records for the tests of search, and the messages S3 sends of them."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote_plus

from commonplace.documents.content.document import MANIFEST_KEY, Document, Entry, Manifest
from commonplace.documents.content.keys import content_key
from commonplace.documents.index_source import record_from_document
from commonplace.kernel.objects import ObjectStore
from commonplace.repository.blobs import BlobSha
from commonplace.search.embeddings import embed_records
from commonplace.search.indexer import Message
from commonplace.search.model import EmbeddingProvider, IndexedRecord, Record, RecordId

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def document(ref: str, body: str = "", *, generation: int = 1, **told: Any) -> Document:
    content_type, document_id = ref.split("/", 1)
    facts: dict[str, Any] = {"title": document_id.replace("-", " "), "path": f"{document_id}.md"}
    return Document(
        id=document_id,
        content_type=content_type,
        commit_sha="c0ffee",
        synced_at=NOON,
        metadata={},
        frontmatter={},
        content=body,
        blob_sha=BlobSha("0" * 40),
        generation=generation,
        **(facts | told),
    )


def record(ref: str, body: str = "", **told: Any) -> Record:
    return record_from_document(document(ref, body, **told))


def indexed(provider: EmbeddingProvider | None, *records: Record) -> list[IndexedRecord]:
    return embed_records(records, provider)


def put(store: ObjectStore, *documents: Document) -> None:
    for item in documents:
        store.put(content_key(item.content_type, item.id), item.to_json())


def publish(store: ObjectStore, documents: Sequence[Document], *, generation: int) -> None:
    """As a publication does: documents, then the manifest, then what it does not own is deleted."""
    put(store, *documents)
    entries = [
        Entry(
            **item.model_dump(exclude={"metadata", "frontmatter", "content"}),
            key=content_key(item.content_type, item.id),
            etag="e",
            raw_etag="e",
            size=1,
        )
        for item in documents
    ]
    manifest = Manifest(
        pipeline="p",
        repository="o/r",
        branch="main",
        commit_sha="c0ffee",
        generation=generation,
        synced_at=NOON,
        documents=entries,
    )
    store.put(MANIFEST_KEY, manifest.to_json())
    owned = {entry.key for entry in entries}
    store.delete([found.key for found in store.list("content/") if found.key not in owned])


def notification(key: str, event: str = "ObjectCreated:Put", **told: Any) -> dict[str, Any]:
    """One record as S3 sends it: the key form-encoded, removals without size and ETag."""
    item: dict[str, Any] = {
        "key": quote_plus(key, safe="/"),
        "versionId": "096fKKXTRTtl3on89fVO",
        "sequencer": "0055AED6",
    }
    if event.startswith("ObjectCreated"):
        item |= {"size": 1024, "eTag": "d41d8cd98f00b204e9800998ecf8427e"}
    return {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": "eu-central-1",
        "eventTime": "2026-01-01T12:00:00.000Z",
        "eventName": event,
        "userIdentity": {"principalId": "AWS:AROAEXAMPLE:sync"},
        "requestParameters": {"sourceIPAddress": "192.0.2.1"},
        "responseElements": {
            "x-amz-request-id": "C3D13FE58DE4C810",
            "x-amz-id-2": "FMyUVURIY8/IgAtTv8xRjskZQpcIZ9KG4V5Wp6S7S",
        },
        "s3": {
            "s3SchemaVersion": "1.0",
            "configurationId": "index",
            "bucket": {
                "name": "content",
                "ownerIdentity": {"principalId": "A3NL1KOZZKExample"},
                "arn": "arn:aws:s3:::content",
            },
            "object": item,
        },
    } | told


TEST_EVENT = json.dumps(
    {
        "Service": "Amazon S3",
        "Event": "s3:TestEvent",
        "Time": "2026-01-01T12:00:00.000Z",
        "Bucket": "content",
        "RequestId": "5582815E1AEA5ADF",
        "HostId": "8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR+YstdA6Knx4Ip8EXAMPLE",
    }
)


def body_of(*records: dict[str, Any]) -> str:
    return json.dumps({"Records": list(records)})


def message(identity: str, ref: str, event: str = "ObjectCreated:Put") -> Message:
    return Message(identity, body_of(notification(f"content/{ref}.json", event)))


def versions(engine: Any) -> dict[RecordId, int]:
    return dict(engine.versions())
