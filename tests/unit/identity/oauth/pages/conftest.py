"""People with browsers before an authorization server in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from httpx2 import Response
from starlette.testclient import TestClient

from commonplace.identity.oauth.server.app import create_app
from commonplace.identity.records import Client, Source
from tests.fakes.authority import standing
from tests.fakes.authorization_server import AuthorizationServer
from tests.one_loop import one_loop

__all__ = ["one_loop"]

ISSUER = "https://garden.example.org"
SITE_CALLBACK = "https://app.example.com/callback?kept=1"
LOOPBACK_CALLBACK = "http://127.0.0.1/callback"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
ALICE, BOB = "0x" + "a1" * 32, "0x" + "b0" * 32
JSON = {"accept": "application/json"}
SAME_SITE = {"origin": ISSUER, "x-commonplace-page": "1"}


class _Form(HTMLParser):
    """Fields of the form that decides, and what is ticked."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fields: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        ticked = given.get("type") not in ("checkbox", "radio") or "checked" in given
        if tag == "input" and given.get("name") and ticked:
            self.fields.append((str(given["name"]), str(given.get("value"))))


def fields(page: Response) -> list[tuple[str, str]]:
    """As a browser would send them, but for the button."""
    return _Form(page.text).fields


def field_of(page: Response, name: str) -> str:
    return next(value for key, value in fields(page) if key == name)


@dataclass
class Browser:
    """One browser, with the cookies that it was given."""

    http: TestClient
    key: str = ALICE

    @property
    def address(self) -> str:
        return str(Account.from_key(self.key).address)

    def get(self, path: str, **headers: str) -> Response:
        return self.http.get(path, headers=headers)

    def sign_in(self, page: Response | None = None) -> Response:
        """With the wallet, for the request that `page` is about, else for the account."""
        state = {"stateId": field_of(page, "handle")} if page is not None else {}
        asked = self.http.get("/siwe/nonce", params={"address": self.address, **state}).json()
        return self.verify({"id": asked["id"], "signature": self.sign(asked["message"]), **state})

    def verify(self, body: Any, **headers: str) -> Response:
        return self.http.post("/siwe/verify", json=body, headers={"origin": ISSUER} | headers)

    def sign(self, text: str) -> str:
        signature: bytes = Account.sign_message(encode_defunct(text=text), self.key).signature
        return f"0x{bytes(signature).hex()}"

    def consent_page(self, path: str) -> Response:
        """Signs in where that is asked first."""
        page = self.get(path)
        if "Allow" in page.text or page.status_code != 200:
            return page
        answer = self.sign_in(page)
        assert answer.status_code == 200, answer.text
        return self.get(answer.json()["redirectTo"])

    def decide(self, page: Response, decision: str = "allow", **headers: str) -> Response:
        """Posts the page's form."""
        return self.post([*fields(page), ("decision", decision)], **headers)

    def post(self, sent: list[tuple[str, str]], **headers: str) -> Response:
        form = {"content-type": "application/x-www-form-urlencoded"}
        return self.http.post("/authorize", content=urlencode(sent), headers=form | headers)

    def ask(self, path: str, body: Any, **headers: str) -> Response:
        """As a script of our pages does."""
        return self.http.post(path, json=body, headers=SAME_SITE | headers)


@dataclass
class World:
    """The server, and browsers that reach it."""

    server: AuthorizationServer
    site: Client = field(init=False)
    loopback: Client = field(init=False)

    def __post_init__(self) -> None:
        self.site = self.client("site", "Site app", SITE_CALLBACK)
        self.loopback = self.client("loopback", "Desk app", LOOPBACK_CALLBACK)
        self.server.standings.held[Account.from_key(ALICE).address] = standing("member")

    def client(self, id: str, name: str, *redirect_uris: str, source: Source = "registered") -> Client:
        made = Client(id=id, name=name, source=source, redirect_uris=redirect_uris)
        self.server.client_store.add_client(made)
        return made

    def browser(self, key: str = ALICE) -> Browser:
        app = create_app(self.server.services)
        return Browser(TestClient(app, base_url=ISSUER, follow_redirects=False, raise_server_exceptions=False), key)


def path(client: Client, **changed: str | None) -> str:
    """Of a request for reading and writing; None leaves a parameter out."""
    values = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": client.redirect_uris[0],
        "resource": f"{ISSUER}/mcp",
        "scope": "knowledge:read knowledge:write",
        "state": "st ate&=",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    given = {name: value for name, value in (values | changed).items() if value is not None}
    return f"/authorize?{urlencode(given)}"


def query(url: str) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(url).query, keep_blank_values=True)


@pytest.fixture
def world() -> World:
    return World(AuthorizationServer(ISSUER))


@pytest.fixture
def make_world() -> Callable[..., World]:
    """With environment variables of one's own."""
    return lambda **changed: World(AuthorizationServer(ISSUER, **changed))


@pytest.fixture
def alice(world: World) -> Browser:
    return world.browser()
