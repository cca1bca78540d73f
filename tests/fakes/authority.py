"""The logic of the authorization server over any stores, with two clients, an agent and accounts whose roles change."""

import base64
import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from commonplace.identity import keyring
from commonplace.identity.access_tokens import Issuer
from commonplace.identity.accounts import Profile, Standing
from commonplace.identity.memberships import Memberships
from commonplace.identity.oauth.authorization_request import ValidRequest, read_query, understand
from commonplace.identity.oauth.clients import Clients, UnknownClient
from commonplace.identity.oauth.connections import Connections
from commonplace.identity.oauth.consent import Begun, Consents
from commonplace.identity.oauth.token_endpoint import TokenEndpoint
from commonplace.identity.oidc_sessions import NO_PROVIDER, ReadsClaims
from commonplace.identity.ports import GrantStore, SignInStore
from commonplace.identity.principals import TIERS, Tier
from commonplace.identity.records import Client
from commonplace.identity.resources import Resources
from commonplace.identity.roles import DEFAULT_SCOPES
from commonplace.identity.tokens import AccessClaims, SigningKey
from commonplace.kernel.audit import AuditLog
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limits import Limiter
from tests.fakes.identity_stores import Clock, MemoryGrants, MemorySignIns

BASE = "https://kb.example.org"
MCP = f"{BASE}/mcp"
REDIRECT = "https://app.example.net/callback?kept=1"
OTHER_REDIRECT = "https://other.example.net/back"
ALICE = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
BOB = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
VERIFIER = "v" * 43
KEY = b"k" * 64

APP = Client(id="app", name="An app", source="registered", redirect_uris=(REDIRECT,))
OTHER = Client(
    id="other",
    name="Another",
    source="registered",
    redirect_uris=(OTHER_REDIRECT, "https://other.example.net/second"),
    auth_method="client_secret_basic",
    grant_types=("authorization_code",),
)
LAPTOP = Client(id="laptop", name="On a laptop", source="registered", redirect_uris=("http://127.0.0.1/back?x=1",))
AGENT = Client(
    id="agent",
    name="Gardener",
    source="operator",
    auth_method="client_secret_basic",
    grant_types=("client_credentials",),
    scopes=("knowledge:write", "memory:read"),
    organisation="default",
    agent="gardener",
    tier="member",
)

RING: list[SigningKey] = []


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def standing(tier: Tier, *more: str, organisation: str | None = "default") -> Standing:
    """What the default map gives a tier, and `more` scopes."""
    names = TIERS[: TIERS.index(tier) + 1]
    scopes = frozenset(more).union(*(DEFAULT_SCOPES[name] for name in names))
    return Standing(tier=tier, roles=(tier,), scopes=scopes, organisation=organisation)


