"""Secrets of the authorization server: generation, hashes, derivation, and encryption under them.

Everything here is 256-bit random, so a plain SHA-256 at rest is enough, and a lookup by hash leaks no timing. What a
grant knows of a person is encrypted under the grant's own secret, which only its codes and tokens carry: a dump of the
table reveals nothing (AES-256-GCM, keys by HKDF-SHA-256, RFC 5869).
"""

import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

CODE, REFRESH, CLIENT_SECRET, HANDLE, SESSION, TOKEN = "cpc_", "cpr_", "cps_", "cph_", "cpn_", "cpa_"
"""The prefix by which a secret is recognised where it should not be: by people, and by scanners of repositories."""

NONCE_BYTES = 12


class SealBroken(Exception):
    """The key does not fit, or somebody changed the bytes."""


def fresh(prefix: str = "") -> str:
    """A secret of 256 random bits."""
    return prefix + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """SHA-256, 64 hex digits: what is stored in place of a secret."""
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def grant_secret(token: str) -> str:
    """Return the secret of the grant of a member's token: the same again for who has the token, and no way back."""
    return urlsafe_b64encode(sha256(f"commonplace grant|{token}".encode("utf-8", "surrogateescape")).digest()).decode()


def same(one: str, other: str) -> bool:
    """Equality in constant time."""
    return hmac.compare_digest(one.encode("utf-8", "surrogateescape"), other.encode("utf-8", "surrogateescape"))


def heir(key: bytes, parent: str, salt: str) -> str:
    """The refresh token that follows another: the same again for who has both token and salt, for nobody else."""
    told = hmac.digest(key, f"refresh|{salt}|{parent}".encode(), "sha256")
    return REFRESH + urlsafe_b64encode(told).decode().rstrip("=")


def pseudonym(key: bytes, kind: str, *parts: str) -> str:
    """A lasting name for somebody, 32 hex digits, meaningless without the key."""
    return hmac.digest(key, json.dumps([kind, *parts]).encode(), "sha256").hex()[:32]


def seal(secret: str, purpose: str, values: Mapping[str, Any]) -> bytes:
    """JSON, encrypted so that only who has the secret reads it, for this purpose alone."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(NONCE_BYTES)
    text = json.dumps(dict(values), separators=(",", ":")).encode()
    return nonce + AESGCM(_key(secret, purpose)).encrypt(nonce, text, purpose.encode())


def unseal(secret: str, purpose: str, sealed: bytes) -> dict[str, Any]:
    """Raises SealBroken."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        text = AESGCM(_key(secret, purpose)).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], purpose.encode())
        return dict(json.loads(text))
    except (InvalidTag, ValueError) as error:
        raise SealBroken(purpose) from error


def _key(secret: str, purpose: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), 32, salt=None, info=f"commonplace {purpose}".encode()).derive(secret.encode())
