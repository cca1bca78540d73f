"""An OAuth client on this computer, with a page of its own that the browser comes back to."""

import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx

from commonplace_local.cloud.http_api import HttpApi, Route
from commonplace_local.cloud.runtime import Outcome


@dataclass
class OAuthClient:
    """Asks for access, and has what came back."""

    issuer: str
    redirect_uri: str
    client_id: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(8))
    answers: list[dict[str, str]] = field(default_factory=list)
    """Queries with which browsers came back."""

    def register(self, name: str) -> None:
        body = {"client_name": name, "redirect_uris": [self.redirect_uri], "token_endpoint_auth_method": "none"}
        answer = httpx.post(f"{self.issuer}/register", json=body)
        assert answer.status_code == 201, answer.text
        self.client_id = answer.json()["client_id"]

    def url(self, scope: str = "knowledge:read knowledge:write", **changed: str) -> str:
        challenge = urlsafe_b64encode(sha256(self.verifier.encode()).digest()).decode().rstrip("=")
        values = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "resource": f"{self.issuer}/mcp",
            "scope": scope,
            "state": self.state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self.issuer}/authorize?{urlencode(values | changed)}"

    def exchange(self) -> dict[str, Any]:
        """Tokens for the newest code."""
        answer = httpx.post(f"{self.issuer}/token", data=self.exchange_form())
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def refresh(self, token: str) -> dict[str, Any]:
        """New tokens for this refresh token."""
        form = {"grant_type": "refresh_token", "client_id": self.client_id, "refresh_token": token}
        answer = httpx.post(f"{self.issuer}/token", data=form)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def exchange_form(self) -> dict[str, str]:
        return {
            "grant_type": "authorization_code",
            "client_id": self.client_id,
            "code": self.answers[-1]["code"],
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
        }


@contextmanager
def listening(issuer: str) -> Iterator[OAuthClient]:
    """Listens for the browser on a port of its own: another origin than the server's."""
    clients: list[OAuthClient] = []

    def arrived(_function: str, event: bytes, _seconds: float) -> Outcome:
        query = json.loads(event)["rawQueryString"]
        if query:
            clients[0].answers.append(dict(parse_qsl(query)))
        page = {"statusCode": 200, "headers": {"content-type": "text/html"}, "body": "<title>Back</title><h1>Back</h1>"}
        return Outcome(json.dumps(page).encode())

    api = HttpApi(arrived)
    api.routes.append(Route("$default", "client"))
    clients.append(OAuthClient(issuer, f"{api.url}/callback"))
    api.start()
    try:
        yield clients[0]
    finally:
        api.stop()
