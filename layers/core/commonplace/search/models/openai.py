"""Embeddings by OpenAI's API or a compatible one (API reference, "Create embeddings").

Inputs, outputs and the key stand in no log and no error.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from urllib3 import PoolManager, Timeout
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import Transient, retry_after
from commonplace.search.model import Vector
from commonplace.search.models.values import batched, fitting_bytes, unit, unpacked

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 2.0
CONNECTIONS = 8

MAX_TEXT_BYTES = 8_192
"""A text may have 8,192 tokens, and no token is shorter than a byte. A chunk of a document has about 400."""

MAX_BYTES_PER_CALL = 600_000
"""The texts of a call may have 300,000 tokens, which have two bytes at least in all but made-up text."""

MAX_ANSWER_BYTES = 16_000_000
MAX_ERROR_BYTES = 65_536
PIECE_BYTES = 65_536

PASSING_STATUS = {408, 409, 429}
"""With those from 500 on, what a later call may not meet."""

EXHAUSTED = "insufficient_quota"
"""Answered with 429 as well, and no waiting helps."""

HINTS = {
    400: "The service does not take this request: the model may not know the number of dimensions.",
    401: 'Put a valid key into the secret of the deployment ({"apiKey": "..."}), or into OPENAI_API_KEY.',
    403: "The key may not use this model: allow it in the project of the key.",
    404: "The service has no such model: set EMBEDDING_PROVIDER to openai:MODEL with one that it has.",
    429: "The account has used up what it may spend: see its billing settings.",
}

TAKES_DIMENSIONS = re.compile(r"text-embedding-3-.+")
"""Models that shorten their vectors on request; others refuse a length."""

_CODE = re.compile(r"[a-z_]{1,60}")
_REQUEST_ID = re.compile(r"[\w.-]{1,100}")


class OpenAiEmbeddings:
    """`text-embedding-3-small` and its like. Queries and documents are embedded the same way."""

    revision = "1"
    """The API names none; a new model has a new name."""

    def __init__(
        self,
        key: Callable[[], str | None],
        *,
        model: str,
        dimension: int,
        base_url: str,
        texts_per_call: int = 100,
        read_seconds: float = 15,
        monotonic: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`base_url` ends before `/embeddings`. `key` may raise Unavailable; None sends none."""
        self.name = model
        self.dimension = dimension
        self.texts_per_call = texts_per_call
        self._key = key
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._pool = PoolManager(maxsize=CONNECTIONS, retries=False)
        self._read_seconds = read_seconds
        self._monotonic = monotonic
        self._clock = clock

    def batches(self, texts: Sequence[str]) -> list[Sequence[str]]:
        fitted = [fitting_bytes(text, MAX_TEXT_BYTES) for text in texts]
        size = MAX_BYTES_PER_CALL
        return batched(fitted, count=self.texts_per_call, size=size, measure=lambda text: len(text.encode()))

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:  # noqa: ARG002 - one model for both
        """One vector per text, one call after the other. Raises Transient and Unavailable."""
        return [vector for batch in self.batches(texts) for vector in self._call(batch)]

    def _call(self, texts: Sequence[str]) -> list[Vector]:
        request: dict[str, Any] = {"model": self.name, "input": texts, "encoding_format": "base64"}
        if TAKES_DIMENSIONS.fullmatch(self.name):
            request["dimensions"] = self.dimension
        raw = self._ask(json.dumps(request, ensure_ascii=False).encode())
        count = len(texts)
        try:
            found = {int(item["index"]): item["embedding"] for item in json.loads(raw)["data"]}
        except (ValueError, TypeError, KeyError) as error:
            raise self._unreadable() from error
        if found.keys() != set(range(count)):
            raise Unavailable(f"The model {self.name} did not answer with one vector per text.")
        return [unit(_numbers(found[index]), self.dimension) for index in range(count)]

    def _ask(self, body: bytes) -> bytes:
        key = self._key()
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": "commonplace"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        try:
            answer = self._pool.request(
                "POST",
                self._url,
                body=body,
                headers=headers,
                timeout=Timeout(connect=CONNECT_SECONDS, read=self._read_seconds),
                redirect=False,
                retries=False,
                preload_content=False,
            )
            try:
                raw = self._read(answer, MAX_ANSWER_BYTES if answer.status == 200 else MAX_ERROR_BYTES)
            finally:
                answer.close()
        except HTTPError as error:
            # Its text holds the address, and may hold more: only its kind is reported.
            logger.info("a model is out of reach", extra={"model": self.name, "error": type(error).__name__})
            raise Transient(f"The model {self.name} is out of reach.") from None
        if answer.status == 200:
            return raw
        raise self._refused(answer.status, answer.headers, raw)

    def _read(self, answer: BaseHTTPResponse, most: int) -> bytes:
        """The body. The pool's timeout counts for each wait, this one for all of them."""
        ends = self._monotonic() + 2 * self._read_seconds
        raw = bytearray()
        while piece := answer.read(PIECE_BYTES, decode_content=False):
            raw += piece
            if len(raw) > most or self._monotonic() > ends:
                raise self._unreadable()
        return bytes(raw)

    def _refused(self, status: int, headers: Mapping[str, str], raw: bytes) -> Unavailable:
        code = _code(raw)
        if code != EXHAUSTED and (status in PASSING_STATUS or status >= 500):
            # Seconds that the service states: `retry-after-ms` of its own, else `Retry-After`.
            milliseconds = headers.get("retry-after-ms", "").strip()
            if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", milliseconds):
                wait: float | None = float(milliseconds) / 1_000
            else:
                wait = retry_after(headers.get("retry-after"), datetime.fromtimestamp(self._clock(), UTC))
            return Transient(f"The model {self.name} does not answer now ({status}).", wait_seconds=wait)
        request = headers.get("x-request-id", "")
        shown = request if _REQUEST_ID.fullmatch(request) else ""
        logger.error("a model refuses", extra={"model": self.name, "status": status, "code": code, "requestId": shown})
        return Unavailable(f"The model {self.name} refuses ({code or status}).", hint=HINTS.get(status))

    def _unreadable(self) -> Transient:
        return Transient(f"The model {self.name} gave an answer that cannot be read.")


def api_key(text: str) -> str:
    """The key in a secret, JSON with `apiKey`. Raises ValueError, which does not quote it."""
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    key = values.get("apiKey") if isinstance(values, dict) else None
    if not isinstance(key, str) or not re.fullmatch(r"[\x21-\x7e]{1,500}", key.strip()):
        raise ValueError('the secret must be a JSON object with "apiKey"')
    return key.strip()


def _numbers(embedding: object) -> object:
    """Base64 of 32-bit floats, lowest byte first; services that do not know it send a list."""
    if not isinstance(embedding, str):
        return embedding
    try:
        return unpacked(base64.b64decode(embedding, validate=True))
    except (binascii.Error, ValueError):
        return None


def _code(raw: bytes) -> str:
    """Return what the service calls its refusal; its sentence may quote the key or a text, and is not read."""
    try:
        error = json.loads(raw)["error"]
        code = error.get("code") or error.get("type")
    except (ValueError, TypeError, KeyError, AttributeError):
        return ""
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ""
