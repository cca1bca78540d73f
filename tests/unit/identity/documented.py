"""Clients by their metadata documents, with everything around them in memory."""

import json
from typing import Any

from commonplace.identity.oauth.client_documents import Documents
from commonplace.identity.oauth.clients import Clients
from commonplace.identity.records import Client
from commonplace.kernel.limits import Limiter
from tests.fakes.authority import Counters
from tests.fakes.identity_clients import FakeClients, FakeWeb

URL = "https://app.example/client.json"
REDIRECT = "https://app.example/cb"

CHATGPT_URL = "https://chatgpt.com/oauth/AbCdEf123456/client.json"
CHATGPT = {
    "client_id": CHATGPT_URL,
    "client_uri": "https://chatgpt.com/",
    "redirect_uris": ["https://chatgpt.com/connector/oauth/AbCdEf123456"],
    "token_endpoint_auth_method": "private_key_jwt",
    "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "client_name": "ChatGPT",
    "token_endpoint_auth_signing_alg": "RS256",
    "jwks_uri": "https://chatgpt.com/oauth/jwks.json",
}
"""The shape of ChatGPT's document."""

CLAUDE_URL = "https://claude.ai/oauth/mcp-oauth-client-metadata"
CLAUDE = {
    "client_id": CLAUDE_URL,
    "client_name": "Claude",
    "client_uri": "https://claude.ai",
    "redirect_uris": ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
    "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
}
"""The shape of Claude's."""


class Clock:
    """Epoch seconds."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def document(url: str = URL, **changed: Any) -> dict[str, Any]:
    """One that is taken; None leaves a member out."""
    whole = {"client_id": url, "client_name": "An app", "redirect_uris": [REDIRECT]} | changed
    return {name: value for name, value in whole.items() if value is not None}


def text(values: Any) -> bytes:
    return json.dumps(values).encode()


class World:
    """A Web of documents, and who asks for them."""

    def __init__(self, *, loopback: bool = False) -> None:
        self.clock = Clock()
        self.store = FakeClients(self.clock)
        self.web = FakeWeb()
        self.limiter = Limiter(Counters(), self.clock)
        documents = Documents(self.store, self.web, self.limiter, self.clock, loopback=loopback)
        self.clients = Clients(self.store, documents, self.clock)

    def publish(self, url: str = URL, **changed: Any) -> None:
        self.web.pages[url] = text(document(url, **changed))

    def find(self, url: str = URL, network: str = "192.0.2.1") -> Client:
        return self.clients.find(url, network)
