"""Records, chunks and vectors as they are indexed and searched."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NewType

RecordId = NewType("RecordId", str)
"""Unique in its collection; for documents `{contentType}/{id}`."""

Vector = Sequence[float]
"""L2-normalised embedding."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's embedding and the model it is of: an index that holds vectors of another model does not compare it."""

    model: str
    """`search.embeddings.model_fingerprint` of the provider."""
    values: Vector


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a record's body under one heading, about 400 tokens."""

    ordinal: int
    heading_path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """A searchable thing, before embedding. `version` orders writes: an older one never undoes a newer one."""

    id: RecordId
    version: int
    content_type: str
    document_id: str
    body: str
    chunks: tuple[Chunk, ...]
    title: str = ""
    description: str | None = None
    path: str = ""
    url: str | None = None
    source_url: str | None = None
    group: str | None = None
    release: str | None = None
    status: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    date: str | None = None
    updated_at: str | None = None
    fingerprint: str | None = None
    """16 hex digits that near-duplicates nearly share (`search.near_duplicates`); None for a text too short for one."""
    organisation: str | None = None
    """Whose it is, where a collection holds what belongs to several; documents belong to everybody who may read."""
    roles: tuple[str, ...] = ()
    """For whom it is meant."""
    confidence: float | None = None
    """From 0 to 1."""
    authors: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    """Exact names that it is found by where a query has them (`search.identifiers`)."""
    created_at: str | None = None
    public: bool = False
    """Whether other organisations may find it (`Filters.or_public`)."""
    tag_parents: tuple[str, ...] = ()
    """Tags that `tags` lie in: filters by tags find these too, and nobody is shown them."""
    valid_from: str | None = None
    valid_until: str | None = None
    """ISO 8601 in UTC, in one form throughout a collection: the order of texts is the order of times."""


@dataclass(frozen=True, slots=True)
class IndexedRecord:
    """A record with one vector per chunk; `vectors` is empty in lexical-only mode or when the provider failed."""

    record: Record
    vectors: tuple[Vector, ...]
    tokens: tuple[bytes, ...] = ()
    """What each chunk is compared by (`search.models.tokens.pack`); empty where it could not be had."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The removal of a record: nothing written before `version` remains. Kept, so that no late writer brings it back.

    A record written *with* that version stays: a publication may write under the generation another one ended with.
    """

    id: RecordId
    version: int
