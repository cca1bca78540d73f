"""`kernel.fetch.Fetcher` over HTTPS, from public machines alone.

A name is looked up once. Every address behind it must be public, and the connection goes to an address that was
checked, not to the name again, so that no second answer of the name server can lead elsewhere. The host name is what
the certificate must be for. One deadline counts for everything: name, connection, headers, body.
"""

from __future__ import annotations

import contextlib
import io
import socket
import ssl
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from commonplace.kernel.fetch import JSON_TYPES, Fetched, FetchFailed, fetchable
from commonplace.kernel.public_addresses import is_public

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


HEAD_BYTES = 32 * 1024
"""Room for the status line, the headers and the frames of the body."""

ADDRESSES_TRIED = 3

HTTPS_PORT = 443


def _look_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(entry[4][0]) for entry in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The ways out of this process; tests lead them to a server of their own."""

    look_up: Callable[[str, int], Sequence[str]] = _look_up
    """The addresses of a host name. Raises OSError."""
    public: Callable[[str], bool] = is_public
    port: int = HTTPS_PORT
    context: Callable[[], ssl.SSLContext] = ssl.create_default_context
    monotonic: Callable[[], float] = time.monotonic


class GuardedHttp:
    """Gets public documents, and posts to public addresses. No redirect is followed, no proxy of the environment used,
    no credential sent."""

    def __init__(self, *, loopback: bool = False, network: Network | None = None) -> None:
        """`loopback` also fetches `http://` URLs of this machine: for development alone."""
        self._loopback = loopback
        self._network = network or Network()
        self._context: ssl.SSLContext | None = None

    def get(self, url: str, *, max_bytes: int, seconds: float, media_types: Collection[str] = JSON_TYPES) -> Fetched:
        """As `Fetcher.get`. Raises FetchFailed, and nothing else."""
        headers = {"Accept": ", ".join(sorted(media_types))}
        with self._sent(_request("GET", url, headers), url, seconds, 2 * max_bytes + HEAD_BYTES) as reading:
            return _answer(reading, max_bytes, media_types)

    def post(self, url: str, body: bytes, headers: Mapping[str, str], *, seconds: float) -> int:
        """Return the status of the answer to a request with this body, whatever it is; nothing else is read.

        `headers` are ours: printable ASCII. Raises FetchFailed, and nothing else.
        """
        request = _request("POST", url, {**headers, "Content-Length": str(len(body))}) + body
        with (
            self._sent(request, url, seconds, HEAD_BYTES) as reading,
            contextlib.closing(HTTPResponse(cast(Any, reading), method="POST")) as response,
        ):
            response.begin()
            return response.status

    @contextlib.contextmanager
    def _sent(self, request: bytes, url: str, seconds: float, most: int) -> Iterator[_BoundedReader]:
        """Send a request; what is read of the answer, within these bounds, raises FetchFailed and nothing else."""
        if not fetchable(url, loopback=self._loopback):
            raise FetchFailed("url_not_allowed")
        deadline = _Deadline(seconds, self._network.monotonic)
        try:
            with self._connected(url, deadline) as connection:
                deadline.bound(connection)
                connection.sendall(request)
                yield _BoundedReader(connection, deadline, most)
        except TimeoutError as error:
            raise FetchFailed("too_slow") from error
        except ssl.SSLCertVerificationError as error:
            raise FetchFailed("certificate_not_valid") from error
        except (OSError, HTTPException, ValueError) as error:
            raise FetchFailed("connection_failed") from error

    def _connected(self, url: str, deadline: _Deadline) -> socket.socket:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme == "http":
            # `fetchable` has let it through, so it is of this machine, and the name server is not used for that.
            return self._reach(["127.0.0.1", "::1"] if host == "localhost" else [host], parts.port or 80, deadline)
        raw = self._reach(self._addresses(host, deadline), self._network.port, deadline)
        try:
            deadline.bound(raw)
            return self._tls().wrap_socket(raw, server_hostname=host)
        except BaseException:
            raw.close()
            raise

    def _addresses(self, host: str, deadline: _Deadline) -> list[str]:
        """Where the host may be reached; one address that is not public spoils the name."""
        found = list(dict.fromkeys(_bounded(lambda: self._network.look_up(host, self._network.port), deadline)))
        if not found:
            raise FetchFailed("name_unknown")
        if not all(self._network.public(address) for address in found):
            raise FetchFailed("address_not_public")
        # Not every function has a way out by IPv6.
        return sorted(found, key=lambda address: (":" in address, address))

    def _reach(self, addresses: Sequence[str], port: int, deadline: _Deadline) -> socket.socket:
        """A connection to the first address that takes one; those that come later have their share of the time."""
        tried = addresses[:ADDRESSES_TRIED]
        for left, address in zip(range(len(tried), 0, -1), tried, strict=True):
            try:
                return socket.create_connection((address, port), timeout=deadline.left() / left)
            except OSError:
                if left == 1:
                    raise
        raise FetchFailed("name_unknown")

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = self._network.context()
        return self._context


class _Deadline:
    """When everything must be over."""

    def __init__(self, seconds: float, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._end = monotonic() + seconds

    def left(self) -> float:
        """Seconds. Raises TimeoutError when there are none."""
        seconds = self._end - self._monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds

    def bound(self, connection: socket.socket) -> None:
        """Lets the next wait on the connection last no longer than is left."""
        connection.settimeout(self.left())


class _BoundedReader(io.RawIOBase):
    """A reader of a connection, bounded in bytes and by one deadline, which slow trickles do not extend."""

    def __init__(self, connection: socket.socket, deadline: _Deadline, most: int) -> None:
        self._connection = connection
        self._deadline = deadline
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        if self._left <= 0:
            raise FetchFailed("too_large")
        self._deadline.bound(self._connection)
        count = self._connection.recv_into(buffer)
        self._left -= count
        return count

    def makefile(self, _: str) -> io.BufferedReader:
        """What `HTTPResponse` asks a socket for."""
        return io.BufferedReader(self)


def _bounded(work: Callable[[], Sequence[str]], deadline: _Deadline) -> Sequence[str]:
    """Looking up a name has no timeout of its own, so it is waited for no longer than is left."""
    results: SimpleQueue[Sequence[str]] = SimpleQueue()

    def run() -> None:
        try:
            results.put(work())
        except (OSError, UnicodeError):
            results.put(())

    threading.Thread(target=run, daemon=True, name="name lookup").start()
    try:
        return results.get(timeout=deadline.left())
    except Empty:
        raise TimeoutError from None


def _request(method: str, url: str, headers: Mapping[str, str]) -> bytes:
    """Return the head of a request; `fetchable` sees that the URL is printable ASCII without a space."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    lines = (
        f"{method} {target} HTTP/1.1",
        f"Host: {parts.netloc}",
        *(f"{name}: {value}" for name, value in headers.items()),
        "Accept-Encoding: identity",
        "User-Agent: commonplace",
        "Connection: close",
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii", "replace")


def _answer(reading: _BoundedReader, max_bytes: int, media_types: Collection[str]) -> Fetched:
    with contextlib.closing(HTTPResponse(cast(Any, reading), method="GET")) as response:
        response.begin()
        if response.status != 200:
            # A redirect as well: it would lead to an address that nobody has checked.
            raise FetchFailed(f"status_{response.status}")
        if not _accepted(response.headers.get_content_type(), media_types):
            raise FetchFailed("other_media_type")
        if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            raise FetchFailed("encoded")
        body = response.read(max_bytes + 1)
        if len(body) > max_bytes:
            raise FetchFailed("too_large")
        if response.length:
            raise FetchFailed("cut_short")
        return Fetched(body, ", ".join(response.headers.get_all("Cache-Control", [])))


def _accepted(media_type: str, media_types: Collection[str]) -> bool:
    family, _, kind = media_type.partition("/")
    is_json = family == "application" and kind.endswith("+json")
    return media_type in media_types or (is_json and "application/json" in media_types)
