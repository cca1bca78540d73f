"""A node on the loopback interface that answers JSON-RPC as a test tells it to, and misbehaves when told so."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

Fault = Callable[[BaseHTTPRequestHandler], None]


class StandInNode:
    """`results` are what methods answer; `error` is a JSON-RPC error in place of all of them but the chain's id.

    `raw` is a body in place of any, `fault` answers by itself. `asked` are the methods that came, in order.
    """

    def __init__(self, chain_id: int = 10) -> None:
        self.results: dict[str, Any] = {"eth_chainId": hex(chain_id), "eth_getCode": "0x", "eth_call": "0x"}
        self.error: dict[str, Any] | None = None
        self.raw: bytes | None = None
        self.fault: Fault | None = None
        self.asked: list[str] = []
        self.params: list[Any] = []
        self.paths: list[str] = []
        self.released = Event()
        """Ends what is silent or slow."""
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def run(self) -> None:
        self._server.serve_forever(poll_interval=0.01)

    def stop(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: dict[str, Any]) -> bytes:
        if self.raw is not None:
            return self.raw
        told: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if self.error is not None and request["method"] != "eth_chainId":
            return json.dumps(told | {"error": self.error}).encode()
        return json.dumps(told | {"result": self.results[request["method"]]}).encode()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Callers that hang up are what some of the faults are for."""


@contextmanager
def standing_in(chain_id: int = 10) -> Iterator[StandInNode]:
    node = StandInNode(chain_id)
    thread = Thread(target=node.run, daemon=True)
    thread.start()
    try:
        yield node
    finally:
        node.stop()
        thread.join(10)


def status(code: int) -> Fault:
    """An answer of this status whose body would be a good one."""

    def fault(request: BaseHTTPRequestHandler) -> None:
        _send(request, code, b'{"jsonrpc":"2.0","id":1,"result":"0x0a"}')

    return fault


def redirect(url: str) -> Fault:
    def fault(request: BaseHTTPRequestHandler) -> None:
        request.send_response(302)
        request.send_header("location", url)
        request.send_header("content-length", "0")
        request.end_headers()

    return fault


def silent(node: StandInNode) -> Fault:
    """Takes the request, and says nothing."""

    def fault(request: BaseHTTPRequestHandler) -> None:
        request.close_connection = True
        node.released.wait(30)

    return fault


def dripping(node: StandInNode) -> Fault:
    """Sends a byte now and then, for ever: no read of it is late."""

    def fault(request: BaseHTTPRequestHandler) -> None:
        request.close_connection = True
        request.send_response(200)
        request.end_headers()
        while not node.released.wait(0.02):
            try:
                request.wfile.write(b" ")
                request.wfile.flush()
            except OSError:
                return

    return fault


def endless(request: BaseHTTPRequestHandler) -> None:
    """A body far beyond any bound."""
    request.close_connection = True
    request.send_response(200)
    request.end_headers()
    try:
        for _ in range(10_000):
            request.wfile.write(b" " * 65_536)
    except OSError:
        pass


def hanging_up(request: BaseHTTPRequestHandler) -> None:
    request.close_connection = True


def _handler(node: StandInNode) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            node.asked.append(body["method"])
            node.params.append(body["params"])
            node.paths.append(self.path)
            if node.fault is not None:
                node.fault(self)
            else:
                _send(self, 200, node.answer(body))

        def do_GET(self) -> None:
            node.asked.append("GET")
            _send(self, 200, b"{}")

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    return Handler


def _send(request: BaseHTTPRequestHandler, code: int, body: bytes) -> None:
    request.send_response(code)
    request.send_header("content-type", "application/json")
    request.send_header("content-length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)
