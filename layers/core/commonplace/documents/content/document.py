"""The canonical document: one published file, normalised, as stored at `content/{contentType}/{id}.json`."""

from datetime import datetime
from typing import Any

from pydantic import Field

from commonplace.documents.content.names import DocumentRef, reference
from commonplace.kernel.stored import Stored
from commonplace.repository.blobs import BlobSha

__all__ = ["Document", "DocumentRef", "Summary", "reference"]


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
    url: str | None = None
    """The frontmatter's `url`: where the described thing lives."""
    source_url: str | None = None
    """The file on GitHub, at the commit that wrote this document."""
    commit_sha: str
    synced_at: datetime

    @property
    def ref(self) -> DocumentRef:
        return reference(self.content_type, self.id)


class Document(Summary):
    """A published file: the seed's fields (section 4.1) and the ones added here.

    `metadata` is the normalised frontmatter, `frontmatter` is as authored, and `content` is the body exactly as in the
    file, line endings included.
    """

    aliases: list[str] = Field(default_factory=list)
    permalink: str | None = None
    metadata: dict[str, Any]
    frontmatter: dict[str, Any]
    content: str
    blob_sha: BlobSha
    generation: int
    """The publication that wrote this document; grows with every run that writes."""
