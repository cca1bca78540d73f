"""An index in either engine, made for a run and removed after it, and models by their names."""

import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import CommonplaceError
from commonplace.search import providers
from commonplace.search.embeddings import embed_records, with_tokens
from commonplace.search.model import VECTOR_FLOOR, EmbeddingProvider, Engine, IndexedRecord, Record, Reranker
from commonplace.search.settings import EmbeddingChoice, RerankChoice, RetrievalSettings
from commonplace.web.settings import RestSettings

BATCH = 200
"""Records of one write."""


def embedded_records(records: Sequence[Record], provider: EmbeddingProvider | None) -> list[IndexedRecord]:
    """Return them with vectors and tokens. Raises RuntimeError when the model fails for some: half says nothing."""
    indexed: list[IndexedRecord] = []
    for start in range(0, len(records), BATCH):
        indexed += with_tokens(embed_records(records[start : start + BATCH], provider))
    if provider is not None and any(len(item.vectors) != len(item.record.chunks) for item in indexed):
        raise RuntimeError(f"the model {provider.name} did not embed every document")
    return indexed


@contextmanager
def index(
    indexed: Sequence[IndexedRecord], provider: EmbeddingProvider | None, url: str | None = None
) -> Iterator[Engine]:
    """Make an index of its own on the node at `url`, or in a SQLite file; it goes away."""
    from commonplace.search.embedded.engine import EmbeddedEngine
    from commonplace.search.opensearch.client import connect
    from commonplace.search.opensearch.engine import OpenSearchEngine

    if url is None:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            embedded = EmbeddedEngine(Path(folder) / "index.sqlite", provider, vector_floor=VECTOR_FLOOR)
            embedded.replace(indexed)
            yield embedded
            embedded.close()
        return
    stem, client = f"bench-retrieval-{secrets.token_hex(4)}", connect(url, "none")
    try:
        engine = OpenSearchEngine(client, stem, provider, vector_floor=VECTOR_FLOOR)
        for start in range(0, len(indexed), BATCH):
            engine.write(indexed[start : start + BATCH], ())
        client.indices.refresh(index=f"{stem}-*")
        yield engine
    finally:
        for name in client.indices.get(index=f"{stem}-*"):
            client.indices.delete(index=name)
        client.close()


class Missing(Exception):
    """The model is not here; the text says what it needs."""


@contextmanager
def _missing(name: str) -> Iterator[None]:
    """Turn the many ways in which a model cannot be had into one."""
    from commonplace_local.wheel_models import NotFetched

    try:
        yield
    except (SettingsError, CommonplaceError, ImportError, OSError, NotFetched) as error:
        raise Missing(str(error) or type(error).__name__) from error
    except ValueError as error:
        raise Missing(f"{name} is no model: {error}") from error


def _check(kind: str, folder: Path | None) -> None:
    if folder is not None and not (folder / "model.onnx").is_file():
        raise Missing(f"{folder} has no model.onnx.")
    if kind.startswith("bedrock"):
        import boto3

        if boto3.Session().get_credentials() is None:
            raise Missing("There are no AWS credentials.")


def embedding_model(name: str) -> EmbeddingProvider | None:
    """Return the model as deployed; None for `none`, which is words only. Raises Missing."""
    from commonplace_local.wheel_models import MINILM

    with _missing(name):
        choice = EmbeddingChoice.parse(f"onnx:{MINILM.provide()}" if name == MINILM.name else name)
        _check(choice.kind, choice.folder)
        settings = RetrievalSettings(embedding_provider=choice)
        models = providers.embedding_providers(settings, read_seconds=providers.INDEX_READ_SECONDS)
    return models[0] if models else None


def rerank_model(name: str) -> Reranker | None:
    """Return the reranker as deployed. Raises Missing; also for `none`, so that the run says that none was measured."""
    if name == "none":
        raise Missing("No reranker is named: give --rerank bedrock-cohere, bedrock-amazon or onnx:/FOLDER.")
    unused = dict.fromkeys(("STAGE", "CONTENT_BUCKET", "ACTIVITY_TABLE", "GITHUB_BRANCH"), "bench")
    unused |= {"GITHUB_REPOSITORY": "bench/bench", "INDEX_LOCATION": "file:///bench"}
    with _missing(name):
        choice = RerankChoice.parse(name)
        _check(choice.kind, choice.folder)
        return providers.reranker(RestSettings.from_environ(unused | {"RERANK_PROVIDER": name}))
