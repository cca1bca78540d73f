"""OpenAI's embeddings on this machine: an HTTP server that refuses what the service refuses, counts, and fails as told.

Limits are those of the API reference, "Create embeddings", and of its guide to errors. `Standin` is what a test holds.
"""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from tests.fakes.bedrock import tokens
from tests.fakes.model_server import Answering, Script, serving

KEY = "sk-test-0123456789abcdefghijklmnopqrstuv"
PATH = "/v1/embeddings"
LONGEST = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
FIXED = "text-embedding-ada-002"
TEXTS_PER_CALL, TOKENS_PER_TEXT, TOKENS_PER_CALL = 2_048, 8_192, 300_000


class Refused(Exception):
    """The real service would answer with this status and code."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(slots=True)
class Standin(Script):
    """What was asked, and what is to be answered. `url` is what `OPENAI_BASE_URL` is to be."""

    calls: list[int] = field(default_factory=list)
    """Texts of each call that was answered with vectors."""
    texts: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Every request that could be read, answered or not."""
    floats: bool = False
    """Whether it knows no base64, as some services that speak the same language."""


@contextmanager
def running() -> Iterator[Standin]:
    """A server on a free port of this machine, until the end of the block."""
    state = Standin()
    with serving(state, _Handler, "/v1"):
        yield state


class _Handler(Answering):
    script: Standin
    always: Mapping[str, str] = {"x-request-id": "req_0123456789abcdef"}

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        failure = self.script.next_failure()
        authorization = self.headers.get("Authorization", "")
        try:
            answer = _answered(self.script, self.path, authorization, raw, counted=not failure)
        except Refused as refusal:
            self.script.complaints.append(str(refusal))
            self.send_json(refusal.status, _error(refusal.code, str(refusal)))
            return
        if failure is None:
            self.send_json(200, answer if self.script.answer is None else self.script.answer)
        else:
            told = _error(failure.code, f"a sentence that names {KEY}")
            self.send_failure(failure, answer, told, failure.headers)


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": code, "param": None, "code": code}}


def _answered(state: Standin, path: str, authorization: str, raw: bytes, *, counted: bool) -> dict[str, Any]:
    if path != PATH:
        raise Refused(404, "unknown_url", f"nothing is at {path}")
    if authorization != f"Bearer {KEY}":
        raise Refused(401, "invalid_api_key", f"Incorrect API key provided: {authorization}")
    body = json.loads(raw)
    with state.lock:
        state.requests.append(body)
    dimension = _checked(body)
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    if counted:
        with state.lock:
            state.calls.append(len(texts))
            state.texts += texts
    packed = body.get("encoding_format") == "base64" and not state.floats
    # The order is the field `index`, and nothing else.
    data = [
        {"object": "embedding", "index": index, "embedding": _written(embedding(text, dimension), packed=packed)}
        for index, text in reversed(list(enumerate(texts)))
    ]
    used = sum(map(tokens, texts))
    usage = {"prompt_tokens": used, "total_tokens": used}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


def _checked(body: Any) -> int:
    """The number of dimensions. Raises Refused."""
    known = {"model", "input", "encoding_format", "dimensions", "user"}
    if not isinstance(body, dict) or body.keys() - known or not {"model", "input"} <= body.keys():
        raise Refused(400, "invalid_request_error", "the body has other fields than these")
    if body["model"] not in LONGEST:
        raise Refused(404, "model_not_found", "The model does not exist or you do not have access to it.")
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    if not 1 <= len(texts) <= TEXTS_PER_CALL or not all(isinstance(text, str) and text for text in texts):
        raise Refused(400, "invalid_request_error", "'$.input' is invalid.")
    if max(map(tokens, texts)) > TOKENS_PER_TEXT or sum(map(tokens, texts)) > TOKENS_PER_CALL:
        raise Refused(400, "max_tokens_per_request", "This model's maximum context length is 8192 tokens.")
    if body.get("encoding_format", "float") not in ("float", "base64"):
        raise Refused(400, "invalid_request_error", "encoding_format is float or base64")
    return _dimension(body)


def _dimension(body: Mapping[str, Any]) -> int:
    if "dimensions" in body and body["model"] == FIXED:
        raise Refused(400, "invalid_request_error", "This model does not support specifying dimensions.")
    dimension = body.get("dimensions", LONGEST[body["model"]])
    if type(dimension) is not int or not 1 <= dimension <= LONGEST[body["model"]]:
        raise Refused(400, "invalid_request_error", "dimensions is out of range")
    return int(dimension)


def _written(vector: "np.ndarray[Any, np.dtype[np.float32]]", *, packed: bool) -> str | list[float]:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode() if packed else [float(value) for value in vector]


def embedding(text: str, dimension: int) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """The sum of one random direction per word, of length one: texts that share words are near."""
    words = Counter(re.findall(r"\w+", text.lower()) or [text])
    total = np.sum([times * _direction(word, dimension) for word, times in words.items()], axis=0)
    return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


@lru_cache(maxsize=8_000)
def _direction(word: str, dimension: int) -> "np.ndarray[Any, np.dtype[np.float32]]":
    seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8])
    return np.random.default_rng(seed).standard_normal(dimension, dtype=np.float32)
