"""Access tokens, with grants and accounts behind them, signed by keys that are made here."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from joserfc import jws

from commonplace.identity.access_tokens import AccessTokens, RememberedKeys
from commonplace.identity.accounts import Denials, Profile, Standing
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.keyring import new_key, public_jwks
from commonplace.identity.memberships import Memberships
from commonplace.identity.principals import Tier, permission_of
from commonplace.identity.records import Grant
from commonplace.identity.roles import DEFAULT_SCOPES
from commonplace.identity.secrets import digest, fresh, seal
from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.tokens import AccessClaims, SigningKey
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.errors import Unavailable
from tests.fakes.identity_stores import Clock, MemoryGrants

ISSUER = "https://kb.example.org"
ROSA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
"""A wallet."""


@dataclass
class Accounts:
    """`accounts.Standings`: what each account's roles give now. Who is not in it has none."""

    standings: dict[str, Standing] = field(default_factory=dict)
    down: bool = False
    asked: list[str] = field(default_factory=list)

    def of(
        self, subject: str, *, claims: tuple[str, ...] = (), rules: tuple[str, ...] = (), fresh: bool = False
    ) -> Standing:
        self.asked.append(subject)
        if self.down:
            raise Unavailable("The chain cannot be read just now.")
        return self.standings.get(subject, standing("public"))


def standing(tier: Tier, organisation: str | None = "default") -> Standing:
    """What the default role map gives this tier."""
    below = {"public": ("public",), "member": ("public", "member"), "vibecoder": ("public", "member", "vibecoder")}
    scopes = frozenset[str]().union(*(DEFAULT_SCOPES[name] for name in below[tier]))  # type: ignore[index]
    return Standing(tier=tier, roles=(tier,), scopes=scopes, organisation=organisation)


class Keys:
    """What the guard's store says of public keys, and how often it was asked."""

    def __init__(self, *keys: SigningKey) -> None:
        self.keys = list(keys)
        self.asked = 0
        self.down = False

    def jwks(self) -> str | None:
        self.asked += 1
        if self.down:
            raise Unavailable("The store does not answer.")
        return public_jwks(self.keys, 0)


@dataclass
class Realm:
    """One deployment's identity: keys, grants, accounts."""

    clock: Clock = field(default_factory=Clock)
    accounts: Accounts = field(default_factory=Accounts)
    issuer: str = ISSUER
    names: bool = False
    memberships: Memberships | None = None
    stored: DynamoGrants | None = None
    """The store of grants; without one they are in memory, where `grant_of` and `change` reach them."""

    def __post_init__(self) -> None:
        self.grants: Any = self.stored or MemoryGrants(self.clock)
        self.key = new_key(0)
        self.keys = Keys(self.key)
        self.tokens = AccessTokens(self.issuer, RememberedKeys(self.keys, self.clock))
        self.refused: list[AuditRecord] = []
        self.principals = TokenPrincipals(
            self.tokens,
            self.grants,
            self.accounts,
            self.clock,
            names=self.names,
            memberships=self.memberships,
            denials=Denials(self.refused.append, self.clock, organisation="default"),
        )

    def account(self, tier: Tier, subject: str = ROSA, organisation: str | None = "default") -> str:
        """Gives the account the roles of this tier, from now on."""
        self.accounts.standings[subject] = standing(tier, organisation)
        return subject

    def token(self, resource: str, *scopes: str, subject: str = ROSA, **claims: Any) -> str:
        """Of a new grant with these scopes. `claims` replace fields of what the token says."""
        return self.sign(self.granted(resource, *scopes, subject=subject, **claims).as_claims())

    def granted(
        self,
        resource: str,
        *scopes: str,
        subject: str = ROSA,
        opened: Mapping[str, Any] | None = None,
        **claims: Any,
    ) -> AccessClaims:
        """A new grant, with the fields of `opened`, and what a token of it says."""
        secret, agent = fresh(), subject.startswith("agent:")
        now = int(self.clock.now)
        has = self.accounts.standings.get(subject, standing("public"))
        grant = Grant(
            id=digest(secret),
            kind="agent" if agent else "person",
            subject_hash=digest(subject),
            client_id="client",
            client_name="A client",
            resource=resource,
            scopes=scopes,
            created_at=now,
            expires_at=now + 86_400,
            organisation=has.organisation if agent else None,
            sealed_profile=seal(secret, "profile", Profile(subject=subject, kind="wallet", name="rosa.eth").as_json()),
            last_used_at=now,
        )
        self.grants.open(replace(grant, **(opened or {})))
        told = AccessClaims(
            issuer=self.issuer,
            subject=subject,
            audience=resource,
            expires_at=now + 3_600,
            issued_at=now,
            jti=fresh("jti"),
            client_id="client",
            scopes=scopes,
            organisation=has.organisation,
            member="mem_rosa" if has.organisation else None,
            tier=has.tier,
            roles=has.roles,
            rules=has.rules,
            grant=secret,
            permission=permission_of(scopes),
            resource_scopes=None,
        )
        return replace(told, **claims)

    def sign(self, claims: Mapping[str, Any], key: SigningKey | None = None, **header: Any) -> str:
        """A JWT of these claims, whatever they are. A header of None is left out."""
        from joserfc.jwk import ECKey

        key = key or self.key
        told = {"alg": "ES256", "typ": "at+jwt", "kid": key.kid} | header
        told = {name: value for name, value in told.items() if value is not None}
        registry = jws.JWSRegistry(strict_check_header=False)
        return jws.serialize_compact(told, json.dumps(claims), ECKey.import_key(dict(key.jwk)), registry=registry)

    def grant_of(self, claims: AccessClaims) -> Grant:
        found: Grant = (
            self.grants.grant(digest(claims.grant)) if self.stored else self.grants.grants[digest(claims.grant)]
        )
        return found

    def change(self, claims: AccessClaims, **fields: Any) -> None:
        """Replaces fields of the grant."""
        grant = self.grant_of(claims)
        self.grants.grants[grant.id] = replace(grant, **fields)


def unsigned(header: Mapping[str, Any], claims: Mapping[str, Any], signature: str = "AAAA") -> str:
    """The parts of a JWT, with anything for a signature."""
    parts = [urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, claims)]
    return ".".join([*parts, signature])
