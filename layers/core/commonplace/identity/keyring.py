"""The key ring that signs access tokens: its stored form, its public form, and its rotation.

A new key is published before it signs, so that every cache of public keys holds it by then. The key before it verifies
for as long as a token of it can live, and loses its private half as soon as it stops signing.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from commonplace.identity.tokens import ALGORITHM, SigningKey

LEAD_SECONDS = 900
"""Between a key's publication and its first signature: three times as long as any cache keeps public keys."""
KEEP_SECONDS = 370 * 86_400
"""A key that signs no more still verifies for so long: operators mint tokens that last for a year."""
UNREPLACED_SECONDS = 10 * 366 * 86_400
"""A key that nothing replaces signs for so long: whoever forgets to rotate should not be locked out by that."""
MAX_KEYS = 20
"""The bytes that a key ring may hold; the oldest go first."""

_PUBLIC = ("kty", "crv", "x", "y")
_COORDINATE_BYTES = 32


class BadKeyRing(ValueError):
    """The secret is no key ring. Never quotes it."""


def new_key(signs_from: int) -> SigningKey:
    """A key of P-256 that nobody has seen, named by its thumbprint (RFC 7638)."""
    from cryptography.hazmat.primitives.asymmetric import ec

    numbers = ec.generate_private_key(ec.SECP256R1()).private_numbers()
    public = {
        "kty": "EC",
        "crv": "P-256",
        "x": _coordinate(numbers.public_numbers.x),
        "y": _coordinate(numbers.public_numbers.y),
    }
    ordered = {name: public[name] for name in sorted(public)}
    told = sha256(json.dumps(ordered, separators=(",", ":")).encode()).digest()
    return SigningKey(
        kid=urlsafe_b64encode(told).decode().rstrip("="),
        jwk={**public, "d": _coordinate(numbers.private_value)},
        signs_from=signs_from,
        retires_at=signs_from + UNREPLACED_SECONDS,
    )


def next_ring(ring: Sequence[SigningKey], now: int, *, at_once: bool = False) -> tuple[SigningKey, ...]:
    """The ring after a rotation, newest first. The first key of all signs without delay.

    `at_once` is for a key that has leaked: a new one signs now, and nothing that the others signed is valid any more.
    """
    known = sorted((key for key in ring if now < key.retires_at), key=_by_age, reverse=True)
    if at_once or not known:
        return (new_key(now),)
    fresh = new_key(now + LEAD_SECONDS)
    signs = next((key for key in known if key.signs_from <= now), known[-1])
    kept = [key if key.signs_from >= signs.signs_from else without_private_half(key) for key in known]
    ends = fresh.signs_from + KEEP_SECONDS
    return (fresh, *(replace(key, retires_at=min(key.retires_at, ends)) for key in kept))[:MAX_KEYS]


def signer(ring: Sequence[SigningKey], now: float) -> SigningKey | None:
    """The newest that signs now."""
    able = (key for key in ring if key.signs_from <= now < key.retires_at and "d" in key.jwk)
    return max(able, key=_by_age, default=None)


def published(ring: Sequence[SigningKey], now: float) -> tuple[dict[str, Any], ...]:
    """The public half of every key that signs, will sign, or signed what may still be valid (RFC 7517)."""
    valid = sorted((key for key in ring if now < key.retires_at), key=_by_age, reverse=True)
    return tuple(
        {**{name: key.jwk[name] for name in _PUBLIC}, "kid": key.kid, "use": "sig", "alg": ALGORITHM} for key in valid
    )


def public_jwks(ring: Sequence[SigningKey], now: float) -> str:
    """As JSON text: what verifiers read."""
    return json.dumps({"keys": list(published(ring, now))}, separators=(",", ":"))


def as_json(ring: Sequence[SigningKey]) -> str:
    """Return what the secret holds."""
    keys = [
        {"kid": key.kid, "jwk": dict(key.jwk), "signsFrom": key.signs_from, "retiresAt": key.retires_at} for key in ring
    ]
    return json.dumps({"keys": keys}, separators=(",", ":"))


def from_json(text: str) -> tuple[SigningKey, ...]:
    """An empty ring is one whose first key has yet to be made. Raises BadKeyRing."""
    try:
        values = json.loads(text)
        listed = values.get("keys", [])
        return tuple(_key(one) for one in listed)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadKeyRing('a key ring is {"keys": [{"kid", "jwk", "signsFrom", "retiresAt"}]}') from None


def without_private_half(key: SigningKey) -> SigningKey:
    """The same, able to verify alone."""
    return replace(key, jwk={name: key.jwk[name] for name in _PUBLIC})


def _key(values: Mapping[str, Any]) -> SigningKey:
    jwk = {name: str(values["jwk"][name]) for name in (*_PUBLIC, "d") if name in values["jwk"]}
    if jwk["kty"] != "EC" or jwk["crv"] != "P-256" or not jwk["x"] or not jwk["y"]:
        raise BadKeyRing("keys are of P-256")
    return SigningKey(
        kid=str(values["kid"]),
        jwk=jwk,
        signs_from=int(values["signsFrom"]),
        retires_at=int(values["retiresAt"]),
    )


def _by_age(key: SigningKey) -> tuple[int, str]:
    return key.signs_from, key.kid


def _coordinate(number: int) -> str:
    """A number as JWKs write it: 32 bytes, base64url (RFC 7518, section 6.2)."""
    return urlsafe_b64encode(number.to_bytes(_COORDINATE_BYTES)).decode().rstrip("=")
