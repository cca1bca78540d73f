"""Embeddings of records and queries: the text of a record, the keys of cached vectors, batched calls.

A query is embedded by the model whose vectors the index holds.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.telemetry import count
from commonplace.search.analysis import telling, terms
from commonplace.search.chunks import is_listing
from commonplace.search.model import (
    REBUILD_HINT,
    Chunk,
    EmbeddingProvider,
    IndexedRecord,
    QueryVector,
    Record,
    Vector,
    VectorMemories,
    VectorMemory,
)
from commonplace.search.models.tokens import PassageText, pack
from commonplace.search.text import plain

logger = logging.getLogger(__name__)

TEXTS_PER_STEP = 384
"""Embedded and remembered before the next: whoever is stopped in the middle does not begin again from zero. As many as
four calls of the provider with the largest calls take."""

FIRST_TEXTS = 32
"""The first step, by whose time the next ones are sized: a slow model shows its progress, and a stop loses little."""

STEP_SECONDS = 5.0
"""A step of a slow model is as many texts as it embeds in this time."""

QUERIES_REMEMBERED = 512


def embedding_text(record: Record, chunk: Chunk) -> str:
    """Title, heading path, date and text: a chunk alone does not say what it is about, nor of when it is."""
    names = (record.title, *(name for name in chunk.heading_path if name != record.title))
    heading = " › ".join(name for name in names if name)
    first = record.description if chunk.ordinal == 0 else None
    return "\n".join(part for part in (heading, record.date, first, plain(chunk.text)) if part)


def model_fingerprint(provider: EmbeddingProvider) -> str:
    """Names a model so that vectors of two models are never compared."""
    return f"{provider.name}@{provider.revision}/{provider.dimension}"


def vector_key(fingerprint: str, text: str) -> str:
    """The name of a vector: sha256 over the model and the text."""
    return hashlib.sha256(f"{fingerprint}\0{text}".encode("utf-8", "replace")).hexdigest()


def embed_records(
    records: Sequence[Record],
    provider: EmbeddingProvider | None,
    memory: VectorMemory | None = None,
    enough: Callable[[], bool] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[IndexedRecord]:
    """The records with their vectors. Text embedded before is not sent again, and equal texts are sent once.

    When the provider fails or time is used up, records that are not remembered whole come back without vectors: they
    are indexed by their words, and the engine reports them as incomplete until they are embedded.
    """
    if provider is None:
        return [IndexedRecord(record, ()) for record in records]
    fingerprint = model_fingerprint(provider)
    texts = [[embedding_text(record, chunk) for chunk in record.chunks] for record in records]
    keys = [[vector_key(fingerprint, text) for text in each] for each in texts]
    wanted = dict(zip(chain.from_iterable(keys), chain.from_iterable(texts), strict=True))
    vectors = dict(memory.known(list(wanted))) if memory else {}
    missing = [key for key in wanted if key not in vectors]
    done, size = 0, FIRST_TEXTS
    while done < len(missing) and not (done and enough and enough()):
        step, began = missing[done : done + size], clock()
        vectors |= _embed(step, [wanted[key] for key in step], provider, memory)
        done += len(step)
        logger.info("texts were embedded", extra={"embedded": done, "texts": len(missing)})
        size = min(TEXTS_PER_STEP, max(1, int(len(step) * STEP_SECONDS / max(clock() - began, 0.001))))
    return [
        IndexedRecord(record, tuple(vectors[key] for key in own) if vectors.keys() >= set(own) else ())
        for record, own in zip(records, keys, strict=True)
    ]


def no_memories(_organisation: str | None) -> None:
    """Nothing is remembered."""


def embed_each(
    records: Sequence[Record],
    provider: EmbeddingProvider | None,
    memories: VectorMemories = no_memories,
    enough: Callable[[], bool] | None = None,
) -> list[IndexedRecord]:
    """Return what `embed_records` does, in order, with the memory of each record's own organisation.

    The texts of two organisations are never sent in one call: whether one has a text already shows in no other's work.
    """
    embedded: dict[int, IndexedRecord] = {}
    for organisation in dict.fromkeys(record.organisation for record in records):
        places = [place for place, record in enumerate(records) if record.organisation == organisation]
        own = embed_records([records[place] for place in places], provider, memories(organisation), enough)
        embedded |= dict(zip(places, own, strict=True))
    return [embedded[place] for place in range(len(records))]


def with_tokens(embedded: Sequence[IndexedRecord]) -> list[IndexedRecord]:
    """The records with what their chunks are compared by; without it where the local model cannot be had."""
    passages: list[PassageText] = []
    for record in (indexed.record for indexed in embedded):
        title = telling(terms(record.title))
        names = title | telling(terms("\n".join((*record.aliases, *record.tags, *record.authors))))
        own = names | telling(terms(f"{record.content_type}\n{record.description or ''}"))
        for chunk in record.chunks:
            text, headings = embedding_text(record, chunk), telling(terms("\n".join(chunk.heading_path)))
            found_by = own | telling(terms(text))
            passages.append(PassageText(text, found_by, title, is_listing(chunk), names | headings))
    try:
        found = iter(pack(passages))
    except Unavailable as error:
        logger.warning("records are indexed without token ids", extra={"reason": error.message})
        return list(embedded)
    return [replace(indexed, tokens=tuple(islice(found, len(indexed.record.chunks)))) for indexed in embedded]


def _embed(
    keys: Sequence[str], texts: Sequence[str], provider: EmbeddingProvider, memory: VectorMemory | None
) -> dict[str, Vector]:
    together = _embed_all(keys, texts, provider)
    vectors = _by_halves(keys, texts, provider) if together is None else together
    if len(vectors) < len(texts):
        count("ModelFallbacks")
        logger.warning("embedding failed, indexing words only", extra={"texts": len(texts) - len(vectors)})
    if vectors and memory:
        memory.remember(vectors)
    return vectors


def _by_halves(keys: Sequence[str], texts: Sequence[str], provider: EmbeddingProvider) -> dict[str, Vector]:
    """Return, of texts that failed together, the vectors of those that the model takes; none when both halves fail.

    So one text that a model refuses costs its neighbours nothing, and a model that is away is called only twice more.
    """
    middle = len(texts) // 2
    halves = [(keys[:middle], texts[:middle]), (keys[middle:], texts[middle:])] if middle else []
    answers = [_embed_all(*half, provider) for half in halves]
    if all(answer is None for answer in answers):
        return {}
    vectors: dict[str, Vector] = {}
    for half, answer in zip(halves, answers, strict=True):
        vectors |= _by_halves(*half, provider) if answer is None else answer
    return vectors


def _embed_all(keys: Sequence[str], texts: Sequence[str], provider: EmbeddingProvider) -> dict[str, Vector] | None:
    try:
        return dict(zip(keys, provider.embed(texts), strict=True))
    except Unavailable as error:
        logger.info("texts could not be embedded", extra={"texts": len(texts), "reason": error.message})
        return None


class QueryEmbeddings:
    """The providers of a deployment: one, or two while it changes its model. Caches recent queries."""

    def __init__(self, providers: Sequence[EmbeddingProvider], remembered: int = QUERIES_REMEMBERED) -> None:
        self._providers = {model_fingerprint(provider): provider for provider in providers}
        self._remembered = lru_cache(maxsize=remembered)(self._embed)
        self._told: set[str] = set()

    def vector(self, query: str, model: str | None) -> QueryVector | None:
        """The query under this model, or under the first one when no provider is of this model.

        None without providers, for an index without vectors, and when the provider fails.
        """
        if not self._providers or model is None:
            return None
        if model not in self._providers and model not in self._told:
            self._told.add(model)  # logged once for each model: every search says so in its answer
            facts = {"index_model": model, "configured": list(self._providers), "hint": REBUILD_HINT}
            logger.error("the index is of a model that is not configured, searching words only", extra=facts)
        try:
            return self._remembered(query, model if model in self._providers else next(iter(self._providers)))
        except Unavailable as error:
            count("ModelFallbacks")
            logger.warning("the query could not be embedded, searching words only", extra={"reason": error.message})
            return None

    def knows(self, model: str | None) -> bool:
        """Return whether a provider is of this model."""
        return model in self._providers

    def _embed(self, query: str, model: str) -> QueryVector:
        return QueryVector(model, self._providers[model].embed([query], query=True)[0])
