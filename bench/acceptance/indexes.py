"""Where the index of a deployment lies, looked into past the engine that wrote it. `node` has the other kind."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Protocol

from bench.acceptance.statements import Statement
from bench.acceptance.traces import texts_in
from bench.acceptance.truth import Truth
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.model import EmbeddingProvider, Engine, VectorMemory

Where = tuple[str, Iterable[str]]
"""Which part of an index, and every text found there."""


class Index(Protocol):
    """One collection. `environment` tells the functions of a laptop cloud to use it."""

    @property
    def environment(self) -> Mapping[str, str]: ...

    def open(self, embeddings: EmbeddingProvider) -> Engine:
        """For a writer in this process."""
        ...

    def close(self, engine: Engine) -> None: ...

    def memory(self, engine: Engine) -> VectorMemory | None: ...

    def texts(self) -> Iterator[Where]:
        """Every text that it keeps."""
        ...

    def chunk_texts(self) -> dict[str, list[str]]:
        """`contentType/id` -> the pieces of its text, in order, of every live record."""
        ...

    def statements(self, truth: Truth, versions: Mapping[str, int]) -> Iterator[Statement]:
        """What can be said of this kind alone. `versions`: the store's, by `contentType/id`."""
        ...


_READABLE = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%content = ''''%'"


class EmbeddedIndex:
    """One file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.environment: Mapping[str, str] = {}

    def open(self, embeddings: EmbeddingProvider) -> EmbeddedEngine:
        return EmbeddedEngine(self.file, embeddings)

    def close(self, engine: Engine) -> None:
        if isinstance(engine, EmbeddedEngine):
            engine.close()

    def memory(self, engine: Engine) -> VectorMemory | None:
        return engine if isinstance(engine, EmbeddedEngine) else None

    def texts(self) -> Iterator[Where]:
        """Every text of every table. One that keeps no text cannot be read: its words are in its vocabulary."""
        with closing(self._read()) as index:
            for (name,) in index.execute(_READABLE).fetchall():
                cells = (cell for row in index.execute(f'SELECT * FROM "{name}"') for cell in row)
                found = [text for cell in cells if isinstance(cell, str) for text in texts_in(cell.encode())]
                yield f"table {name}", found

    def chunk_texts(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        query = """SELECT records.id, chunks.text FROM chunks JOIN records ON records.rowid = chunks.record
                   WHERE records.deleted = 0 ORDER BY records.id, chunks.ordinal"""
        with closing(self._read()) as index:
            for ref, text in index.execute(query):
                found[ref].append(text)
        return found

    def statements(self, truth: Truth, versions: Mapping[str, int]) -> Iterator[Statement]:  # noqa: ARG002
        return iter(())

    def _read(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.file.absolute().as_uri()}?mode=ro", uri=True)
