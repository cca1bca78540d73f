"""The canonical document: one published file, normalised, as stored at `content/{contentType}/{id}.json`."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from commonplace.content.names import BlobSha, DocumentRef, reference

__all__ = ["BlobSha", "Document", "DocumentRef", "Stored", "Summary", "reference"]


class Stored(BaseModel):
    """Base of everything kept as JSON: camelCase outside, snake_case inside."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore", defer_build=True
    )

    def to_json(self) -> bytes:
        """UTF-8 JSON with camelCase names, in declaration order, so that equal values are equal bytes."""
        return self.model_dump_json(by_alias=True).encode()


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
