"""The manifest: the one object that says what is published. Readers go by it, so they never see a half-done run."""

from datetime import datetime
from functools import cached_property

from pydantic import Field

from commonplace.documents.content.document import DocumentRef, Summary
from commonplace.kernel.stored import Stored
from commonplace.repository.blobs import BlobSha

MANIFEST_KEY = "metadata/manifest.json"


class Entry(Summary):
    """One published document: its summary, and where and as what it is stored."""

    key: str
    """Object key of the document, `content/{contentType}/{id}.json`."""
    etag: str
    """ETag of that object, without quotes: what the store must hold."""
    blob_sha: BlobSha
    generation: int
    raw_etag: str
    """ETag of the file as it was, at `raw/{path}`."""
    size: int
    """Bytes of the source file."""
    aliases: list[str] = Field(default_factory=list)
    permalink: str | None = None


class Attachment(Stored):
    """A file that published documents embed or link, served at `/api/v1/attachments/{name}`."""

    name: str
    path: str
    key: str
    etag: str
    blob_sha: BlobSha
    media_type: str
    size: int


class Manifest(Stored):
    """Everything published at one commit (seed 000, section 4.1: `metadata/manifest.json`)."""

    schema_version: int = 1
    pipeline: str
    """Fingerprint of ontology, id rule, parser and exclusions; another value means every document is rewritten."""
    repository: str
    branch: str
    commit_sha: str
    generation: int
    synced_at: datetime
    documents: list[Entry] = Field(default_factory=list)
    attachments: list[Attachment] = Field(default_factory=list)
    former_refs: dict[DocumentRef, str] = Field(default_factory=dict)
    """`{contentType}/{id}` that a document answered to earlier -> its path now."""
    graph_key: str | None = None
    pending: int = 0
    """How many files the last run could not bring up to date; above zero the next run looks again."""

    @cached_property
    def by_ref(self) -> dict[DocumentRef, Entry]:
        return {entry.ref: entry for entry in self.documents}

    @cached_property
    def by_path(self) -> dict[str, Entry]:
        return {entry.path: entry for entry in self.documents}