class Counters:
    """`limits.quota.CounterStore`."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, key: str, amount: int, expires_at: int) -> int:
        self.counts[key] += amount
        return self.counts[key]


@dataclass
class Accounts:
    """`accounts.Standings`. `down` is a chain that does not answer."""

    held: dict[str, Standing] = field(default_factory=dict)
    down: bool = False
    asked: list[tuple[str, bool]] = field(default_factory=list)

    def of(
        self, subject: str, *, claims: tuple[str, ...] = (), rules: tuple[str, ...] = (), fresh: bool = False
    ) -> Standing:
        self.asked.append((subject, fresh))
        if self.down:
            raise Unavailable("The chain cannot be read.", retry_after_seconds=7)
        return self.held.get(subject, standing("public"))


@dataclass
class Known(Clients):
    """Finds clients."""

    clients: dict[str, Client]

    def find(self, client_id: str, network: str = "") -> Client:
        if client_id not in self.clients:
            raise UnknownClient("id_unknown")
        return self.clients[client_id]


@dataclass
class Ring:
    """`tokens.SigningKeys`, one key for all tests: making one takes a while."""

    down: bool = False

    def signing(self, now: float) -> SigningKey:
        if self.down:
            raise Unavailable("There is no key.", retry_after_seconds=3)
        return _key()

    def published(self, now: float) -> Any:
        return keyring.published([_key()], now)


def _key() -> SigningKey:
    if not RING:
        RING.append(keyring.new_key(0))
    return replace(RING[0], retires_at=10**11)


class Authority:
    """Authorize, consent, exchange, refresh, in a line or two each."""

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        grants: GrantStore | None = None,
        signins: SignInStore | None = None,
        audit: AuditLog | None = None,
        sessions_per_hour: int = 0,
        claims: ReadsClaims = NO_PROVIDER,
        memberships: Memberships | None = None,
    ) -> None:
        self.memberships = memberships
        self.clock = clock or Clock()
        self.claims_of = claims
        self.memory = MemoryGrants(self.clock)
        self.signins: SignInStore = signins or MemorySignIns(self.clock)
        self.grants: GrantStore = grants or self.memory
        self.audit: AuditLog = audit or self.memory.audit
        self.accounts = Accounts({ALICE: standing("member"), BOB: standing("vibecoder")})
        self.known = Known({client.id: client for client in (APP, OTHER, LAPTOP, AGENT)})
        self.ring = Ring()
        self.resources = Resources(BASE, ("knowledge", "memory"), ("knowledge", "memory", "hive"))
        self.limits = Limiter(Counters(), self.clock)
        self.issuer = Issuer(BASE, self.ring, self.clock)
        self.consents = Consents(
            store=self.signins,
            grants=self.grants,
            audit=self.audit,
            clients=self.known,
            key=lambda: KEY,
            issuer=BASE,
            clock=self.clock,
            memberships=memberships,
            limits=self.limits,
            sessions_per_hour=sessions_per_hour,
            organisation="default",
        )
        self.token_endpoint = self.token_endpoint_over(self.grants)
        self.connections = Connections(
            grants=self.grants, signins=self.signins, key=lambda: KEY, clock=self.clock, organisation="default"
        )

    def token_endpoint_over(self, store: GrantStore) -> TokenEndpoint:
        return TokenEndpoint(
            store=store,
            standings=self.accounts,
            claims=self.claims_of,
            issuer=self.issuer,
            resources=self.resources,
            key=lambda: KEY,
            clock=self.clock,
            memberships=self.memberships,
            audit=self.audit,
            limits=self.limits,
            organisation="default",
        )

    def understand(self, *more: tuple[str, str], **changes: str | None) -> ValidRequest:
        """A good request of APP with changes: None leaves a parameter out, `more` is added as it is."""
        return understand(self.query(*more, **changes), self.known, self.resources, issuer=BASE)

    @staticmethod
    def query(*more: tuple[str, str], **changes: str | None) -> list[tuple[str, str]]:
        values: dict[str, str | None] = {
            "client_id": APP.id,
            "redirect_uri": REDIRECT,
            "response_type": "code",
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
            "state": "st&te =\N{SNOWMAN}",
            "scope": "knowledge:read knowledge:write",
            "resource": MCP,
        }
        given = [(name, value) for name, value in (values | changes).items() if value is not None]
        return read_query(urlencode([*given, *more], errors="surrogateescape").encode())

    def begin(self, **changes: str | None) -> Begun:
        return self.consents.begin(self.understand(**changes).request)

    def decide(self, begun: Begun, subject: str = ALICE, **changes: Any) -> str:
        """Allows all that is offered, unless `changes` say otherwise."""
        pending = self.consents.look(begun.handle, begun.cookie)
        held = self.accounts.held.get(subject, standing("public"))
        values: dict[str, Any] = {
            "handle": begun.handle,
            "cookie": begun.cookie,
            "csrf": begun.csrf,
            "profile": profile(subject),
            "standing": held,
            "allowed": self.consents.offered(pending.request, held) if pending else (),
            "network": "192.0.2.1",
        }
        return self.consents.decide(**values | changes)

    def code(self, subject: str = ALICE, *, allowed: Any = None, **changes: str | None) -> str:
        more = {} if allowed is None else {"allowed": allowed}
        return told(self.decide(self.begin(**changes), subject, **more))["code"]

    def exchange(self, code: str, client: Client = APP, **changes: str | None) -> dict[str, Any]:
        values = {"code": code, "redirect_uri": client.redirect_uris[0], "code_verifier": VERIFIER, "resource": MCP}
        form = {name: value for name, value in (values | changes).items() if value is not None}
        return self.token_endpoint.exchange(form, client, "192.0.2.2")

    def tokens(self, subject: str = ALICE, **changes: Any) -> dict[str, Any]:
        return self.exchange(self.code(subject, **changes))

    def refresh(self, token: str, client: Client = APP, **form: str) -> dict[str, Any]:
        return self.token_endpoint.refresh({"refresh_token": token, **form}, client, "192.0.2.3")

    def active(self, answer: dict[str, Any]) -> bool:
        """Whether the access token of an answer is good just now."""
        client = replace(AGENT, organisation=None)
        return bool(self.token_endpoint.introspect(answer["access_token"], client)["active"])

    def claims(self, answer: dict[str, Any]) -> AccessClaims:
        return self.issuer.read(answer["access_token"])


def profile(subject: str) -> Profile:
    return Profile(subject=subject, kind="wallet", address=subject, name="alice.eth" if subject == ALICE else "bob.eth")


def told(url: str) -> dict[str, str]:
    """The parameters of a redirect, each of which came once."""
    pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True, errors="surrogateescape")
    assert len(pairs) == len(dict(pairs))
    return dict(pairs)


def stored(authority: Authority) -> str:
    """All that the stores in memory hold, as text."""
    assert isinstance(authority.signins, MemorySignIns)
    return authority.memory.dump() + authority.signins.dump() + repr(authority.memory.audit.records)
