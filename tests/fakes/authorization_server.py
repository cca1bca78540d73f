"""The authorization server over stores in memory: real logic everywhere, stand-ins for the chain and for AWS alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

from commonplace.identity.local_accounts import LocalAccount, LocalSignIn
from commonplace.identity.memberships import Memberships
from commonplace.identity.oauth.server.composition import AuthParts, OAuthServices
from commonplace.identity.principals import TOOLSETS
from commonplace.identity.settings import AuthSettings
from commonplace.identity.wallets import NAMELESS, BadSignature, Named, Terms
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.fetch import Fetcher
from tests.fakes.authority import Accounts, Counters, Ring, standing
from tests.fakes.identity_clients import FakeClients, FakeWeb
from tests.fakes.identity_stores import Clock, MemoryAudit, MemoryGrants, MemorySignIns
from tests.fakes.oidc_provider import CLIENT, ISSUER, FakeProvider

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
        memberships: Memberships | None = None,
        fetcher: Fetcher | None = None,
        **changed: str,
    ) -> None:
        """`groups` are those of accounts at an OIDC provider, `fetcher` reads the Web in place of `web`; `changed` are
        environment variables that differ."""
        given = {} if groups is None else {"OIDC_ISSUER": ISSUER, "OIDC_CLIENT_ID": CLIENT}
        self.settings = settings(issuer, **(given | changed))
        self.clock = now = Clock()
        self.audit, self.web = MemoryAudit(), FakeWeb()
        self.client_store, self.grants = FakeClients(now), MemoryGrants(now, self.audit)
        self.sign_ins = MemorySignIns(now)
        self.standings, self.check, self.names = Accounts(), FakeCheck(), FakeNames()
        self.keys = Ring()
        self.provider = FakeProvider(now, groups or {})
        self.standings.held |= {account.subject: standing(account.tier) for account in local}
        parts = {
            "clients": self.client_store,
            "grants": self.grants,
            "sign_ins": self.sign_ins,
            "audit": self.audit,
            "counters": Counters(),
            "signing_keys": self.keys,
            "standings": self.standings,
            "signatures": self.check,
            "names": self.names,
            "fetcher": fetcher or self.web,
            "provider": self.provider,
            "key": lambda: KEY,
        }
        outside = cast(AuthParts, SimpleNamespace(**parts))
        services = OAuthServices(self.settings, TOOLSETS, now, outside, memberships)
        chosen = LocalSignIn(local, self.standings, self.audit, subject_hash=services.subject_hash, clock=now)
        services.local = chosen if local else None
        self.services = services
        self.claims = services.claims
