"""Access tokens: verification, claims and signature (RFC 9068, RFC 8725, RFC 7515).

Verification checks the size first, then header, key, signature and every claim. joserfc and cryptography are imported
by the first token. A verified signature is cached under the token's digest, for it does not change; time, audience and
key are checked again each time, and a grant is never cached.
"""

import json
import logging
import re
import secrets
from base64 import urlsafe_b64decode
from binascii import Error as BadBase64
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from commonplace.identity.accounts import Standing
from commonplace.identity.principals import TIERS, ordered, parse_scopes, permission_of
from commonplace.identity.records import Grant
from commonplace.identity.secrets import digest, pseudonym, same
from commonplace.identity.tokens import (
    ALGORITHM,
    LEEWAY_SECONDS,
    MAX_TOKEN_CHARACTERS,
    TYPE,
    AccessClaims,
    BadToken,
    PublicKeys,
    SigningKeys,
)
from commonplace.kernel.environment import is_organisation

if TYPE_CHECKING:
    from joserfc.jwk import ECKey


logger = logging.getLogger(__name__)

KEYS_SECONDS = 300
"""Public keys are relied on for so long: a key that is withdrawn verifies nothing from then on."""
LOOK_AGAIN_SECONDS = 30
"""Between two looks for a key that is not known: whoever invents names of keys must not make us ask each time."""
REMEMBERED_TOKENS = 1_000

_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_HEADER = frozenset(("alg", "typ", "kid"))

MAX_ROLES_CHARACTERS = 1_200
"""The bound of roles, rules and a member's roles together, as JSON. With every other claim at its longest, a token is
below `tokens.MAX_TOKEN_CHARACTERS`."""


