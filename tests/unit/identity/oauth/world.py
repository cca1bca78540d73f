"""An authorization server in memory, reached the way API Gateway reaches it, and a client that goes the whole way."""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import parse_qs, urlencode, urlsplit

from commonplace.identity import keyring
from commonplace.identity.accounts import Profile, Standing, Standings
from commonplace.identity.oauth.authorization_request import understand
from commonplace.identity.oauth.server.app import create_app
from commonplace.identity.oauth.server.composition import AuthParts, OAuthServices
from commonplace.identity.principals import TOOLSETS
from commonplace.identity.records import Client
from commonplace.identity.resources import Resources
from commonplace.identity.settings import AuthSettings
from commonplace.identity.tokens import SigningKey
from commonplace.kernel.errors import Unavailable
from commonplace.web.gateway import Gateway
from tests.fakes.authority import Counters
from tests.fakes.identity_clients import FakeClients, FakeWeb
from tests.fakes.identity_stores import Clock, MemoryAudit, MemoryGrants, MemorySignIns
from tests.fakes.oidc_provider import FakeProvider

BASE = "https://kb.example.org"
MCP = f"{BASE}/mcp"
REDIRECT = "https://app.example.net/callback"
ALICE = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
VERIFIER = "v" * 43
KEY = b"k" * 64
ARN = "arn:aws:secretsmanager:us-east-1:123456789012:secret:x"
ENVIRONMENT = {
    "STAGE": "dev",
    "BASE_URL": BASE,
    "SITE_NAME": "Garden",
    "IDENTITY_TABLE": "identity",
    "ROLE_CACHE_TABLE": "cache",
    "ACTIVITY_TABLE": "activity",
    "IDENTITY_SECRET_ARN": ARN,
    "RPC_SECRET_ARN": ARN,
    "SIGNING_SECRET_ARN": ARN,
    "AUTH_AGENT_SESSIONS_PER_HOUR": "0",
}
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Answer:
    """What came back through the gateway."""

    status: int
    headers: Mapping[str, str]
    body: str

    def json(self) -> Any:
        return json.loads(self.body)


class Ring:
    """`identity.tokens.SigningKeys` over a ring that tests may rotate."""

    def __init__(self, now: float) -> None:
        self.keys = keyring.next_ring((), int(now) - 86_400)

    def signing(self, now: float) -> SigningKey:
        key = keyring.signer(self.keys, now)
        if key is None:
            raise Unavailable("There is no key.")
        return key

    def published(self, now: float) -> tuple[dict[str, Any], ...]:
        return keyring.published(self.keys, now)


def member() -> Standing:
    return Standing(
        tier="member",
        roles=("member",),
        scopes=frozenset({"knowledge:read", "knowledge:write"}),
        organisation="default",
    )


@dataclass
class Roles:
    """`identity.accounts.Standings`: what each account's roles give, or that nobody can say."""

    standing: Standing = field(default_factory=member)
    down: bool = False

    def of(
        self, subject: str, *, claims: tuple[str, ...] = (), rules: tuple[str, ...] = (), fresh: bool = False
    ) -> Standing:
        if self.down:
            raise Unavailable("The chain does not answer.", retry_after_seconds=30)
        return self.standing


