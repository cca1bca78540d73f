"""HTTP to one host over a few kept connections, and nothing else: what a search waits for is the node.

A general client takes as long for its own work as a small index takes to answer (0.3 ms a request), so this one does
less: no redirects, no proxies, no compression. Every request may be repeated: writes carry their versions.
"""

import http.client
import ssl
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock
from urllib.parse import urlencode

Sign = Callable[[str, str, bytes | None, dict[str, str]], Mapping[str, str]]
"""From method, URL, body and headers to the headers with a signature."""

CONNECT_SECONDS = 1.0


class Lost(Exception):
    """There was no answer: `timed_out` when there was none in time."""

    def __init__(self, *, timed_out: bool = False) -> None:
        super().__init__("no answer in time" if timed_out else "no answer")
        self.timed_out = timed_out


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    target: str
    body: bytes | None
    headers: dict[str, str]
    timeout: float


class HttpTransport:
    """At most `connections` requests at a time. Safe for threads."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        secure: bool = False,
        prefix: str = "",
        sign: Sign | None = None,
        connections: int = 16,
    ) -> None:
        self._host, self._port = host, port
        self._tls = ssl.create_default_context() if secure else None
        self._prefix = f"/{prefix.strip('/')}" if prefix.strip("/") else ""
        shown = f"[{host}]" if ":" in host else host
        self._origin = f"{'https' if secure else 'http'}://{shown}:{port}"
        self._sign = sign
        self._free = BoundedSemaphore(connections)
        self._lock = Lock()
        self._idle: list[http.client.HTTPConnection] = []
        # Whoever forgets to close this leaves no socket open.
        weakref.finalize(self, _close_all, self._idle)

    def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None, body: bytes | None, timeout: float
    ) -> tuple[int, bytes]:
        """Status and body of the answer. `timeout` is in seconds without a byte. Raises Lost."""
        target = self._prefix + path + (f"?{urlencode(params)}" if params else "")
        headers = {"content-type": "application/json"}
        if self._sign:
            headers = dict(self._sign(method, self._origin + target, body, headers))
        if not self._free.acquire(timeout=timeout):
            raise Lost(timed_out=True)
        try:
            return self._send(_Request(method, target, body, headers, timeout))
        finally:
            self._free.release()

    def close(self) -> None:
        """Closes what is idle."""
        with self._lock:
            _close_all(self._idle)

    def _send(self, request: _Request) -> tuple[int, bytes]:
        while kept := self._kept():
            try:
                return self._exchange(kept, request)
            except TimeoutError as error:
                raise Lost(timed_out=True) from error
            except (OSError, http.client.HTTPException):
                continue  # The host has closed what was idle for long: a new connection tells whether it is there.
        try:
            return self._exchange(self._made(), request)
        except TimeoutError as error:
            raise Lost(timed_out=True) from error
        except (OSError, http.client.HTTPException) as error:
            raise Lost from error

    def _exchange(self, connection: http.client.HTTPConnection, request: _Request) -> tuple[int, bytes]:
        try:
            connection.sock.settimeout(request.timeout)
            connection.request(request.method, request.target, request.body, request.headers)
            answer = connection.getresponse()
            content = answer.read()
        except BaseException:
            connection.close()
            raise
        if answer.will_close:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)
        return answer.status, content

    def _kept(self) -> http.client.HTTPConnection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _made(self) -> http.client.HTTPConnection:
        if self._tls:
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                self._host, self._port, timeout=CONNECT_SECONDS, context=self._tls
            )
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)
        try:
            connection.connect()
        except TimeoutError as error:
            raise ConnectionError("nobody took the connection in time") from error
        return connection


def _close_all(idle: list[http.client.HTTPConnection]) -> None:
    while idle:
        idle.pop().close()
