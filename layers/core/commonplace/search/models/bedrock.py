"""Embeddings by Amazon Bedrock's InvokeModel: Titan Text v2 and Cohere Embed v4.

Request and answer of each model are those of the Bedrock user guide, "Inference request parameters".
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from commonplace.kernel.errors import Unavailable
from commonplace.search.model import Vector
from commonplace.search.models.bedrock_answers import code_of, translated, unreadable
from commonplace.search.models.values import batched, fitting, fitting_bytes, unit

JSON = "application/json"


class Runtime(Protocol):
    """The client of `bedrock-runtime`, as far as it is used."""

    def invoke_model(self, *, modelId: str, body: bytes, contentType: str, accept: str) -> Mapping[str, Any]: ...


class TitanEmbeddings:
    """`amazon.titan-embed-text-v2:0`: one text a call, at most 8,192 tokens and 50,000 characters."""

    name = "amazon.titan-embed-text-v2"
    revision = "0"
    texts_per_call = 1
    max_characters = 50_000
    safe_bytes = 8_192
    """No token is shorter than a byte: what is refused for its tokens is taken when cut to this."""

    def __init__(self, client: Runtime, dimension: int = 1024) -> None:
        self._client = client
        self.dimension = dimension

    def batches(self, texts: Sequence[str]) -> list[Sequence[str]]:
        return [[text] for text in texts]

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:  # noqa: ARG002 - one model for both
        """One vector per text, one call after the other. Raises Transient and Unavailable."""
        return [self._embed(fitting(text, self.max_characters)) for text in texts]

    def _embed(self, text: str) -> Vector:
        try:
            return self._call(text)
        except Unavailable as error:
            too_long = code_of(error.__cause__) == "ValidationException" and len(text.encode()) > self.safe_bytes
            if not too_long:
                raise
        return self._call(fitting_bytes(text, self.safe_bytes))

    def _call(self, text: str) -> Vector:
        body = {"inputText": text, "dimensions": self.dimension, "normalize": True}
        answer = _invoke(self._client, f"{self.name}:{self.revision}", body)
        return unit(answer.get("embedding"), self.dimension)


def geography(region: str) -> str | None:
    """Where Cohere Embed v4 is asked for by the profile of a geography, which keeps requests in that geography."""
    prefix = region.partition("-")[0]
    return prefix if prefix in ("us", "eu") and "-gov-" not in region else None


class CohereEmbeddings:
    """`cohere.embed-v4:0`: at most 96 texts a call. Queries and documents are embedded differently.

    `geography` names an inference profile (`us`, `eu`): the same model, answered from any region of that geography.
    """

    name = "cohere.embed-v4"
    revision = "0"
    texts_per_call = 96
    max_characters = 50_000
    max_bytes_per_call = 300_000
    """The texts of a call share a context of 128,000 tokens."""

    def __init__(self, client: Runtime, dimension: int = 1024, *, geography: str | None = None) -> None:
        self._client = client
        self._model = ".".join(part for part in (geography, f"{self.name}:{self.revision}") if part)
        self.dimension = dimension

    def batches(self, texts: Sequence[str]) -> list[Sequence[str]]:
        fitted = [fitting(text, self.max_characters) for text in texts]
        return batched(fitted, count=self.texts_per_call, size=self.max_bytes_per_call, measure=_bytes)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One vector per text, one call after the other. Raises Transient and Unavailable."""
        return [vector for batch in self.batches(texts) for vector in self._call(batch, query)]

    def _call(self, texts: Sequence[str], query: bool) -> list[Vector]:
        body = {
            "texts": texts,
            "input_type": "search_query" if query else "search_document",
            "embedding_types": ["float"],
            "output_dimension": self.dimension,
            "truncate": "RIGHT",
        }
        embeddings = _invoke(self._client, self._model, body).get("embeddings")
        vectors = embeddings.get("float") if isinstance(embeddings, dict) else embeddings
        if not isinstance(vectors, list) or len(vectors) != len(texts):
            raise Unavailable(f"The model {self._model} did not answer with one vector per text.")
        return [unit(vector, self.dimension) for vector in vectors]


def _invoke(client: Runtime, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    encoded = json.dumps(body, ensure_ascii=False).encode()
    with translated(model):
        raw = client.invoke_model(modelId=model, body=encoded, contentType=JSON, accept=JSON)["body"].read()
    return _object(raw, model)


def _object(raw: bytes, model: str) -> dict[str, Any]:
    try:
        answer = json.loads(raw)
    except ValueError as error:
        raise unreadable(model) from error
    if not isinstance(answer, dict):
        raise unreadable(model)
    return answer


def _bytes(text: str) -> int:
    return len(text.encode())