class World:
    """Every part in memory; `send` is a request through API Gateway and the function's handler."""

    def __init__(self, **environment: str) -> None:
        self.clock = Clock()
        self.settings = AuthSettings.from_environ(ENVIRONMENT | environment)
        self.resources = Resources(self.settings.issuer, self.settings.toolsets, TOOLSETS)
        self.audit = MemoryAudit()
        self.grants = MemoryGrants(self.clock, self.audit)
        self.sign_ins = MemorySignIns(self.clock)
        self.store = FakeClients(self.clock)
        self.web = FakeWeb()
        self.ring = Ring(self.clock.now)
        self.roles = Roles()
        parts = {
            "clients": self.store,
            "grants": self.grants,
            "sign_ins": self.sign_ins,
            "audit": self.audit,
            "counters": Counters(),
            "signing_keys": self.ring,
            "standings": self.accounts(),
            "fetcher": self.web,
            "provider": FakeProvider(self.clock),
            "key": lambda: KEY,
        }
        self.services = OAuthServices(self.settings, TOOLSETS, self.clock, cast(AuthParts, SimpleNamespace(**parts)))
        self.limiter, self.clients = self.services.limiter, self.services.clients
        self.app = create_app(self.services)
        self._gateway = Gateway(self.app)

    def accounts(self) -> Standings:
        """What judges them."""
        return self.roles

    def send(
        self,
        method: str,
        path: str,
        body: str | bytes | None = None,
        *,
        query: str = "",
        source: str = "192.0.2.1",
        **headers: str,
    ) -> Answer:
        """Underscores in the names of headers stand for hyphens."""
        event = payload(method, path, body, query=query, source=source, headers=_named(headers))
        return answered(self._gateway(event, cast(Any, SimpleNamespace())))

    def post(self, path: str, form: Mapping[str, str], **headers: str) -> Answer:
        return self.send("POST", path, urlencode(form), **({"content_type": FORM} | headers))

    def register(self, **metadata: Any) -> dict[str, Any]:
        """The 201 answer to a registration; a public client of one redirect URI unless told otherwise."""
        given = {"redirect_uris": [REDIRECT], "client_name": "App", "token_endpoint_auth_method": "none"} | metadata
        answer = self.send("POST", "/register", json.dumps(given), content_type="application/json")
        assert answer.status == 201, answer.body
        return dict(answer.json())

    def code(
        self,
        client_id: str,
        scope: str = "knowledge:read knowledge:write",
        resource: str = MCP,
        redirect: str = REDIRECT,
        profile: Profile | None = None,
    ) -> str:
        """Asked for and allowed by Alice, or by whom `profile` names, by the logic that the pages call."""
        profile = profile or Profile(subject=ALICE, kind="wallet", address=ALICE)
        asked = understand(
            [
                ("client_id", client_id),
                ("redirect_uri", redirect),
                ("response_type", "code"),
                ("code_challenge", challenge()),
                ("code_challenge_method", "S256"),
                ("resource", resource),
                ("scope", scope),
                ("state", "st"),
            ],
            self.clients,
            self.resources,
            issuer=self.settings.issuer,
        )
        begun = self.services.consents.begin(asked.request)
        url = self.services.consents.decide(
            begun.handle,
            begun.cookie,
            begun.csrf,
            profile=profile,
            standing=self.services.standings.of(profile.subject, claims=profile.claims),
            allowed=scope.split(" "),
        )
        return parse_qs(urlsplit(url).query)["code"][0]

    def exchange(self, client_id: str, code: str, **more: str) -> Answer:
        form = {"grant_type": "authorization_code", "client_id": client_id, "code": code}
        return self.post("/token", form | {"redirect_uri": REDIRECT, "code_verifier": VERIFIER} | more)

    def refresh(self, client_id: str, token: str, **more: str) -> Answer:
        form = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": token}
        return self.post("/token", form | more)

    def tokens(self, client_id: str) -> dict[str, Any]:
        """A client's first tokens."""
        answer = self.exchange(client_id, self.code(client_id))
        assert answer.status == 200, answer.body
        return dict(answer.json())

    def operators_client(self, **values: Any) -> tuple[str, str]:
        """The id and the secret of a client that an operator made, for introspection."""
        secret = "cps_" + "s" * 43
        self.store.add_client(
            Client(
                id="resource-server",
                name="Resource server",
                source="operator",
                auth_method="client_secret_basic",
                secret_hash=hashlib.sha256(secret.encode()).hexdigest(),
                grant_types=("client_credentials",),
                **values,
            )
        )
        return "resource-server", secret


def challenge(verifier: str = VERIFIER) -> str:
    """PKCE S256."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def basic(client_id: str, secret: str) -> str:
    """The value of an Authorization header."""
    return "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()


def payload(
    method: str,
    path: str,
    body: str | bytes | None = None,
    *,
    query: str = "",
    source: str = "192.0.2.1",
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """An event of an HTTP API, payload 2.0; bytes travel as base64."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"host": "kb.example.org", "x-forwarded-proto": "https", **(headers or {})},
        "requestContext": {
            "domainName": "kb.example.org",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": source, "userAgent": "test"},
            "requestId": "request",
            "routeKey": "$default",
            "stage": "$default",
        },
        **({} if body is None else {"body": base64.b64encode(body).decode() if isinstance(body, bytes) else body}),
        "isBase64Encoded": isinstance(body, bytes),
    }


def answered(told: Mapping[str, Any]) -> Answer:
    """The function's answer as its caller sees it."""
    body = told.get("body") or ""
    if told.get("isBase64Encoded"):
        body = base64.b64decode(body).decode()
    return Answer(told["statusCode"], {name.lower(): value for name, value in told["headers"].items()}, body)


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
