"""Calls of partners' MCP servers: one connection each, in the era that is remembered of the partner.

A session would save half a millisecond and freeze with its environment. The SDK's `call_tool` lists all tools after the
answer of a fresh session, so the request itself is sent. A partner that asks back (sampling, elicitation, roots) gets
no answer: none of that is declared.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.auth.utils import (
    extract_field_from_www_auth,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
)
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from commonplace.federation.client.transport import GuardedTransport, guarded_client
from commonplace.federation.model import (
    CALL_SECONDS,
    MAX_ANSWER_CHARACTERS,
    MAX_DISCOVERED_BYTES,
    MAX_PAGES,
    MAX_TOOLS,
    MAX_URL_CHARACTERS,
    VIA,
    Challenge,
    Contact,
    PartnerFailed,
    Said,
    SignInNeeded,
)
from commonplace.kernel.fetch import FetchFailed

T = TypeVar("T")

LEGACY, AUTO = "legacy", "auto"
MAX_SCOPE_CHARACTERS = 1_000
NAME_THREADS, STORE_THREADS = 32, 8
OTHER_ERA = frozenset((-32000, -32001, -32600, -32601))
"""Errors of a server that speaks another era than the one remembered: the call has not reached a tool."""


class Connections:
    """The connections of this process to partners, on one event loop in a thread of its own. Safe for threads."""

    def __init__(self, transport: Callable[[], GuardedTransport] = GuardedTransport, name: str = "commonplace") -> None:
        self._name, self._loop = name, asyncio.new_event_loop()
        # Name servers that do not answer hold threads: those of our stores are others.
        self._loop.set_default_executor(ThreadPoolExecutor(NAME_THREADS, "partners-names"))
        self._stores = ThreadPoolExecutor(STORE_THREADS, "partners-stores")
        self._transport = transport()
        self.http = guarded_client(self._transport)
        threading.Thread(target=self._serve, name="partners", daemon=True).start()

    def _serve(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def close(self) -> None:
        """Close the connections and end the loop. Nothing can be asked afterwards."""
        self.run(self.http.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine of this class returns, from any thread."""
        return self.start(work).result()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin a coroutine of this class, or one that awaits such, and return its future."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def in_thread(self, work: Callable[..., T], *given: Any) -> T:
        """Return what a function gives that reads a store."""
        return await self._loop.run_in_executor(self._stores, partial(work, *given))

    async def call(
        self,
        contact: Contact,
        tool: str,
        arguments: Mapping[str, Any],
        via: tuple[str, ...],
        seconds: float,
        *,
        token: str | None = None,
    ) -> tuple[Said, Contact]:
        """Return the answer of a tool, and what to remember now; `token` is that of a person at this partner.

        Raises PartnerFailed, and nothing else.
        """

        async def ask(client: Client) -> Said:
            params = types.CallToolRequestParams(name=tool, arguments=dict(arguments), _meta={VIA: list(via)})
            request = types.CallToolRequest(params=params)
            result = await client.session.send_request(
                request, types.CallToolResult, request_read_timeout_seconds=seconds
            )
            if getattr(result, "result_type", "complete") not in ("complete", None):
                raise PartnerFailed("asks_back")
            texts = [part.text for part in result.content if isinstance(part, types.TextContent)]
            text = "\n\n".join(texts)[:MAX_ANSWER_CHARACTERS]
            return Said(result.structured_content, text, bool(result.is_error))

        return await self._in_its_era(contact, ask, seconds, token)

    async def tools(
        self, contact: Contact, seconds: float = CALL_SECONDS, *, token: str | None = None
    ) -> tuple[list[dict[str, Any]], Contact]:
        """Return the tools that a partner lists, as it writes them. Raises PartnerFailed, and nothing else."""

        async def ask(client: Client) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = []
            cursor: str | None = None
            for _ in range(MAX_PAGES):
                page = await client.list_tools(cursor=cursor)
                found += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
                if len(found) > MAX_TOOLS:
                    raise PartnerFailed("too_many_tools")
                if (cursor := page.next_cursor) is None:
                    return found
            raise PartnerFailed("too_many_tools")

        return await self._in_its_era(contact, ask, seconds, token)

    async def _in_its_era(
        self, contact: Contact, ask: Callable[[Client], Awaitable[T]], seconds: float, token: str | None
    ) -> tuple[T, Contact]:
        """Ask as the partner spoke the last time; where it speaks otherwise now, find out how, once."""
        async with alone(seconds):
            try:
                return await self._connected(contact, ask, seconds, token)
            except BaseException as error:
                inner = first(error)
                if not contact.era or not isinstance(inner, MCPError) or inner.error.code not in OTHER_ERA:
                    raise
            return await self._connected(Contact(contact.url), ask, seconds, token)

    async def _connected(
        self, contact: Contact, ask: Callable[[Client], Awaitable[T]], seconds: float, token: str | None
    ) -> tuple[T, Contact]:
        known = contact.discovered and contact.era not in ("", LEGACY)
        prior = types.DiscoverResult.model_validate_json(contact.discovered) if known else None
        client = Client(
            streamable_http_client(contact.url, http_client=guarded_client(self._transport, PartnerAuth(token))),
            mode=contact.era or AUTO,
            prior_discover=prior,
            read_timeout_seconds=seconds,
            client_info=types.Implementation(name=self._name, version="1"),
            cache=None,
        )
        async with client:
            answer = await ask(client)
            if not contact.era:
                found = client.session.discover_result
                # Its instructions are followed by nobody, so they are not remembered.
                said = (
                    found.model_dump_json(by_alias=True, exclude_none=True, exclude={"instructions"}) if found else ""
                )
                if len(said.encode()) <= MAX_DISCOVERED_BYTES:
                    contact = replace(contact, era=client.protocol_version if found else LEGACY, discovered=said)
            return answer, contact


class PartnerAuth(httpx2.Auth):
    """Sends a person's token at a partner, and stops where the partner wants one, or another."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Raises SignInNeeded."""
        if self._token is not None:
            request.headers["authorization"] = f"Bearer {self._token}"
        response = yield request
        lacking = response.status_code == HTTPStatus.FORBIDDEN and (
            extract_field_from_www_auth(response, "error") == "insufficient_scope"
        )
        if response.status_code == HTTPStatus.UNAUTHORIZED or lacking:
            metadata = extract_resource_metadata_from_www_auth(response) or ""
            scope = extract_scope_from_www_auth(response) or ""
            challenge = Challenge(metadata[:MAX_URL_CHARACTERS], scope[:MAX_SCOPE_CHARACTERS])
            raise SignInNeeded(challenge, lacking=lacking and self._token is not None)


@asynccontextmanager
async def alone(seconds: float) -> AsyncIterator[None]:
    """Let a partner fail alone, and in time, whatever it does. Raises PartnerFailed, and nothing else."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except Exception as error:  # noqa: BLE001 - it may be anything
        inner = first(error)
        raise inner if isinstance(inner, PartnerFailed) else PartnerFailed(reason_of(inner)) from None


def first(error: BaseException) -> BaseException:
    """Return the error within groups of groups, as they leave task groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def reason_of(error: BaseException) -> str:
    """Return the code of a failure."""
    match error:
        case FetchFailed():
            return error.reason
        case TimeoutError() | httpx2.TimeoutException():
            return "too_slow"
        case httpx2.TransportError():
            return "unreachable"
        case MCPError():
            return "bad_arguments" if error.error.code == types.INVALID_PARAMS else "refused"
        case ValidationError() | ValueError():
            return "malformed"
    return "failed"
