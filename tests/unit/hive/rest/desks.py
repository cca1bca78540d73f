"""The hive over REST: real tokens and roles, a store in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from fastapi import FastAPI
from httpx2 import Response
from starlette.testclient import TestClient

from commonplace.client import Client
from commonplace.hive.operations import HiveServices
from commonplace.hive.rest import hive_routes
from commonplace.identity.resources import Resources
from commonplace.kernel.limits import Limiter
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.rest.app import create_app
from commonplace.web.rest.declaration import Site
from tests.fakes.access_tokens import ISSUER, Realm
from tests.fakes.hives import Counters, FakeHive

API = f"{ISSUER}/api"
HIVE = "/api/v1/hive"
SERVED = ("knowledge", "hive")
LOCKS = "Lock rows in one order, or two transactions wait for each other."


@dataclass
class Somebody:
    """An account with a token, who calls."""

    client: TestClient
    token: str | None

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Response:
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        sent: dict[str, Any] = {} if body is None else {"json": body}
        return self.client.request(method, f"{HIVE}{path}", headers=headers, params=query, **sent)

    def told(self, method: str, path: str, body: Any = None, **query: Any) -> dict[str, Any]:
        """The answer of a call that succeeds."""
        answer = self.ask(method, path, body, **query)
        assert answer.status_code == 200, answer.text
        assert answer.headers["cache-control"] == "private, no-store"
        assert "Authorization" in answer.headers["vary"]
        found: dict[str, Any] = answer.json()
        return found

    def refused(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, str, str]:
        """Status, code and message of a call that fails."""
        answer = self.ask(method, path, body, **query)
        error: Mapping[str, Any] = answer.json()["error"]
        return answer.status_code, error["code"], error["message"]

    def add(self, content: str, **more: Any) -> str:
        body = {"content": content, "category": "bug_fix"} | more
        return str(self.told("POST", "/contributions", body)["contributionId"])


@dataclass
class Desk:
    """One deployment."""

    world: FakeHive = field(default_factory=lambda: FakeHive(names={"acme": "Acme DAO"}))
    realm: Realm = field(default_factory=Realm)

    def __post_init__(self) -> None:
        self.client = TestClient(self.app(), base_url=ISSUER, follow_redirects=False)

    def app(self) -> FastAPI:
        resources = Resources(ISSUER, SERVED, SERVED)
        return create_app(
            [hive_routes(HiveServices(self.world.hive, self.world.reviews))],
            Site(reads_per_minute=0, searches_per_minute=0),
            Limiter(Counters(), lambda: 0.0),
            accounts=Accounts(self.realm.principals, Challenges(resources), resources.api),
        )

    def somebody(
        self, name: str = "a", *scopes: str, organisation: str = "acme", tier: Any = "member", **claims: Any
    ) -> Somebody:
        subject = self.realm.account(tier, f"agent:{name}", organisation)
        token = self.realm.token(API, *(scopes or ("hive:write",)), subject=subject, **claims)
        return Somebody(self.client, token)

    def reviewer(self, organisation: str = "acme") -> Somebody:
        return self.somebody(f"reviewer-{organisation}", "hive:admin", organisation=organisation, tier="vibecoder")


def client_of(desk: Desk, token: str | None) -> Client:
    """The client over the real application, without a socket."""

    def forward(request: httpx.Request) -> httpx.Response:
        told = desk.client.request(
            request.method, request.url.raw_path.decode(), headers=dict(request.headers), content=request.read()
        )
        kept = {name: value for name, value in told.headers.items() if name != "content-encoding"}
        return httpx.Response(told.status_code, headers=kept, content=told.content)

    return Client(ISSUER, token, transport=httpx.MockTransport(forward))
