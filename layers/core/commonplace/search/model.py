"""Values and ports of the search, shared by both engines and every interface."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, NewType, Protocol

from pydantic import Field

from commonplace.kernel.errors import Unavailable
from commonplace.search.filters import Filters

if TYPE_CHECKING:
    from commonplace.search.query import Query


VECTOR_FLOOR = 0.15
"""Cosine below which a chunk is about something else, in every engine. Chosen with the local model on judged queries: a
lower one lets in more of what is not meant than it finds of what is (docs/inside/retrieval.md)."""

REBUILD_HINT = "Rebuild the index beside the one that answers, then swap it in."

Fit = Literal["strong", "fair", "weak"]
"""How well a result fits its query (`search.fitness`)."""

Verdict = Literal[
    "shown",
    "collapsed",
    "below-limit",
    "below-candidates",
    "not-matched",
    "filtered-out",
    "not-indexed",
    "not-published",
]


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
    """True if other organisations may find it (`Filters.or_public`)."""
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


class LegHit(NamedTuple):
    """One record in one leg's ranking, best first. A tuple, for each search makes hundreds of them.

    `chunk` is the ordinal of its best chunk where the leg knows it; else `Engine.fetch` finds the chunk to show.
    """

    id: RecordId
    score: float
    chunk: int | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The legs of one query. `total` counts all records that match the filters and the words, exactly."""

    lexical: tuple[LegHit, ...]
    vector: tuple[LegHit, ...]
    total: int
    named: tuple[LegHit, ...] = ()
    """Records the query names by title or alias; the score is the grade of `search.names`, from 0 to 1."""
    degraded: bool = False
    """True when a vector was given and the index could not use it (it holds vectors of another model, or none)."""
    suggestions: tuple[str, ...] = ()
    """The query with misspelt words corrected, best first; every one finds something under the same filters."""
    index: str | None = None
    """Name of the index that answered, where the engine has more than one."""
    records: int = 0
    """How many records the index has, whatever the filters."""


@dataclass(frozen=True, slots=True)
class Position:
    """The end of a page of a lexical ranking: the last hit's score as the engine gave it, and its id."""

    score: float
    id: RecordId


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of the lexical ranking, best first, ties by id. `total` is exact and the same on every page."""

    hits: tuple[LegHit, ...]
    total: int
    after: Position | None
    """Where the next page begins; None on the last."""
    suggestions: tuple[str, ...] = ()
    """As of `Candidates`, on the first page."""


@dataclass(frozen=True, slots=True)
class Found:
    """The parts of a hit that are shown: the record without body, and its matched chunk."""

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

    def model(self) -> str | None:
        """Fingerprint of the model whose vectors searches compare now; None when there is no index, or no vectors.

        It changes while a process runs: when an index of another model takes the place of this one. Raises Unavailable.
        """
        ...

    def state(self) -> str | None:
        """Return what searches find: it changes with every write that they see, whoever wrote. None where that cannot
        be told.

        It may be as old as the index that is known. Raises Unavailable.
        """
        ...

    def candidates(self, query: "Query", vector: QueryVector | None, filters: Filters, size: int) -> Candidates:
        """Up to `size` hits per leg; no vector means lexical only. Raises Unavailable."""
        ...

    def page(self, query: "Query", filters: Filters, size: int, after: Position | None = None) -> Page:
        """A page of the lexical ranking, of any depth. A query without terms ranks nothing. Raises Unavailable."""
        ...

    def fetch(
        self, wanted: Sequence[tuple[RecordId, int | None]], query: "Query", vector: QueryVector | None = None
    ) -> dict[RecordId, Found]:
        """The records to show, in any order; those that are gone are left out.

        Each comes with the wanted chunk; where none is named, with the best one for the words of `query`, else with the
        nearest to `vector` (of the index's own model), else with the first.
        """
        ...

    def ranks(self, record: RecordId, query: "Query", vector: QueryVector | None, filters: Filters) -> "Standing":
        """Return where one record stands in each leg, however deep: for explaining a search. Raises Unavailable."""
        ...

    def tokens(self, wanted: Sequence[RecordId]) -> dict[RecordId, tuple[bytes, ...]]:
        """Return what each of the records' chunks is compared by (`search.models.tokens`), in order; without those that
        are gone or have nothing.

        Raises Unavailable.
        """
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

    def sweep(self, before: datetime) -> int:
        """Forgets tombstones that were buried before then, and says how many: no writer that old is left."""
        ...


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one document stands in each ranking, however deep: rank and score."""

    lexical: tuple[int, float] | None
    vector: tuple[int, float] | None
    below_floor: Annotated[
        float | None, Field(description="Its similarity, when that is too small to count as found.")
    ] = None
    held: Annotated[int | None, Field(description="The generation that the index holds of it.")] = None
    admitted: Annotated[bool, Field(description="Whether it passes the filters.")] = False


class VectorMemory(Protocol):
    """Vectors computed before, so that unchanged text calls no model. Keys are those of `search.embeddings`."""

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]: ...

    def remember(self, vectors: Mapping[str, Vector]) -> None:
        """Keeps new vectors. A memory that cannot, or need not, does nothing: it never fails its caller."""
        ...


