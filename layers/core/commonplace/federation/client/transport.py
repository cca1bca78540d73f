"""Requests to partners: public addresses alone, bounded in bytes, without proxies or credentials of this process.

A name is looked up once, every address behind it is judged, and the connection goes to one that was judged. The
certificate has to be for the name. The same rules hold for every address that a partner names, such as that of its
authorization server.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterable
from functools import cache
from typing import Any

import httpcore2
import httpx2

from commonplace.kernel.fetch import FetchFailed, fetchable
from commonplace.kernel.public_addresses import is_public

MAX_ANSWER_BYTES = 1024 * 1024
CONNECT_SECONDS = 3.0
KEPT_SECONDS = 30.0
MOST_CONNECTIONS = 32
LOOPBACK = ("127.0.0.1", "::1")

context = cache(ssl.create_default_context)
"""It takes 20 ms to make, so a process has one."""


class PublicAddresses(httpcore2.AsyncNetworkBackend):
    """Connects to addresses that were judged, never to a name a second time."""

    def __init__(self, public: Callable[[str], bool]) -> None:
        self._public, self._inner = public, httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the name is the library's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Raises FetchFailed for a name without an address, or with one that is not public."""
        try:
            found = await asyncio.wait_for(look_up(host, port), timeout)
        except OSError:
            raise FetchFailed("name_unknown") from None
        addresses = sorted(dict.fromkeys(found), key=lambda one: (":" in one, one))
        if not addresses:
            raise FetchFailed("name_unknown")
        if not all(map(self._public, addresses)):
            raise FetchFailed("address_not_public")
        return await self._inner.connect_tcp(addresses[0], port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a name. Raises OSError."""
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in entries]


class Bounded(httpx2.AsyncByteStream):
    """A body of which no more than so many bytes are read."""

    def __init__(self, inner: Any, most: int) -> None:
        self._inner, self._left = inner, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._left -= len(piece)
            if self._left < 0:
                raise FetchFailed("too_large")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """Sends each request only where `kernel.fetch.fetchable` and `kernel.public_addresses` let it."""

    def __init__(
        self,
        *,
        loopback: bool = False,
        public: Callable[[str], bool] = is_public,
        tls: ssl.SSLContext | None = None,
        port: int = 0,
    ) -> None:
        """`loopback` allows `http://` URLs of this machine, for development; the rest is for tests: `port` in place of
        443."""
        super().__init__(verify=tls or context(), trust_env=False)
        self._loopback, self._port = loopback, port
        own = PublicAddresses(lambda address: public(address) or (loopback and address in LOOPBACK))
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls or context(),
            max_connections=MOST_CONNECTIONS,
            max_keepalive_connections=MOST_CONNECTIONS,
            keepalive_expiry=KEPT_SECONDS,
            network_backend=own,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises FetchFailed for an address that may not be asked, and an answer that is encoded."""
        if not fetchable(str(request.url), loopback=self._loopback):
            raise FetchFailed("url_not_allowed")
        if self._port and request.url.scheme == "https":
            request.url = request.url.copy_with(port=self._port)
        request.headers["accept-encoding"] = "identity"  # nothing small becomes large here
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            await response.aclose()
            raise FetchFailed("encoded")
        response.stream = Bounded(response.stream, MAX_ANSWER_BYTES)
        return response


def guarded_client(transport: GuardedTransport, auth: httpx2.Auth | None = None) -> httpx2.AsyncClient:
    """Return a client for requests to partners. Redirects are not followed."""
    return httpx2.AsyncClient(
        transport=transport,
        auth=auth,
        timeout=httpx2.Timeout(30.0, connect=CONNECT_SECONDS),
        follow_redirects=False,
        trust_env=False,
        headers={"user-agent": "commonplace"},
    )
