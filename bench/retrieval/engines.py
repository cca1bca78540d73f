"""An index of a judged set in either engine, made for the run and removed after it, and models by their names."""

import http.client
import json
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import CommonplaceError
from commonplace.search import providers
from commonplace.search.chunks import chunk_body
from commonplace.search.embeddings import embed_records, with_tokens
from commonplace.search.model import VECTOR_FLOOR, Chunk, EmbeddingProvider, Engine, IndexedRecord, Record, Reranker
from commonplace.search.settings import EmbeddingChoice, RerankChoice, RetrievalSettings
from commonplace.web.settings import RestSettings


class Node:
    """One connection to one node on loopback."""

    def __init__(self, url: str, timeout_seconds: float = 120) -> None:
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.url = url
        self._connection = kind(parts.hostname or "127.0.0.1", parts.port, timeout=timeout_seconds)

    def send(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """The answer's bytes. Raises RuntimeError with what the node says when it refuses."""
        headers = {
            "Content-Type": "application/x-ndjson" if path.endswith(("_bulk", "_msearch")) else "application/json"
        }
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300].decode('utf-8', 'replace')}")
        return content

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """As `send`, with JSON on both ways."""
        return json.loads(self.send(method, path, None if body is None else json.dumps(body).encode()) or b"{}")

    def indices(self, stem: str) -> list[str]:
        """Names of the indexes that begin with the stem."""
        return [row["index"] for row in self.ask("GET", "/_cat/indices?format=json") if row["index"].startswith(stem)]

    def refresh(self, stem: str) -> None:
        """Makes what was written to indexes of the stem searchable."""
        for name in self.indices(stem):
            self.send("POST", f"/{name}/_refresh")

    def remove(self, stem: str) -> None:
        """Deletes the indexes of the stem, each by its own name."""
        for name in self.indices(stem):
            self.send("DELETE", f"/{name}")

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
    """With vectors and tokens. Raises RuntimeError when the model fails for some: half an index says nothing."""
    indexed: list[IndexedRecord] = []
    for start in range(0, len(records), BATCH):
        indexed += with_tokens(embed_records(records[start : start + BATCH], provider))
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


_ENVIRONMENT = {
    "STAGE": "bench",
    "CONTENT_BUCKET": "bench",
    "ACTIVITY_TABLE": "bench",
    "GITHUB_REPOSITORY": "bench/bench",
    "GITHUB_BRANCH": "main",
    "INDEX_LOCATION": "file:///bench",
}
"""What settings ask for beside the model; nothing here uses it."""


class Missing(Exception):
    """The model is not here; the text says what it needs."""


def embedding_model(name: str) -> EmbeddingProvider | None:
    """The model as deployed; None for `none`, which is words only. Raises Missing."""
    from infra.wheel_models import MINILM, NotFetched

    try:
        choice = EmbeddingChoice.parse(f"onnx:{MINILM.provide()}" if name == MINILM.name else name)
        _check(choice.kind, choice.folder)
        models = providers.embedding_providers(
            RetrievalSettings(embedding_provider=choice), read_seconds=providers.INDEX_READ_SECONDS
        )
    except (ValueError, CommonplaceError, ImportError, OSError, NotFetched) as error:
        raise Missing(_reason(name, error)) from error
    return models[0] if models else None


def rerank_model(name: str) -> Reranker | None:
    """The reranker as deployed. Raises Missing; also for `none`, so that it is said that none was measured."""
    if name == "none":
        raise Missing("No reranker is named: give --rerank bedrock-cohere, bedrock-amazon or onnx:/FOLDER.")
    try:
        choice = RerankChoice.parse(name)
        _check(choice.kind, choice.folder)
        return providers.reranker(RestSettings.from_environ(_ENVIRONMENT | {"RERANK_PROVIDER": name}))
    except (ValueError, CommonplaceError, ImportError, OSError) as error:
        raise Missing(_reason(name, error)) from error


def _check(kind: str, folder: Path | None) -> None:
    if folder is not None and not (folder / "model.onnx").is_file():
        raise Missing(f"{folder} has no model.onnx.")
    if kind.startswith("bedrock"):
        import boto3

        if boto3.Session().get_credentials() is None:
            raise Missing("There are no AWS credentials.")


def _reason(name: str, error: Exception) -> str:
    if isinstance(error, SettingsError) or not str(error):
        return str(error) or type(error).__name__
    return f"{error}" if not isinstance(error, ValueError) else f"{name} is no model: {error}"
