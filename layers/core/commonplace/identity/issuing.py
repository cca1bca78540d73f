"""Access tokens: what goes into one, and the signature (RFC 9068, RFC 7515)."""

import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from commonplace.identity.access_tokens import AccessTokens
from commonplace.identity.accounts import Standing
from commonplace.identity.records import Grant
from commonplace.identity.scopes import ordered, permission_of
from commonplace.identity.secrets import pseudonym
from commonplace.identity.tokens import ALGORITHM, TYPE, AccessClaims, SigningKey, SigningKeys

if TYPE_CHECKING:
    from joserfc.jwk import ECKey

MAX_ROLES_CHARACTERS = 1_200
"""Of roles and rules together, as JSON. With every other claim at its longest, a token stays below
`tokens.MAX_TOKEN_CHARACTERS`."""


def subject_hash(key: bytes, subject: str, organisation: str | None = None) -> str:
    """Under which a subject's grants are kept. An agent's name is its organisation's own: that goes in as well."""
    if subject.startswith("agent:"):
        return pseudonym(key, "subject", subject, organisation or "")
    return pseudonym(key, "subject", subject)


def member_id(key: bytes, organisation: str, subject: str) -> str:
    """The account as a member of the organisation."""
    return "mem_" + pseudonym(key, "member", organisation, subject)[:24]


def claims_for(
    grant: Grant,
    secret: str,
    subject: str,
    standing: Standing,
    *,
    scopes: Iterable[str],
    issuer: str,
    key: bytes,
    now: int,
    seconds: int,
) -> AccessClaims:
    """What an access token of this grant says. It never outlives the grant."""
    organisation = grant.organisation or standing.organisation
    granted = ordered(scopes)
    return AccessClaims(
        issuer=issuer,
        subject=subject,
        audience=grant.resource,
        expires_at=min(now + seconds, grant.expires_at),
        issued_at=now,
        jti=secrets.token_hex(16),
        client_id=grant.client_id,
        scopes=granted,
        organisation=organisation,
        member=member_id(key, organisation, subject) if organisation else None,
        tier=standing.tier,
        roles=_fitting(standing.roles, MAX_ROLES_CHARACTERS - _room(standing.rules)),
        rules=standing.rules,
        grant=secret,
        permission=permission_of(granted) if grant.permission == "action" else "readonly",
        resource_scopes=grant.resource_scopes,
    )


def _fitting(roles: Iterable[str], characters: int) -> tuple[str, ...]:
    """The names that a token has room for: with more it would be too long for every guard."""
    found: list[str] = []
    for role in roles:
        if _room((*found, role)) > characters:
            break
        found.append(role)
    return tuple(found)


def _room(texts: Iterable[str]) -> int:
    """Characters of a JSON list."""
    return sum(len(one) + 3 for one in texts)


class Issuer:
    """Signs access tokens, and reads its own again."""

    def __init__(self, issuer: str, keys: SigningKeys, clock: Callable[[], float]) -> None:
        """`clock` gives epoch seconds."""
        self.issuer = issuer
        self._keys = keys
        self._clock = clock
        self._tokens = AccessTokens(issuer, _Published(keys, clock))
        self._imported: tuple[str, ECKey] | None = None

    def sign(self, claims: AccessClaims) -> str:
        """The JWT. Raises Unavailable without a key."""
        from joserfc import jws

        key = self._keys.signing(self._clock())
        header = {"alg": ALGORITHM, "typ": TYPE, "kid": key.kid}
        payload = json.dumps(claims.as_claims(), separators=(",", ":"))
        return jws.serialize_compact(header, payload, self._import(key), algorithms=[ALGORITHM])

    def read(self, token: str) -> AccessClaims:
        """The claims of a token of ours, whatever its audience, up to a minute past its end.

        Raises BadToken, Unavailable.
        """
        return self._tokens.verify(token, None, self._clock())

    def _import(self, key: SigningKey) -> "ECKey":
        from joserfc.jwk import ECKey

        known = self._imported
        if known is None or known[0] != key.kid:
            known = self._imported = key.kid, ECKey.import_key(dict(key.jwk))
        return known[1]


class _Published:
    """`tokens.PublicKeys` of the key ring itself."""

    def __init__(self, keys: SigningKeys, clock: Callable[[], float]) -> None:
        self._keys = keys
        self._clock = clock

    def find(self, kid: str) -> Mapping[str, Any] | None:
        return next((key for key in self._keys.published(self._clock()) if key["kid"] == kid), None)
