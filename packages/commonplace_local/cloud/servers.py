"""HTTP servers on 127.0.0.1 that no page of another site reaches, and that leave neither threads nor sockets behind.

A foreign name may lead a browser here (DNS rebinding), so each server answers under its own names alone; and any page
may send requests to this machine, so servers that no page needs refuse whatever a browser sends.
"""

import io
import json
import logging
import socket
import sys
import threading
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler
from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Request

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
JOIN_SECONDS = 2.0
LINGER_SECONDS = 2.0

BY_BROWSERS = ("Origin", "Sec-Fetch-Site")
"""What browsers say of the page that asks (RFC 6454, W3C Fetch Metadata): a GET without CORS has the second alone."""


class LoopbackHandler(WSGIRequestHandler):
    """Refuses before anything is routed or read: 421 under another name, 403 to a page."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    pages = False
    """Whether pages of other sites may call, as they may call what is deployed."""

    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing: functions and applications have logs of their own."""

    def handle_expect_100(self) -> bool:
        return True  # `invite` says it

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        server = cast(Loopback, self.server)
        hosts = [host if ":" in host else f"{host}:80" for host in self.headers.get_all("Host", [])]
        if len(hosts) != 1 or hosts[0].lower() not in server.hosts:
            self.refuse(HTTPStatus.MISDIRECTED_REQUEST, f"This server answers at {' and '.join(server.hosts)} alone.")
        elif not self.pages and any(name in self.headers for name in BY_BROWSERS):
            self.refuse(HTTPStatus.FORBIDDEN, "This server answers no page of a browser.")
        else:
            return True
        return False

    def run_wsgi(self) -> None:
        """Answers, and leaves the connection open, which werkzeug ends: a new one costs as much as a small call."""
        self.invite()
        environ = self.make_environ()
        body = Request(environ, populate_request=False).get_data()
        environ |= {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        parts, status, headers = run_wsgi_app(cast(Loopback, self.server).app, environ, buffered=True)
        content, (code, _, reason) = b"".join(parts), status.partition(" ")
        self.send_response(int(code), reason)
        for name, value in headers:
            self.send_header(name, value)
        if self.command == "HEAD" or code in ("204", "304"):
            content = b""
        elif "content-length" not in headers:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def invite(self) -> None:
        """Has the client send a body that it has announced."""
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(HTTPStatus.CONTINUE)
            self.end_headers()
            self.wfile.flush()

    def refuse(self, status: HTTPStatus, message: str) -> None:
        """Answers without having read the body, and ends the connection."""
        body = json.dumps({"message": message}).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.linger()

    def linger(self) -> None:
        """Lets the sender read the refusal: closing while it still sends would reset the connection."""
        self.wfile.flush()
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(LINGER_SECONDS)
            while self.connection.recv(1 << 16):
                pass


class Loopback(BaseWSGIServer):
    """A thread per connection. It waits for connections without polling, and `stop` ends the ones that are open.

    `app` may be set later: the port is known before.
    """

    multithread = True
    _stopping = False

    def __init__(self, handler: type[LoopbackHandler], port: int = 0, *, app: "WSGIApplication | None" = None) -> None:
        with socket.create_server((HOST, port), backlog=self.request_queue_size) as listener:
            # Bound here: where a port is taken, werkzeug would end the process.
            super().__init__(HOST, port, cast(Any, app), handler, fd=listener.fileno())
        self.server_name, self.server_port = HOST, self.port
        self._open: dict[threading.Thread, socket.socket] = {}
        self._acceptor = threading.Thread(target=self._accept, name=f"accept-{self.port}", daemon=True)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names and port under which it is reached."""
        return tuple(f"{name}:{self.port}" for name in NAMES)

    @property
    def url(self) -> str:
        """Without a slash at its end."""
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        self._acceptor.start()

    def stop(self) -> None:
        if self._stopping:
            return
        self._stopping = True
        if self._acceptor.is_alive():
            with suppress(OSError):  # a last connection wakes the acceptor
                socket.create_connection((HOST, self.port), timeout=JOIN_SECONDS).close()
            self._acceptor.join(JOIN_SECONDS)
        self.server_close()
        open_now = dict(self._open)
        for connection in open_now.values():
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in open_now:
            if thread is not threading.current_thread():
                thread.join(JOIN_SECONDS)

    def _accept(self) -> None:
        while not self._stopping:
            self.handle_request()

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(target=self._serve, args=(request, client_address), daemon=True)
        self._open[thread] = request
        thread.start()

    def _serve(self, request: Any, client_address: Any) -> None:
        try:
            self.finish_request(request, client_address)
        except Exception:  # noqa: BLE001  the boundary of a connection: nothing above it could handle this
            self.handle_error(request, client_address)
        finally:
            self.shutdown_request(request)
            self._open.pop(threading.current_thread(), None)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002  the base's signature
        if not isinstance(sys.exception(), OSError):
            logger.exception("A connection ended with an error")
