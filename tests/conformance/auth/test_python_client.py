"""The Python SDK's client finds the sign-in by itself, and asks for more when a tool needs more."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider, oauth2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.types import TextContent
from pydantic import AnyUrl

from tests.conformance.auth.conftest import MEMBER, STRANGER, VIBECODER, Place
from tests.person import Person, Wallet, query_of

CALLBACK = "http://127.0.0.1:33418/callback"

pytestmark = pytest.mark.laptop


class Storage:
    """What the client keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Desk:
    """A client, and the person whom it sends to the browser."""

    def __init__(self, place: Place, wallet: Wallet, *, document: str | None = None) -> None:
        self.storage, self.person = Storage(), Person(wallet)
        self.asked: list[dict[str, str]] = []
        self._led_to = ""
        self.auth = OAuthClientProvider(
            place.mcp,
            OAuthClientMetadata(
                client_name="Desk", redirect_uris=[AnyUrl(CALLBACK)], token_endpoint_auth_method="none"
            ),
            self.storage,
            self._browse,
            self._come_back,
            client_metadata_url=document,
        )

    async def _browse(self, url: str) -> None:
        self.asked.append(query_of(url))
        self._led_to = await anyio.to_thread.run_sync(lambda: self.person.decide(url))

    async def _come_back(self) -> AuthorizationCodeResult:
        assert self._led_to.startswith(CALLBACK), self._led_to
        told = query_of(self._led_to)
        return AuthorizationCodeResult(code=told["code"], state=told["state"], iss=told["iss"])


def called(place: Place, desk: Desk, mode: Any, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    async def run() -> list[Any]:
        async with (
            httpx2.AsyncClient(auth=desk.auth, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(place.mcp, http_client=http), mode=mode) as client,
        ):
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return anyio.run(run)


def text_of(result: Any) -> str:
    (block,) = (one for one in result.content if isinstance(one, TextContent))
    return block.text


DOCUMENT = ("get_document", {"id": "same-pool-same-day", "contentType": "pattern"})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_member_is_asked_once_and_reads_whole_documents(mode: Any, place: Place) -> None:
    desk = Desk(place, MEMBER)

    public, whole = called(place, desk, mode, ("define_term", {"term": "neap tide"}), DOCUMENT)

    assert not public.is_error
    assert not whole.is_error
    assert "pool" in text_of(whole)
    assert len(desk.asked) == 1
    assert desk.storage.client and desk.storage.client.client_id == desk.asked[0]["client_id"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_tool_that_needs_more_leads_to_a_second_consent(mode: Any, place: Place) -> None:
    desk = Desk(place, VIBECODER)
    draft = {"contentType": "pattern", "title": f"A draft by {mode}", "content": "Look twice."}

    read, drafted = called(place, desk, mode, DOCUMENT, ("create_draft", draft))

    assert not read.is_error
    assert not drafted.is_error, text_of(drafted)
    first, second = desk.asked
    assert "knowledge:write" not in first["scope"].split()
    assert "knowledge:write" in second["scope"].split()
    assert "knowledge:write" in (desk.storage.tokens.scope or "").split()  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_account_that_never_may_reads_so_and_is_not_asked_again(mode: Any, place: Place) -> None:
    desk = Desk(place, STRANGER)

    (refused,) = called(place, desk, mode, DOCUMENT)

    assert refused.is_error
    assert "Access denied. This tool requires member access." in text_of(refused)
    assert len(desk.asked) == 1


@contextmanager
def published(name: str, document: dict[str, Any]) -> Iterator[str]:
    """A metadata document at an address of this machine; its `client_id` is that address."""

    class Documents(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(document | {"client_id": url}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Documents)
    url = f"http://127.0.0.1:{server.server_port}/{name}.json"
    serving = threading.Thread(target=server.serve_forever, args=(0.01,))
    serving.start()
    try:
        yield url
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_that_publishes_what_it_is_registers_nowhere(
    mode: Any, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The SDK takes https addresses alone; a laptop's documents are behind http.
    monkeypatch.setattr(oauth2, "is_valid_client_metadata_url", lambda url: url is not None)
    document = {"client_name": "Published desk", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}
    with published(mode, document) as url:
        desk = Desk(place, MEMBER, document=url)
        (read,) = called(place, desk, mode, DOCUMENT)

    assert not read.is_error, text_of(read)
    assert desk.asked[0]["client_id"] == url
    assert any("Published desk" in answer.text for answer in desk.person.seen)
