"""The operators' key: shown once, kept by them, stored by a deployment as its hash alone."""

import hmac
import secrets
from hashlib import sha256

KEY_PREFIX = "cpo_"
"""The prefix by which a key is recognised where it should not be: by people, and by scanners of repositories."""
KEY_BYTES = 32


def fresh_key() -> str:
    """A key of 256 random bits: too many to guess, so that a plain hash of it gives nothing away."""
    return KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES)


def key_hash(key: str) -> str:
    """SHA-256 of the key, 64 hex digits: what the setting OPERATOR_KEY_HASH holds."""
    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def is_operators_key(key: str, expected_hash: str | None) -> bool:
    """Return whether this is the key of that hash, in constant time. Without a hash there is no key, so nothing is."""
    return expected_hash is not None and hmac.compare_digest(key_hash(key), expected_hash.casefold())
