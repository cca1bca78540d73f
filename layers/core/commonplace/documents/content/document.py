"""The stored forms of a published document and the manifest that lists them.

A document is one published file, normalised, at `content/{contentType}/{id}.json`. Readers go by the manifest alone, so
they never see a half-done run.
"""

from datetime import datetime
from functools import cached_property
from typing import Any, NewType

from pydantic import Field

from commonplace.kernel.stored import Stored
from commonplace.repository.blobs import BlobSha

DocumentRef = NewType("DocumentRef", str)
"""`{contentType}/{id}`: the name of a document everywhere outside the repository."""

MOST_TAG_LEVELS = 10
"""Levels of a tag that find it: one of 64,000 characters has up to 32,000 of them, each a value of the index."""

SHOWS_EVERYTHING = "Files that say nothing about publishing are shown too, on this machine alone."
"""What readers and agents are told where a manifest is of `everything`."""
MANIFEST_KEY = "metadata/manifest.json"
LFS_POINTER_TYPE = "text/x-git-lfs-pointer"
"""Of an attachment whose content Git LFS holds elsewhere, whatever its name says: it is no picture."""


def reference(content_type: str, document_id: str) -> DocumentRef:
    """The name under which a document is listed, linked and indexed."""
    return DocumentRef(f"{content_type}/{document_id}")


class Summary(Stored):
    """What a list shows of a document: everything but its body (and what only the store needs)."""

    id: str
    content_type: str
    title: str
    description: str | None = None
    path: str
    group: str | None = None
    release: str | None = None
    status: str | None = None
    tags: list[str] = Field(default_factory=list)
    date: str | None = None
    """ISO 8601 date of the frontmatter, or null. Never guessed."""
    updated_at: datetime | None = None
    """Committer time of the last commit that touched the file, or null when Git could not say."""
    author: list[str] = Field(default_factory=list)
    """Names; of a link to a person's page, its text."""
    aliases: list[str] = Field(default_factory=list)
    link_type: str | None = None
    banner: str | None = None
    """The image above it: a path or file name as authored, or an address on the web."""
    url: str | None = None
    """The frontmatter's `url`: where the described thing lives."""
    source_url: str | None = None
    """The file on GitHub, at the commit that wrote this document; null where it came from a stand-in."""
    commit_sha: str
    synced_at: datetime

    @property
    def ref(self) -> DocumentRef:
        return reference(self.content_type, self.id)

    @property
    def tag_branches(self) -> tuple[str, ...]:
        """The tags with all that they lie in: `inbox/to-read` lies in `inbox`. A filter by a tag finds these."""
        parts = (tag.split("/") for tag in self.tags)
        levels = ("/".join(one[:end]) for one in parts for end in range(1, min(len(one), MOST_TAG_LEVELS + 1)))
        return tuple(dict.fromkeys((*self.tags, *levels)))


class Document(Summary):
    """A published file: the seed's fields (section 4.1) and the ones added here.

    `metadata` is the normalised frontmatter, `frontmatter` is as authored, and `content` is the body exactly as in the
    file, line endings included.
    """

    permalink: str | None = None
    metadata: dict[str, Any]
    frontmatter: dict[str, Any]
    content: str
    blob_sha: BlobSha
    generation: int
    """The publication that wrote this document; grows with every run that writes."""


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
    width: int | None = None
    """Pixels, of a picture whose file says so."""
    height: int | None = None


class Manifest(Stored):
    """Everything published at one commit (seed 000, section 4.1: `metadata/manifest.json`)."""

    schema_version: int = 2
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
    everything: bool = False
    """Files that say nothing about publishing are shown, too: on a laptop alone."""
    working_copy: bool = False
    """The commit is a laptop's own, of files that nobody has committed: nobody can look it up."""
    pending: int = 0
    """How many files the last run could not bring up to date; above zero the next run looks again."""

    @cached_property
    def by_ref(self) -> dict[DocumentRef, Entry]:
        return {entry.ref: entry for entry in self.documents}

    @cached_property
    def by_path(self) -> dict[str, Entry]:
        return {entry.path: entry for entry in self.documents}
