"""A tap between those who write an index and its node, which kills the node under a bulk of documents."""

import http.client
import random
import select
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from local.opensearch.node import OwnedNode

READ_SECONDS = 60
LONGEST_WAIT_SECONDS = 0.2
"""Up to here a bulk is left to the node before its end: nothing, some or all of it is stored, and nobody is told."""


class Tap:
    """Passes every request on. Once armed, the node dies (SIGKILL) under a bulk. Use as a context manager."""

    def __init__(self, node: OwnedNode, chance: random.Random) -> None:
        self.killed = threading.Event()
        self.kills = 0
        self._node, self._chance = node, chance
        self._left: int | None = None
        self._lock = threading.Lock()
        address = urlsplit(node.url)
        self._address = (address.hostname or "127.0.0.1", address.port or 80)

        class Handler(_Passing):
            tap = self

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), name="tap", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def armed(self) -> bool:
        return self._left is not None

    def arm(self, documents: int) -> None:
        """The node dies under the bulk that holds this document, counted from now."""
        self.killed.clear()
        with self._lock:
            self._left = documents

    def bring_back(self) -> None:
        """At the same address, with what it had stored."""
        self._node.restart()

    def pass_on(self, request: "_Passing", body: bytes) -> bool:
        """Whether there is an answer, and it was passed back."""
        onward = http.client.HTTPConnection(*self._address, timeout=READ_SECONDS)
        try:
            onward.request(request.command, request.path, body or None, {"Content-Type": request.kind})
            if request.path.startswith("/_bulk") and self._is_last(body):
                self._kill(onward)
                return False
            answer = onward.getresponse()
            request.pass_back(answer.status, answer.getheader("Content-Type", "application/json"), answer.read())
            return True
        except (OSError, http.client.HTTPException):
            return False
        finally:
            onward.close()

    def _is_last(self, body: bytes) -> bool:
        with self._lock:
            if self._left is None:
                return False
            self._left -= body.count(b"\n") // 2  # an action and its document, a line each
            if self._left > 0:
                return False
            self._left = None
            return True

    def _kill(self, onward: http.client.HTTPConnection) -> None:
        select.select([onward.sock], [], [], self._chance.uniform(0, LONGEST_WAIT_SECONDS))
        self._node.kill()
        self.kills += 1
        self.killed.set()


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tap: Tap

    @property
    def kind(self) -> str:
        return self.headers.get("Content-Type", "application/json")

    def pass_back(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.tap.pass_on(self, body):
            self.close_connection = True  # as a node that is gone leaves it: without a word

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle
