"""What is searched for and what comes back: the values both engines and every interface share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NewType, Protocol

from commonplace.content.filters import Filters
from commonplace.errors import Unavailable

RecordId = NewType("RecordId", str)
"""Unique in its collection; for documents `{contentType}/{id}`."""

Vector = Sequence[float]
"""L2-normalised embedding."""


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
    title: str
    description: str | None
    path: str
    url: str | None
    source_url: str | None
    group: str | None
    release: str | None
    status: str | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    date: str | None
    updated_at: str | None
    body: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class IndexedRecord:
    """A record with one vector per chunk; `vectors` is empty in lexical-only mode or when the provider failed."""

    record: Record
    vectors: tuple[Vector, ...]


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The removal of a record: nothing written before `version` remains. Kept, so that no late writer brings it back.

    A record written *with* that version stays: a publication may write under the generation another one ended with.
    """

    id: RecordId
    version: int


@dataclass(frozen=True, slots=True)
class LegHit:
    """One record in one leg's ranking, best first; `chunk` is the ordinal of its best chunk, or None."""

    id: RecordId
    score: float
    chunk: int | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The legs of one query. `total` counts records that match the filters and at least one leg."""

    lexical: tuple[LegHit, ...]
    vector: tuple[LegHit, ...]
    total: int
    named: tuple[LegHit, ...] = ()
    """Records the query names by title or alias; the score is the grade of `search.names`, from 0 to 1."""
    degraded: bool = False
    """True when a vector was given and the index could not use it (it holds vectors of another model, or none)."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the engine keeps of a hit for showing it: the record without body, and its matched chunk."""

    record: Record
    chunk: Chunk | None


class IndexMismatch(Unavailable):
    """The index was built by another model, chunker or schema: rebuild it, never mix."""


class Engine(Protocol):
    """The index, embedded or OpenSearch. Both pass the same contract tests."""

    def write(self, upserts: Sequence[IndexedRecord], tombstones: Sequence[Tombstone]) -> None:
        """Applies each write that is not older than what the index holds, in any order, any number of times.

        Writes are ordered by (version, live after removed, with vectors after without); the greatest stays.
        Raises Unavailable, and IndexMismatch when the index was built otherwise.
        """
        ...

    def replace(self, records: Sequence[IndexedRecord]) -> None:
        """Makes these the only records, under the configured model and schema, in one step for readers."""
        ...

    def candidates(self, text: str, vector: Vector | None, filters: Filters, size: int) -> Candidates:
        """Up to `size` hits per leg; no vector means lexical only. Raises Unavailable."""
        ...

    def fetch(self, wanted: Sequence[tuple[RecordId, int | None]], text: str) -> dict[RecordId, Found]:
        """The records to show, each with the wanted chunk, or the best lexical one for `text`."""
        ...

    def versions(self) -> Iterator[tuple[RecordId, int]]:
        """Every live record and its version, for reconciling with the store."""
        ...

    def held(self, ids: Sequence[RecordId]) -> dict[RecordId, int]:
        """The versions of those of `ids` that are live."""
        ...

    def incomplete(self) -> Iterator[RecordId]:
        """Live records without vectors in an index that has a model: to be embedded again."""
        ...


class VectorMemory(Protocol):
    """Vectors computed before, so that unchanged text calls no model. Keys are those of `search.embedding`."""

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]: ...


class EmbeddingProvider(Protocol):
    """Turns text into vectors. Name, dimension and revision are stored with the index; a mismatch is refused."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One vector per text, in order. Raises Unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Reranked:
    id: RecordId
    score: float


class Reranker(Protocol):
    """Orders candidates by relevance in one batch call (seed 000, section 6.3)."""

    @property
    def name(self) -> str: ...

    def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
        """A score per passage, in any order. Raises Unavailable."""
        ...


class RerankCache(Protocol):
    """Keeps an order for an hour by query, ids and document versions."""

    def get(self, key: str) -> list[Reranked] | None: ...
    def put(self, key: str, ranked: Iterable[Reranked]) -> None: ...


@dataclass(frozen=True, slots=True)
class SearchRequest:
    query: str
    filters: Filters = field(default_factory=Filters)
    limit: int = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `snippet` is the matched chunk cut to size, `heading` its heading path joined by ` › `."""

    id: str
    content_type: str
    title: str
    description: str | None
    snippet: str
    heading: str | None
    score: float
    rerank_score: float | None
    url: str | None
    source_url: str | None
    path: str
    group: str | None
    tags: tuple[str, ...]
    date: str | None


@dataclass(frozen=True, slots=True)
class SearchResults:
    query: str
    results: tuple[Hit, ...]
    total: int
    fallback: bool
    """True when no embedding could be had and the answer is lexical only."""
    reranked: bool
    took_ms: int
