"""HTTP servers on 127.0.0.1 that stop at once and leave neither threads nor sockets behind."""

import logging
import socket
import socketserver
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
JOIN_SECONDS = 2.0


class Loopback(HTTPServer):
    """A thread per connection. It waits for connections without polling, and `stop` ends the ones that are open."""

    request_queue_size = 128
    allow_reuse_port = False  # a taken port is an error, in every version of Python
    _stopping = False

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        super().__init__((HOST, port), handler)
        self.prepare()

    def prepare(self) -> None:
        """What `__init__` adds; for subclasses that are made by another constructor."""
        self._open: dict[threading.Thread, socket.socket] = {}
        self._acceptor = threading.Thread(target=self._accept, name=f"accept-{self.server_port}", daemon=True)

    def server_bind(self) -> None:
        """Bind without the look-up of this machine's name, which takes seconds on some networks."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.socket.getsockname()[1]

    def start(self) -> None:
        self._acceptor.start()

    def stop(self) -> None:
        if self._stopping:
            return
        self._stopping = True
        if self._acceptor.is_alive():
            with suppress(OSError):  # a last connection wakes the acceptor
                socket.create_connection((HOST, self.server_port), timeout=JOIN_SECONDS).close()
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
