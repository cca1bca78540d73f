"""The authorization server over stores in memory: real logic everywhere, stand-ins for the chain and for AWS alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from commonplace.identity.access_tokens import Issuer, subject_hash
from commonplace.identity.local_accounts import LocalAccount, LocalSignIn
from commonplace.identity.oauth.client_auth import Assertions, Authentication
from commonplace.identity.oauth.client_documents import Documents
from commonplace.identity.oauth.clients import Clients
from commonplace.identity.oauth.connections import Connections
from commonplace.identity.oauth.consent import Consents
from commonplace.identity.oauth.pages.html import frame
from commonplace.identity.oauth.registration import Registrar
from commonplace.identity.oauth.server.composition import OAuthServices
from commonplace.identity.oauth.token_endpoint import TokenEndpoint
from commonplace.identity.oidc import OidcSignIn
from commonplace.identity.oidc_sessions import NO_PROVIDER, ProviderSessions, ReadsClaims
from commonplace.identity.principals import TOOLSETS
from commonplace.identity.resources import Resources
from commonplace.identity.settings import AuthSettings
from commonplace.identity.wallets import NAMELESS, BadSignature, Named, SignIn, SignInSettings, Terms
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limits import Limiter
from tests.fakes.authority import Accounts, Counters, Ring, standing
from tests.fakes.identity_clients import FakeClients, FakeWeb
from tests.fakes.identity_stores import Clock, MemoryAudit, MemoryGrants, MemorySignIns
from tests.fakes.oidc_provider import FakeProvider

KEY = b"a key of tests, 32 bytes or more"


@dataclass
class FakeCheck:
    """`commonplace.identity.wallets.SignatureCheck`: real keys; `contracts` names the owner of each contract wallet."""

    contracts: dict[str, str] = field(default_factory=dict)
    down: bool = False

    def check(self, text: str, signature: str, terms: Terms) -> str:
        from eth_account import Account
        from eth_account.messages import encode_defunct

        lines = text.split("\n")
        if not lines[0].startswith(f"{terms.domain} wants") or f"Nonce: {terms.nonce}" not in lines:
            raise BadSignature("binding")
        if self.down:
            raise Unavailable("The chain cannot be read just now.")
        try:
            signer = str(Account.recover_message(encode_defunct(text=text), signature=signature))
        except Exception as error:
            raise BadSignature("malformed") from error
        if signer != self.contracts.get(lines[1], lines[1]):
            raise BadSignature("signer")
        return lines[1]


@dataclass
class FakeNames:
    """`commonplace.identity.wallets.Names`."""

    names: dict[str, Named] = field(default_factory=dict)

    def of(self, address: str) -> Named:
        return self.names.get(address, NAMELESS)


def settings(issuer: str, **changed: str) -> AuthSettings:
    """As a deployment that says nothing but what it must has them."""
    arn = "arn:aws:secretsmanager:us-east-1:000000000000:secret:"
    return AuthSettings.from_environ(
        {
            "STAGE": "dev",
            "BASE_URL": issuer,
            "SITE_NAME": "Garden of Knowledge",
            "IDENTITY_TABLE": "identity",
            "ROLE_CACHE_TABLE": "cache",
            "ACTIVITY_TABLE": "activity",
            "IDENTITY_SECRET_ARN": f"{arn}identity",
            "RPC_SECRET_ARN": f"{arn}rpc",
            "SIGNING_SECRET_ARN": f"{arn}signing",
            "AUTH_RATE_LIMIT": "0",
            "AUTH_AGENT_SESSIONS_PER_HOUR": "0",
        }
        | changed
    )


class AuthorizationServer:
    """Everything in one place, for a test to look at and to change."""

    def __init__(
        self,
        issuer: str,
        *,
        groups: dict[str, list[str]] | None = None,
        local: Sequence[LocalAccount] = (),
        **changed: str,
    ) -> None:
        """`groups` are those of accounts at an OIDC provider; `changed` are environment variables that differ."""
        self.settings = settings(issuer, **changed)
        self.clock = now = Clock()
        self.audit, self.web = MemoryAudit(), FakeWeb()
        self.client_store, self.grants = FakeClients(now), MemoryGrants(now, self.audit)
        self.sign_ins = MemorySignIns(now)
        self.standings, self.check, self.names = Accounts(), FakeCheck(), FakeNames()
        self.keys = Ring()
        self.provider = FakeProvider(now, groups or {})
        sessions = ProviderSessions(self.provider, self.sign_ins, now)
        self.claims: ReadsClaims = NO_PROVIDER if groups is None else sessions
        oidc = OidcSignIn(self.provider, sessions, self.sign_ins, now, issuer=issuer, name=self.settings.oidc_name)
        self.standings.held |= {account.subject: standing(account.tier) for account in local}
        self.services = self._services(now, None if groups is None else oidc, local)

    def _services(self, now: Clock, oidc: OidcSignIn | None, local: Sequence[LocalAccount]) -> OAuthServices:
        issuer, limiter = self.settings.issuer, Limiter(Counters(), now)
        documents = Documents(self.client_store, self.web, limiter, now)
        clients = Clients(self.client_store, documents, now)
        resources = Resources(issuer, self.settings.toolsets, TOOLSETS)
        assertions = Assertions(
            self.client_store, self.web, limiter, now, issuer=issuer, token_endpoint=f"{issuer}/token"
        )
        return OAuthServices(
            settings=self.settings,
            frame=frame(self.settings, issuer),
            clock=now,
            resources=resources,
            clients=clients,
            registrar=Registrar(self.client_store, limiter, now),
            authentication=Authentication(clients, assertions),
            token_endpoint=TokenEndpoint(
                store=self.grants,
                standings=self.standings,
                claims=self.claims,
                issuer=Issuer(issuer, self.keys, now),
                resources=resources,
                key=_key,
                clock=now,
            ),
            consents=Consents(
                store=self.sign_ins,
                grants=self.grants,
                clients=clients,
                key=_key,
                issuer=issuer,
                clock=now,
                audit=self.audit,
            ),
            connections=Connections(grants=self.grants, signins=self.sign_ins, key=_key, clock=now),
            sign_in=SignIn(
                self.sign_ins,
                self.check,
                standings=self.standings,
                names=self.names,
                limiter=limiter,
                settings=SignInSettings(base_url=issuer, site_name=self.settings.site_name),
                audit=self.audit,
                subject_hash=_subject_hash,
                clock=now,
            ),
            standings=self.standings,
            claims=self.claims,
            grants=self.grants,
            sign_ins=self.sign_ins,
            keys=self.keys,
            audit=self.audit,
            limiter=limiter,
            subject_hash=_subject_hash,
            oidc=oidc,
            local=LocalSignIn(local, self.standings, self.audit, subject_hash=_subject_hash, clock=now)
            if local
            else None,
        )


def _key() -> bytes:
    return KEY


def _subject_hash(subject: str) -> str:
    return subject_hash(KEY, subject)
