"""A partner of another make, FastMCP, at which people sign in, with an authorization server of its own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions

from tests.fakes.partners import HITS, Seen, serving, watched


@contextmanager
def signed_partner(*, registers: bool = True) -> Iterator[tuple[str, InMemoryOAuthProvider, Seen]]:
    """Serve a partner; yield its address, its authorization server, and what both are sent."""
    listening, seen = socket.create_server(("127.0.0.1", 0)), Seen()
    base = f"http://127.0.0.1:{listening.getsockname()[1]}"
    provider = InMemoryOAuthProvider(
        base_url=base,
        client_registration_options=ClientRegistrationOptions(enabled=registers, valid_scopes=["read"]),
        revocation_options=RevocationOptions(enabled=True),
        required_scopes=["read"],
    )
    made: FastMCP[Any] = FastMCP("signed", auth=provider)

    @made.tool(annotations={"readOnlyHint": True})
    def search_knowledge(query: str) -> dict[str, Any]:
        """Search what members read."""
        return {"results": [hit | {"query": query} for hit in HITS]}

    with serving(watched(made.http_app(stateless_http=True), seen), listening) as url:
        yield url, provider, seen


def consented(authorization_url: str) -> dict[str, str]:
    """Consent as a person; return what the browser comes back with."""
    answer = httpx2.get(authorization_url, follow_redirects=False, trust_env=False)
    assert answer.status_code in (302, 303, 307), answer.text
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query))


def revoked(provider: InMemoryOAuthProvider, *, whole: bool = True) -> None:
    """End what the server gave: access alone, or refreshing too."""
    provider.access_tokens.clear()
    if whole:
        provider.refresh_tokens.clear()


def used_up(provider: InMemoryOAuthProvider) -> None:
    """Use every refresh token once, as if somebody's answer was lost: nobody has the new ones."""

    async def use() -> None:
        for token in list(provider.refresh_tokens.values()):
            client = await provider.get_client(token.client_id)
            assert client is not None
            await provider.exchange_refresh_token(client, token, token.scopes)

    asyncio.run(use())
