"""How much work a build is, told from a sample: reading every document only to count its chunks would be half of it."""

from dataclasses import dataclass

from commonplace.search.embeddings import embedding_text, model_fingerprint, vector_key
from commonplace.search.indexer import wanting
from commonplace.search.model import EmbeddingProvider, Engine, Record, VectorMemories, VectorMemory
from commonplace.search.source import Source

SAMPLE = 40


@dataclass(frozen=True, slots=True)
class Work:
    documents: int
    """To be written, exactly."""
    chunks: int
    """To be embedded, about; 0 for an index of words alone."""
    total: int = 0
    """Published records."""


def estimate(
    source: Source, engine: Engine | None, provider: EmbeddingProvider | None, memories: VectorMemories
) -> Work:
    """The work that is left until `engine` (None: an empty index) holds what is published."""
    published = source.published()
    if published is None:
        return Work(0, 0)
    held = dict(engine.versions()) if engine else {}
    incomplete = set(engine.incomplete()) if engine and provider else set()
    current = published.versions
    missing = wanting(current, held, incomplete)
    foreign = len(held.keys() - current.keys())
    if provider is None or not missing:
        return Work(len(missing) + foreign, 0, len(current))
    step = max(1, len(missing) // SAMPLE)
    sample = list(source.read(missing[::step][:SAMPLE]).records.values())
    unknown = _unknown_chunks(sample, provider, memories)
    per_document = unknown / len(sample) if sample else 0
    return Work(len(missing) + foreign, round(per_document * len(missing)), len(current))


def _unknown_chunks(records: list[Record], provider: EmbeddingProvider, memories: VectorMemories) -> int:
    fingerprint = model_fingerprint(provider)
    wanted: dict[str | None, list[str]] = {}
    for record in records:
        keys = [vector_key(fingerprint, embedding_text(record, chunk)) for chunk in record.chunks]
        wanted.setdefault(record.organisation, []).extend(keys)
    return sum(_unknown(keys, memories(organisation)) for organisation, keys in wanted.items())


def _unknown(keys: list[str], memory: VectorMemory | None) -> int:
    known = memory.known(keys) if memory else {}
    return sum(1 for key in keys if key not in known)
