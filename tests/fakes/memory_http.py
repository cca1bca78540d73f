"""`FakeMemoryServer` as MCP over HTTP on this machine; it can be stopped and started again at the same address."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from commonplace.kernel.errors import CommonplaceError
from tests.fakes.memory_server import FakeMemoryServer

TOKEN = "let-me-in"


class MemoryOverHttp:
    """`memory` keeps its entries while nobody listens."""

    def __init__(self) -> None:
        self.memory = FakeMemoryServer()
        self.headers: list[dict[str, str]] = []
        self.token = TOKEN
        self._port = 0
        self._server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), _handler(self))
        self._server.daemon_threads = True
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        params = message["params"]
        try:
            told = self.memory.call(params["name"], params["arguments"])
        except CommonplaceError as error:
            meta = {"code": error.code} | dict(error.details)
            text = f"{error.code}: {error.message}" + (f" Hint: {error.hint}" if error.hint else "")
            refused = {"isError": True, "content": [{"type": "text", "text": text}]}
            return refused | {"_meta": {"commonplace/error": meta}}
        return {"content": [{"type": "text", "text": "done"}], "structuredContent": told}


def _handler(place: MemoryOverHttp) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None: ...

        def do_POST(self) -> None:
            place.headers.append({name.lower(): value for name, value in self.headers.items()})
            message = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            if self.headers.get("authorization") != f"Bearer {place.token}":
                self._send(401, {"error": "unauthorized"})
            else:
                self._send(200, {"jsonrpc": "2.0", "id": message["id"], "result": place.answer(message)})

        def _send(self, status: int, body: Any) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.send_header("connection", "close")
            self.close_connection = True
            self.end_headers()
            self.wfile.write(content)

    return Handler
