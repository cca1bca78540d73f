"""An index of a judged set in either engine, made for the run and removed after it."""

import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.retrieval.http import Node
from commonplace.search.chunks import chunk_body
from commonplace.search.embeddings import embed_records
from commonplace.search.model import VECTOR_FLOOR, Chunk, EmbeddingProvider, Engine, IndexedRecord, Record

BATCH = 200
"""Records of one write."""

STEM = "bench-retrieval"

Say = Callable[[str], None]


def recut(records: Sequence[Record], pieces: int | None) -> list[Record]:
    """The records in chunks of another size; as they are when none is given."""
    if pieces is None:
        return list(records)
    return [replace(record, chunks=chunk_body(record.body, pieces) or (Chunk(0, (), ""),)) for record in records]


def embedded_records(records: Sequence[Record], provider: EmbeddingProvider | None, say: Say) -> list[IndexedRecord]:
    """With their vectors. Raises RuntimeError when the model fails for some: a half-embedded index says nothing."""
    indexed: list[IndexedRecord] = []
    for start in range(0, len(records), BATCH):
        indexed += embed_records(records[start : start + BATCH], provider)
        say(f"  embedded {len(indexed):,} of {len(records):,} documents")
    if provider is not None and any(len(item.vectors) != len(item.record.chunks) for item in indexed):
        raise RuntimeError(f"the model {provider.name} did not embed every document")
    return indexed


@contextmanager
def embedded_engine(
    indexed: Sequence[IndexedRecord], provider: EmbeddingProvider | None, *, floor: float | None = None
) -> Iterator[Engine]:
    """One SQLite file in a folder that goes away."""
    from commonplace.search.embedded.engine import EmbeddedEngine

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        path = Path(folder) / "index.sqlite"
        engine = EmbeddedEngine(path, provider, vector_floor=VECTOR_FLOOR if floor is None else floor)
        engine.replace(indexed)
        yield engine
        engine.close()


@dataclass(frozen=True, slots=True)
class Served:
    """An index on a node, and a bare connection to that node."""

    engine: Engine
    node: Node
    stem: str


@contextmanager
def opensearch_engine(
    url: str,
    indexed: Sequence[IndexedRecord],
    provider: EmbeddingProvider | None,
    *,
    say: Say,
    floor: float | None = None,
) -> Iterator[Served]:
    """An index of its own on the node."""
    from commonplace.search.opensearch.client import connect
    from commonplace.search.opensearch.engine import OpenSearchEngine

    stem = f"{STEM}-{secrets.token_hex(4)}"
    with Node(url) as node:
        try:
            lowest = VECTOR_FLOOR if floor is None else floor
            engine = OpenSearchEngine(connect(url, "none"), stem, provider, vector_floor=lowest)
            for start in range(0, len(indexed), BATCH):
                engine.write(indexed[start : start + BATCH], ())
                say(f"  written {min(start + BATCH, len(indexed)):,} of {len(indexed):,} documents")
            node.refresh(stem)
            yield Served(engine, node, stem)
            engine.close()
        finally:
            node.remove(stem)
