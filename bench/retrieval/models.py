"""Models by their names in the configuration, and a sentence for each that cannot be had here."""

from pathlib import Path

from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import CommonplaceError
from commonplace.kernel.settings import EmbeddingChoice, RerankChoice, RestSettings, RetrievalSettings
from commonplace.search import providers
from commonplace.search.model import EmbeddingProvider, Reranker

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
    try:
        choice = EmbeddingChoice.parse(name)
        _check(choice.kind, choice.folder)
        models = providers.embedding_providers(
            RetrievalSettings(embedding_provider=choice), read_seconds=providers.INDEX_READ_SECONDS
        )
    except (ValueError, CommonplaceError, ImportError, OSError) as error:
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
