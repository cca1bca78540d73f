"""What the stand-ins for services of models have in common: an HTTP server on this machine that fails as it is told."""

import json
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

HANG_LIMIT_SECONDS = 10
NOT_JSON = b"<html>not json"


@dataclass(frozen=True, slots=True)
class Failure:
    """One answer that is no success. `kind` says how it fails."""

    kind: str = "error"
    """error, malformed, truncated, hang, dropped"""
    status: int = 503
    code: str = "server_error"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Script:
    """What is to be answered: `failures` first, `always` when set, else the truth."""

    failures: deque[Failure] = field(default_factory=deque)
    always: Failure | None = None
    answer: Any = None
    """Sent as it is in place of a computed answer."""
    complaints: list[str] = field(default_factory=list)
    """What the real service would have refused, and why."""
    url: str = ""
    released: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def fail(self, *failures: Failure) -> None:
        self.failures.extend(failures)

    def next_failure(self) -> Failure | None:
        with self.lock:
            return self.failures.popleft() if self.failures else self.always


class Answering(BaseHTTPRequestHandler):
    """Sends answers, and what are none. A service says what its requests and its errors look like."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65_536  # head and body in one piece: in two, the second waits for an acknowledgement
    script: Script
    always: Mapping[str, str] = {}
    """Headers of every answer."""

    def send_failure(self, failure: Failure, answer: Any, body: Any, headers: Mapping[str, str]) -> None:
        """`answer` is what would have been right; `body` and `headers` are the service's own words for an error."""
        match failure.kind:
            case "hang":
                self.script.released.wait(HANG_LIMIT_SECONDS)
                self.close_connection = True
            case "dropped":
                self.close_connection = True
            case "malformed":
                self._bytes(200, NOT_JSON, len(NOT_JSON), {})
            case "truncated":
                raw = json.dumps(answer).encode()
                self._bytes(200, raw[: len(raw) // 2], len(raw), {})
                self.close_connection = True
            case _:
                self.send_json(failure.status, body, headers)

    def send_json(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        raw = json.dumps(body).encode()
        self._bytes(status, raw, len(raw), headers or {})

    def _bytes(self, status: int, raw: bytes, length: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        for name, value in {**self.always, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(script: Script, answering: type[Answering], path: str = "") -> Iterator[None]:
    """A server on a free port of this machine, until the end of the block; `script.url` is its address."""
    handler = type("Handler", (answering,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}{path}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        script.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