class AccessTokens:
    """Verifies tokens of one issuer."""

    def __init__(self, issuer: str, keys: PublicKeys) -> None:
        self._issuer = issuer
        self._keys = keys
        self._verified: OrderedDict[str, tuple[str, AccessClaims]] = OrderedDict()

    def verify(self, token: str, resource: str | None, now: float) -> AccessClaims:
        """Return what the token says. `resource` None takes any audience: for who asks about tokens, never to let in.

        Raises BadToken, and Unavailable when keys cannot be read.
        """
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise BadToken("too_long")
        name = digest(token)
        kid, claims = self._verified.get(name) or self._verify(token)
        if self._keys.find(kid) is None:
            raise BadToken("unknown_key")
        self._verified[name] = kid, claims
        self._verified.move_to_end(name)
        if len(self._verified) > REMEMBERED_TOKENS:
            self._verified.popitem(last=False)
        if claims.issuer != self._issuer:
            raise BadToken("issuer")
        if resource is not None and not same(claims.audience, resource):
            raise BadToken("audience")
        if now >= claims.expires_at + LEEWAY_SECONDS:
            raise BadToken("expired")
        if claims.issued_at > now + LEEWAY_SECONDS or claims.issued_at > claims.expires_at:
            raise BadToken("issued_later")
        return claims

    def _verify(self, token: str) -> tuple[str, AccessClaims]:
        if not _COMPACT.fullmatch(token):
            raise BadToken("malformed")
        # The name of the key. Whatever else a header may ask for, such as a key of its own, is refused.
        part = token.partition(".")[0]
        try:
            header = _object(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        except BadBase64:
            raise BadToken("malformed") from None
        if not set(header) <= _HEADER or header.get("alg") != ALGORITHM or header.get("typ") != TYPE:
            raise BadToken("header")
        kid = header.get("kid")
        if not isinstance(kid, str) or not 0 < len(kid) <= 128:
            raise BadToken("header")
        key = self._keys.find(kid)
        if key is None:
            raise BadToken("unknown_key")
        from joserfc import jws
        from joserfc.errors import JoseError
        from joserfc.jwk import ECKey

        try:
            public = ECKey.import_key({name: key[name] for name in ("kty", "crv", "x", "y")})
            found = jws.deserialize_compact(token, public, algorithms=[ALGORITHM])
        except (JoseError, ValueError, KeyError):
            raise BadToken("signature") from None
        return kid, claims_of(_object(found.payload))


class Jwks(Protocol):
    """The port to the public keys."""

    def jwks(self) -> str | None:
        """A JWK set as JSON text; None before there is one. Raises Unavailable."""
        ...


class RememberedKeys:
    """`tokens.PublicKeys` over what is read at most every five minutes, or half a minute for a key not known."""

    def __init__(self, source: Jwks, clock: Callable[[], float]) -> None:
        self._source = source
        self._clock = clock
        self._keys: Mapping[str, Mapping[str, Any]] = {}
        self._read_at: float | None = None

    def find(self, kid: str) -> Mapping[str, Any] | None:
        age = KEYS_SECONDS if self._read_at is None else self._clock() - self._read_at
        if age >= KEYS_SECONDS or (kid not in self._keys and age >= LOOK_AGAIN_SECONDS):
            self._keys = keys_in(self._source.jwks())
            self._read_at = self._clock()
        return self._keys.get(kid)


def keys_in(jwks: str | None) -> Mapping[str, Mapping[str, Any]]:
    """The keys of a JWK set that we verify with, by their names: EC P-256 alone."""
    try:
        listed = json.loads(jwks or "{}").get("keys", [])
        return {key["kid"]: key for key in listed if (key.get("kty"), key.get("crv")) == ("EC", "P-256")}
    except (ValueError, AttributeError, KeyError, TypeError):
        logger.error("the public keys cannot be read")
        return {}


def claims_of(values: Mapping[str, Any]) -> AccessClaims:
    """The claims as they must be; their sense is not judged. Raises BadToken."""
    try:
        organisation: str | None = values["org"]
        if organisation is not None and not is_organisation(organisation):
            raise ValueError("org")
        return AccessClaims(
            issuer=_text(values, "iss"),
            subject=_text(values, "sub"),
            audience=_text(values, "aud"),
            expires_at=_moment(values, "exp"),
            issued_at=_moment(values, "iat"),
            jti=_text(values, "jti"),
            client_id=_text(values, "client_id"),
            scopes=parse_scopes(_text(values, "scope", empty=True)),
            organisation=organisation,
            member=None if values["member"] is None else _text(values, "member"),
            tier=TIERS[TIERS.index(values["tier"])],
            roles=_texts(values["roles"]),
            rules=_texts(values["rules"]),
            grant=_text(values, "grant"),
            permission="readonly" if values["permission"] == "readonly" else _action(values["permission"]),
            resource_scopes=None if values["resource_scopes"] is None else _texts(values["resource_scopes"]),
            gov_org=_text(values, "gov_org") if "gov_org" in values else None,
            gov_member=_text(values, "gov_member") if "gov_member" in values else None,
            gov_roles=_texts(values["gov_roles"]) if "gov_roles" in values else None,
        )
    except (KeyError, ValueError, TypeError):
        raise BadToken("claims") from None


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadToken("malformed") from None
    if not isinstance(found, dict):
        raise BadToken("malformed")
    return found


def _text(values: Mapping[str, Any], name: str, *, empty: bool = False) -> str:
    found = values[name]
    if not isinstance(found, str) or not (found or empty):
        raise ValueError(name)
    return found


def _moment(values: Mapping[str, Any], name: str) -> int:
    found = values[name]
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise ValueError(name)
    return found


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise ValueError("a list of texts")
    return tuple(values)


def _action(value: Any) -> Any:
    if value != "action":
        raise ValueError("permission")
    return value


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
    held: frozenset[str] = frozenset(),
) -> AccessClaims:
    """Return what an access token of this grant says, which never outlives it. `held` are a member's roles now."""
    organisation = grant.organisation or standing.organisation
    granted = ordered(scopes)
    # A token has room for some names: with more it would be too long for every guard.
    characters = MAX_ROLES_CHARACTERS - _room(standing.rules)
    names: list[str] = []
    for role in standing.roles:
        if _room((*names, role)) > characters:
            break
        names.append(role)
    acts, fits = grant.membership, _room((*names, *held)) <= characters
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
        roles=tuple(names),
        rules=standing.rules,
        grant=secret,
        permission=permission_of(granted) if grant.permission == "action" else "readonly",
        resource_scopes=grant.resource_scopes,
        gov_org=acts.organisation if acts else None,
        gov_member=acts.member if acts else None,
        gov_roles=tuple(sorted(held)) if acts and fits else None,
    )


def _room(texts: Iterable[str]) -> int:
    """Characters of a JSON list."""
    return sum(len(one) + 3 for one in texts)


class Issuer:
    """Signs access tokens, and reads its own again."""

    def __init__(self, issuer: str, keys: SigningKeys, clock: Callable[[], float]) -> None:
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
        from joserfc.jwk import ECKey

        known = self._imported
        if known is None or known[0] != key.kid:
            known = self._imported = key.kid, ECKey.import_key(dict(key.jwk))
        return jws.serialize_compact(header, payload, known[1], algorithms=[ALGORITHM])

    def read(self, token: str) -> AccessClaims:
        """The claims of a token of ours, whatever its audience, up to a minute past its end.

        Raises BadToken, Unavailable.
        """
        return self._tokens.verify(token, None, self._clock())


class _Published:
    """`tokens.PublicKeys` of the key ring itself."""

    def __init__(self, keys: SigningKeys, clock: Callable[[], float]) -> None:
        self._keys = keys
        self._clock = clock

    def find(self, kid: str) -> Mapping[str, Any] | None:
        return next((key for key in self._keys.published(self._clock()) if key["kid"] == kid), None)
