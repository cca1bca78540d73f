"""OpenAI's embeddings on this machine: an HTTP server that refuses what the service refuses, counts, and fails as told.

Limits are those of the API reference, "Create embeddings", and of its guide to errors. `Standin` is what a test holds.
"""

import base64
import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

import numpy as np

from tests.fakes.bedrock import tokens

KEY = "sk-test-0123456789abcdefghijklmnopqrstuv"
PATH = "/v1/embeddings"
LONGEST = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
FIXED = "text-embedding-ada-002"
TEXTS_PER_CALL, TOKENS_PER_TEXT, TOKENS_PER_CALL = 2_048, 8_192, 300_000
HANG_LIMIT_SECONDS = 10


class Refused(Exception):
    """The real service would answer with this status and code."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(frozen=True, slots=True)
class Failure:
    """One answer that is no success. `kind` says how it fails."""

    kind: str = "error"
    """error, malformed, truncated, hang, dropped"""
    status: int = 503
    code: str = "server_error"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Standin:
    """What was asked, and what is to be answered: scripted `failures` first, `always` when set, else the truth."""

    calls: list[int] = field(default_factory=list)
    """Texts of each call that was answered with vectors."""
    texts: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Every request that could be read, answered or not."""
    failures: deque[Failure] = field(default_factory=deque)
    always: Failure | None = None
    answer: Any = None
    """Sent as it is in place of a computed answer."""
    floats: bool = False
    """Whether it knows no base64, as some services that speak the same language."""
    complaints: list[str] = field(default_factory=list)
    url: str = ""
    """What `OPENAI_BASE_URL` is to be."""
    released: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def fail(self, *failures: Failure) -> None:
        self.failures.extend(failures)

    def next_failure(self) -> Failure | None:
        with self.lock:
            return self.failures.popleft() if self.failures else self.always


@contextmanager
def running() -> Iterator[Standin]:
    """A server on a free port of this machine, until the end of the block."""
    state = Standin()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(state: Standin) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65_536

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            failure = state.next_failure()
            try:
                answer = _answered(state, self.path, self.headers.get("Authorization", ""), raw, counted=not failure)
            except Refused as refusal:
                state.complaints.append(str(refusal))
                self._send(refusal.status, _error(refusal.code, str(refusal)))
                return
            if failure is None:
                self._send(200, answer if state.answer is None else state.answer)
            else:
                self._fail(failure, answer)

        def _fail(self, failure: Failure, answer: Any) -> None:
            match failure.kind:
                case "hang":
                    state.released.wait(HANG_LIMIT_SECONDS)
                    self.close_connection = True
                case "dropped":
                    self.close_connection = True
                case "malformed":
                    self._bytes(200, b"<html>not json", len(b"<html>not json"), {})
                case "truncated":
                    raw = json.dumps(answer).encode()
                    self._bytes(200, raw[: len(raw) // 2], len(raw), {})
                    self.close_connection = True
                case _:
                    self._send(failure.status, _error(failure.code, f"a sentence that names {KEY}"), failure.headers)

        def _send(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
            raw = json.dumps(body).encode()
            self._bytes(status, raw, len(raw), headers or {})

        def _bytes(self, status: int, raw: bytes, length: int, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(length))
            self.send_header("x-request-id", "req_0123456789abcdef")
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


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
