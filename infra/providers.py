"""Models by their configured names: valid values, environment variables of functions, and bundled folders."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from commonplace.kernel.configuration import Kind
from commonplace.search.settings import EmbeddingChoice, RerankChoice
from commonplace_local import wheel_models
from infra.declarations import ConfigurationError, checked
from infra.requirements import ROOT

ONNX = "onnx:"
MINILM = wheel_models.MINILM.name
OPENAI = "openai"

ONNX_MEMORY_MB = 2_048

MODELS = "/opt/models"
"""Where a layer with ONNX models is seen by the function."""

MODEL_FILES = ("model.onnx", "tokenizer.json")
"""What a folder of a model has to hold (docs/operate/models.md)."""


def bundled_folder(provider: str) -> str | None:
    """The folder on this machine that the provider needs inside the function."""
    return provider.removeprefix(ONNX) if provider.startswith(ONNX) else None


def deployed(provider: str) -> str:
    """The provider as the function's variable names it: folders of this machine become folders of the layer."""
    folder = MINILM if provider == MINILM else bundled_folder(provider)
    return f"{ONNX}{MODELS}/{Path(folder).name}" if folder else provider


def located(folder: str) -> Path:
    """Folders are given absolute or from the project's root."""
    return ROOT / folder


def embedding_provider(key: str, value: Any) -> str:
    valid = (
        "local, minilm, none, bedrock-titan[:256|512|1024], bedrock-cohere[:256|512|1024|1536],"
        " openai[:MODEL[:DIMENSION]], or onnx:FOLDER"
    )
    checked(key, Kind(valid, lambda text: EmbeddingChoice.parse(deployed(text))), value)
    return _existing(key, str(value))


def next_embedding_provider(key: str, value: Any) -> str:
    """A change to words alone is a change of `embeddingProvider`: there is nothing to build for it beforehand."""
    if value == "none":
        raise ConfigurationError(f"{key} names a model; leave it out when there is none to change to")
    return embedding_provider(key, value)


def rerank_provider(key: str, value: Any) -> str:
    valid = "none, bedrock-cohere, bedrock-amazon, or onnx:FOLDER"
    checked(key, Kind(valid, lambda text: RerankChoice.parse(deployed(text))), value)
    return _existing(key, str(value))


def memory_mb(providers: Iterable[str], usual: int) -> int:
    """Return what a function needs that runs these models itself; processors come with memory."""
    return max(usual, ONNX_MEMORY_MB) if any(deployed(each).startswith(ONNX) for each in providers) else usual


def _existing(key: str, provider: str) -> str:
    """A folder that is not there would be found out by the first search."""
    if folder := bundled_folder(provider):
        for name in MODEL_FILES:
            if not (located(folder) / name).is_file():
                raise ConfigurationError(f"{key}: {folder} has no {name}; a model is a folder with {MODEL_FILES}")
    return provider
