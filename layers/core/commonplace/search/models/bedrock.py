"""Models of Amazon Bedrock: embeddings by Titan Text v2 and Cohere Embed v4, reranking by the Rerank operation.

Requests and responses are those of the Bedrock user guide, "Inference request parameters". Errors become "try again" or
"do without"; no text of the service stands in what is raised or logged.
"""

import json
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as NoConnection
from botocore.parsers import ResponseParserError

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import Transient
from commonplace.search.model import RecordId, Reranked, Vector
from commonplace.search.models.values import batched, fitting, fitting_bytes, unit

logger = logging.getLogger(__name__)

PASSING = {
    "ThrottlingException",
    "TooManyRequestsException",
    "ServiceUnavailableException",
    "InternalServerException",
    "ModelTimeoutException",
    "ModelNotReadyException",
    "ModelErrorException",
    "DependencyFailedException",
    "BadGatewayException",
}
"""Codes of `bedrock-runtime` and `bedrock-agent-runtime` that a later call may not meet."""

PASSING_STATUS = {408, 424, 429}

HINTS = {
    "AccessDeniedException": "Allow the function bedrock:InvokeModel (and bedrock:Rerank) for this model; the"
    " account may have to enable it in the Bedrock console of this region.",
    "ResourceNotFoundException": "The model is not offered in this region: set BEDROCK_REGION to one that has it.",
    "ValidationException": "Bedrock does not take this request: the model may not be offered in this region.",
}

JSON = "application/json"

COHERE = "cohere.rerank-v3-5:0"
AMAZON = "amazon.rerank-v1:0"

SOURCES_PER_CALL = 1_000
QUERY_CHARACTERS = 4_000
PASSAGE_CHARACTERS = 10_000
"""The operation takes 32,000 characters each; Cohere's model reads 4,096 tokens of query and passage together."""

PAGES = 20


@contextmanager
def translated(model: str) -> Iterator[None]:
    """Raises Transient for what may pass and Unavailable for what will not, in place of botocore's errors."""
    try:
        yield
    except ClientError as error:
        code, metadata = code_of(error), error.response.get("ResponseMetadata", {})
        status = metadata.get("HTTPStatusCode", 0)
        if code in PASSING or status in PASSING_STATUS or status >= 500:
            raise Transient(f"The model {model} does not answer now ({code or status}).") from error
        logger.error("a model refuses", extra={"model": model, "code": code, "requestId": metadata.get("RequestId")})
        raise Unavailable(f"The model {model} refuses ({code or status}).", hint=HINTS.get(code)) from error
    except (NoConnection, HTTPClientError, IncompleteReadError) as error:
        raise Transient(f"The model {model} is out of reach.") from error
    except (ResponseParserError, TypeError, ValueError, AttributeError) as error:
        # botocore's parser trusts the service: an answer of another shape ends in whatever its code runs into.
        raise unreadable(model) from error
    except BotoCoreError as error:
        logger.error("a model cannot be called", extra={"model": model, "error": type(error).__name__})
        raise Unavailable(f"The model {model} cannot be called.") from error


def unreadable(model: str) -> Transient:
    return Transient(f"The model {model} gave an answer that cannot be read.")


def code_of(error: BaseException | None) -> str:
    """Bedrock's name for a refusal; empty when it is none."""
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""


class TitanEmbeddings:
    """`amazon.titan-embed-text-v2:0`: one text a call, at most 8,192 tokens and 50,000 characters."""

    name = "amazon.titan-embed-text-v2"
    revision = "0"
    texts_per_call = 1
    max_characters = 50_000
    safe_bytes = 8_192
    """No token is shorter than a byte: what is refused for its tokens is taken when cut to this."""

    def __init__(self, client: Any, dimension: int = 1024) -> None:
        """`client` is that of `bedrock-runtime`."""
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
    """Return where Cohere Embed v4 is called by the profile of a geography, which keeps requests in that geography."""
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

    def __init__(self, client: Any, dimension: int = 1024, *, geography: str | None = None) -> None:
        """`client` is that of `bedrock-runtime`."""
        self._client = client
        self._model = ".".join(part for part in (geography, f"{self.name}:{self.revision}") if part)
        self.dimension = dimension

    def batches(self, texts: Sequence[str]) -> list[Sequence[str]]:
        fitted = [fitting(text, self.max_characters) for text in texts]
        size = self.max_bytes_per_call
        return batched(fitted, count=self.texts_per_call, size=size, measure=lambda text: len(text.encode()))

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


def _invoke(client: Any, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    encoded = json.dumps(body, ensure_ascii=False).encode()
    with translated(model):
        raw = client.invoke_model(modelId=model, body=encoded, contentType=JSON, accept=JSON)["body"].read()
    try:
        answer = json.loads(raw)
    except ValueError as error:
        raise unreadable(model) from error
    if not isinstance(answer, dict):
        raise unreadable(model)
    return answer


class BedrockReranker:
    """Cohere Rerank 3.5 or Amazon Rerank 1.0, by its id, in the region of the client."""

    def __init__(self, client: Any, model: str, *, region: str, partition: str = "aws") -> None:
        """`client` is that of `bedrock-agent-runtime`."""
        self.name = model
        self._client = client
        self._arn = f"arn:{partition}:bedrock:{region}::foundation-model/{model}"

    def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
        """A score per passage that the model gave one for, best first. Raises Transient and Unavailable."""
        found: dict[RecordId, float] = {}
        for start in range(0, len(passages), SOURCES_PER_CALL):
            part = passages[start : start + SOURCES_PER_CALL]
            for index, score in self._scores(query, [text for _, text in part]):
                if 0 <= index < len(part) and math.isfinite(score):
                    found.setdefault(part[index][0], score)
        if missing := len(passages) - len(found):
            logger.warning("the reranker left passages out", extra={"model": self.name, "missing": missing})
        ranked = [Reranked(record, score) for record, score in found.items()]
        return sorted(ranked, key=lambda item: (-item.score, item.id))

    def _scores(self, query: str, texts: Sequence[str]) -> Iterator[tuple[int, float]]:
        sources = [{"type": "TEXT", "textDocument": {"text": fitting(text, PASSAGE_CHARACTERS)}} for text in texts]
        request = {
            "queries": [{"type": "TEXT", "textQuery": {"text": fitting(query, QUERY_CHARACTERS)}}],
            "sources": [{"type": "INLINE", "inlineDocumentSource": source} for source in sources],
            "rerankingConfiguration": {
                "type": "BEDROCK_RERANKING_MODEL",
                "bedrockRerankingConfiguration": {
                    "numberOfResults": len(texts),
                    "modelConfiguration": {"modelArn": self._arn},
                },
            },
        }
        token: str | None = None
        for _ in range(PAGES):
            with translated(self.name):
                answer = self._client.rerank(**request, **({"nextToken": token} if token else {}))
            try:
                pairs = [(int(item["index"]), float(item["relevanceScore"])) for item in answer["results"]]
            except (KeyError, TypeError, ValueError) as error:
                raise unreadable(self.name) from error
            yield from pairs
            token = answer.get("nextToken")
            if not token:
                return
