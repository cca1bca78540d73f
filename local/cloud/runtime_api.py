"""The Lambda Runtime API (version 2018-06-01) as one execution environment sees it."""

import select
import socket
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

from local.cloud.calls import Call
from local.cloud.servers import Loopback


class Environment(Protocol):
    """The host's side of one process."""

    def take(self, gone: Callable[[], bool]) -> Call | None:
        """The next call, however long it takes; `None` when the process will not answer any more."""
        ...

    def finish(self, call_id: str, body: bytes, *, failed: bool) -> None: ...

    def init_failed(self, body: bytes) -> None: ...


def runtime_api(environment: Environment) -> Loopback:
    class Api(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 1 << 16

        def log_message(self, format: str, *args: Any) -> None: ...

        def gone(self) -> bool:
            """Whether the process died while it was parked in `/next`: its socket is readable and at its end."""
            try:
                readable = select.select([self.connection], [], [], 0)[0]
                return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
            except OSError:
                return True

        def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            call = environment.take(self.gone)
            if call is None:
                self.close_connection = True
                return
            headers = {
                "Lambda-Runtime-Aws-Request-Id": call.id,
                "Lambda-Runtime-Deadline-Ms": str(int(call.deadline * 1000)),
                "Lambda-Runtime-Invoked-Function-Arn": call.arn,
                "Lambda-Runtime-Trace-Id": call.trace,
                "Content-Type": "application/json",  # without it the C client of awslambdaric 4.2 crashes
            }
            self.reply(200, call.payload, headers)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            _, _, kind, *rest = self.path.strip("/").split("/")
            if kind == "init":
                environment.init_failed(body)
            else:
                environment.finish(rest[0], body, failed=rest[1] == "error")
            self.reply(202, b"{}", {"Content-Type": "application/json"})

    return Loopback(Api)
