"""The Lambda Runtime API (version 2018-06-01) as one execution environment sees it.

Calls are for the process that runs the function alone: it brings the access key of the run at the end of its
User-Agent, since its client sends no header of ours. A failed import comes from another client, which sends no agent.
"""

import hmac
import select
import socket
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Protocol

from local.cloud.calls import Call
from local.cloud.servers import Loopback, LoopbackHandler


class Environment(Protocol):
    """The host's side of one process."""

    def take(self, gone: Callable[[], bool]) -> Call | None:
        """The next call, however long it takes; `None` when the process will not answer any more."""
        ...

    def finish(self, call_id: str, body: bytes, *, failed: bool) -> None: ...

    def init_failed(self, body: bytes) -> None: ...


def runtime_api(environment: Environment, key: str) -> Loopback:
    class Api(LoopbackHandler):
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

        def is_known(self) -> bool:
            """Whether the agent ends with the key; else it is refused."""
            agent = self.headers.get("User-Agent", "").encode("latin-1")
            if hmac.compare_digest(agent.rpartition(b" ")[2], key.encode()):
                return True
            self.refuse(HTTPStatus.FORBIDDEN, "Calls are for the process that runs the function.")
            return False

        def do_GET(self) -> None:
            if not self.is_known():
                return
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
            _, _, kind, *rest = self.path.strip("/").split("/")
            if kind != "init" and not self.is_known():
                return
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if kind == "init":
                environment.init_failed(body)
            else:
                environment.finish(rest[0], body, failed=rest[1] == "error")
            self.reply(202, b"{}", {"Content-Type": "application/json"})

    return Loopback(Api)
