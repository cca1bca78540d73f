"""HTTP to one host over a few kept connections: no redirects, no proxies, no compression, no retries of its own."""

from collections.abc import Callable, Mapping
from math import ceil
from urllib.parse import urlencode

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.exceptions import EmptyPoolError, HTTPError, ProtocolError, ReadTimeoutError

Sign = Callable[[str, str, bytes | None, Mapping[str, str]], Mapping[str, str]]
"""From method, URL, body and headers to the headers with a signature."""

CONNECT_SECONDS = 1.0

_HEADERS = {"content-type": "application/json"}


class Lost(Exception):
    """There was no answer: `timed_out` when there was none in time."""

    def __init__(self, *, timed_out: bool = False) -> None:
        super().__init__("no answer in time" if timed_out else "no answer")
        self.timed_out = timed_out


class HttpTransport:
    """At most `connections` requests at a time. Safe for threads. Every request may be repeated by whoever sends it."""

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
        made: type[HTTPConnectionPool] = HTTPSConnectionPool if secure else HTTPConnectionPool
        self._pool = made(host, port, maxsize=connections, block=True, retries=False)
        self._prefix = f"/{prefix.strip('/')}" if prefix.strip("/") else ""
        shown = f"[{host}]" if ":" in host else host
        self._origin = f"{'https' if secure else 'http'}://{shown}:{port}"
        self._sign = sign

    def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None, body: bytes | None, timeout: float
    ) -> tuple[int, bytes]:
        """Status and body of the answer. `timeout` is in seconds without a byte. Raises Lost."""
        target = self._prefix + path + (f"?{urlencode(params)}" if params else "")
        headers = self._sign(method, self._origin + target, body, _HEADERS) if self._sign else _HEADERS
        try:
            try:
                return self._send(method, target, body, headers, timeout)
            except ProtocolError:
                # The host has just closed what was idle for long: a new connection tells whether it is there.
                return self._send(method, target, body, headers, timeout)
        except (ReadTimeoutError, EmptyPoolError) as error:
            raise Lost(timed_out=True) from error
        except HTTPError as error:
            raise Lost from error

    def close(self) -> None:
        """Closes what is idle."""
        self._pool.close()

    def _send(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str], timeout: float
    ) -> tuple[int, bytes]:
        answer = self._pool.urlopen(
            method,
            target,
            body,
            headers,
            retries=False,
            redirect=False,
            timeout=Timeout(connect=CONNECT_SECONDS, read=timeout),
            pool_timeout=ceil(timeout),
        )
        return answer.status, answer.data