VectorMemories = Callable[[str | None], VectorMemory | None]
"""The memory for the records of an organisation (None: those of no organisation): no organisation shares another's."""


class EmbeddingProvider(Protocol):
    """Turns text into vectors. Name, dimension and revision are stored with the index; a mismatch is refused."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One vector per text, in order, of any number of texts: the provider splits by its own limits.

        A text over the provider's limit is cut. Raises Unavailable.
        """
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
    shown: int | None = None
    """How many of the results get a snippet, the best first; None for all."""
    mode: Literal["hybrid", "lexical"] = "hybrid"
    """`lexical` ranks by words alone, counts exactly and can be paged through; `hybrid` ends at its candidates."""
    after: Position | None = None
    """In mode `lexical`: where the page begins."""
    rerank: bool = True
    collapse: bool = True
    """Shows one of several near-duplicates and names the others in `Hit.duplicates`."""
    documents: bool = False
    """Stage three: the whole documents, aligned with the results."""
    explain: bool = False
    expect: RecordId | None = None
    """With `explain`: a record whose place, or absence, is to be accounted for."""


class WholeDocument(Protocol):
    """A document as its capability keeps it: its text, and all of it as JSON."""

    @property
    def id(self) -> str: ...

    @property
    def content(self) -> str: ...

    def to_json(self) -> bytes: ...


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
    fit: Fit = "fair"
    marks: tuple[tuple[int, int], ...] = ()
    """Where the query's words stand in `snippet`: start and end, in characters."""
    duplicates: tuple[RecordId, ...] = ()
    document: WholeDocument | None = None
    """When requested; None also when it is gone, or was left out for the size of the answer."""


@dataclass(frozen=True, slots=True)
class SearchResults:
    query: str
    results: tuple[Hit, ...]
    total: int
    """In mode `lexical`, or without embedding: all matches, exactly. Else the candidates: where the ranking ends."""
    fallback: bool
    """True when no embedding could be had and the answer is lexical only."""
    reranked: bool
    took_ms: int
    suggestion: str | None = None
    """Did you mean: a corrected query that finds something under the same filters."""
    hint: str | None = None
    """The sentence that nothing fits, where nothing does: then the results, if there are any, are all weak. Or what a
    list holds."""
    passed: int | None = None
    """How many records of a list are before these ones. None for a ranking."""
    after: Position | None = None
    """In mode `lexical`: where the next page begins."""
    explanation: "Explanation | None" = None


@dataclass(frozen=True, slots=True)
class LegShare:
    rank: Annotated[int, Field(description="From 1.")]
    score: Annotated[float, Field(description="As the engine gave it.")]
    share: Annotated[float, Field(description="From 0 to 1: what it counts for in the fusion, before weighing.")]


@dataclass(frozen=True, slots=True)
class HitTrace:
    """Why a result stands where it stands."""

    id: Annotated[RecordId, Field(description="`contentType/id`.")]
    rank: int
    score: float
    lexical: Annotated[LegShare | None, Field(description="Its place by words.")]
    vector: Annotated[LegShare | None, Field(description="Its place by meaning.")]
    named: Annotated[float | None, Field(description="How exactly the query names it, from 0 to 1.")]
    rerank_score: float | None


@dataclass(frozen=True, slots=True)
class Expectation:
    """Why the expected document is shown, or is not."""

    id: RecordId
    verdict: Verdict
    sentence: str
    standing: Standing | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a ranking came about."""

    engine: str
    index: str | None
    model: str | None
    reranker: str | None
    fusion: str
    filters: Annotated[Mapping[str, object], Field(description="Those in force.")]
    lexical_hits: int
    vector_hits: int
    named_hits: int
    candidates: int
    hits: tuple[HitTrace, ...]
    timings_ms: Mapping[str, float]
    """Of embed, candidates, fuse, fetch, rerank, documents and of the whole."""
    expectation: Expectation | None


class Publication(Protocol):
    """The publication, for explaining why something is not found, and for telling one publication from another."""

    def version(self) -> str | None:
        """The version of what is published now; None before anything was. Raises Unavailable."""
        ...

    def generation_of(self, record: RecordId) -> int | None:
        """The version that the store publishes; None when it publishes no such record."""
        ...


class Documents(Protocol):
    """Stage three: whole documents."""

    def read(self, records: Sequence[RecordId]) -> Sequence[WholeDocument | None]:
        """Concurrently, aligned with `records`; None for what is gone or unreadable. Raises Unavailable."""
        ...
