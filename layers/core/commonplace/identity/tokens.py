"""The claims of access tokens (JWT, RFC 9068, ES256), and the ports to the keys that sign and verify them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from commonplace.identity.principals import Permission, Tier
from commonplace.kernel.errors import Reasoned

ALGORITHM = "ES256"


TYPE = "at+jwt"


LEEWAY_SECONDS = 60


MAX_TOKEN_CHARACTERS = 6_144
"""A client whose id is a URL of 2,048 characters has tokens of that length and more."""


class BadToken(Reasoned):
    """Not a token of ours that may be used here. `reason` is for the log: a stable code, nothing of the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessClaims:
    """The claims of an access token."""

    issuer: str
    subject: str
    audience: str
    """Exactly one resource, canonical."""
    expires_at: int
    issued_at: int
    jti: str
    client_id: str
    scopes: tuple[str, ...]
    organisation: str | None
    member: str | None
    tier: Tier
    roles: tuple[str, ...]
    """The names for display."""
    rules: tuple[str, ...]
    """As in `accounts.Standing`."""
    grant: str
    """The grant's secret, from which its public name follows: `secrets.digest`."""
    permission: Permission
    resource_scopes: tuple[str, ...] | None
    gov_org: str | None = None
    """The organisation and the member of the grant's membership, which `organisation` and `member` do not name."""
    gov_member: str | None = None
    gov_roles: tuple[str, ...] | None = None
    """Ids of roles; None where there is no room for them: then the grant alone counts."""

    def as_claims(self) -> dict[str, Any]:
        """Return the claims as they stand in the JWT."""
        acts = {name: getattr(self, name) for name in ("gov_org", "gov_member", "gov_roles")}
        return {
            "iss": self.issuer,
            "sub": self.subject,
            "aud": self.audience,
            "exp": self.expires_at,
            "iat": self.issued_at,
            "jti": self.jti,
            "client_id": self.client_id,
            "scope": " ".join(self.scopes),
            "org": self.organisation,
            "member": self.member,
            "tier": self.tier,
            "roles": list(self.roles),
            "rules": list(self.rules),
            "grant": self.grant,
            "permission": self.permission,
            "resource_scopes": None if self.resource_scopes is None else list(self.resource_scopes),
            **{name: value for name, value in acts.items() if value is not None},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """A private key of the key ring."""

    kid: str
    jwk: Mapping[str, Any]
    """EC P-256 with `d` (RFC 7518). Never logged."""
    signs_from: int
    """Epoch seconds; published before, so that every cache knows it in time."""
    retires_at: int
    """Verifies until then."""


class SigningKeys(Protocol):
    """The key ring of the authorization server."""

    def signing(self, now: float) -> SigningKey:
        """The newest that signs. Raises Unavailable when there is none."""
        ...

    def published(self, now: float) -> Sequence[Mapping[str, Any]]:
        """Public JWKs (RFC 7517) of every key that signs, will sign, or signed what is still valid."""
        ...


class PublicKeys(Protocol):
    """The port to the keys that verify tokens."""

    def find(self, kid: str) -> Mapping[str, Any] | None:
        """The public JWK, looked up anew (but not too often) when it is not known. Raises Unavailable."""
        ...
