"""Secrets of identity as Secrets Manager holds them: how each is read out of its text, and the key ring over one.

A parser raises ValueError in words that do not quote the secret.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commonplace.identity import keyring
from commonplace.identity.tokens import SigningKey
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.secrets import KeptSecret

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

MIN_KEY_CHARACTERS = 32

__all__ = ["KeptSecret", "SecretSigningKeys", "client_secret", "pseudonym_key", "rpc_urls"]


def pseudonym_key(text: str) -> bytes:
    """`{"key"}`: pseudonyms and heirs of refresh tokens are made with it. Whoever changes it ends every grant."""
    key = _object(text).get("key")
    if not isinstance(key, str) or len(key) < MIN_KEY_CHARACTERS:
        raise ValueError(f'the secret must be {{"key"}} of at least {MIN_KEY_CHARACTERS} characters')
    return key.encode()


def rpc_urls(text: str) -> dict[str, tuple[str, ...]]:
    """`{"optimism": [URL, ...], "mainnet": [URL, ...]}`: the first is called before its fall-backs."""
    values = _object(text)
    if not all(isinstance(urls, list) and all(isinstance(url, str) for url in urls) for urls in values.values()):
        raise ValueError("the secret must be an object of lists of URLs, by chain")
    return {chain: tuple(urls) for chain, urls in values.items()}


def client_secret(text: str) -> str:
    """`{"clientSecret"}`: what this deployment proves itself with at a provider that signs people in."""
    value = _object(text).get("clientSecret")
    if not isinstance(value, str) or not value:
        raise ValueError('the secret must be {"clientSecret"}')
    return value


def _object(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise ValueError("the secret must be a JSON object")
    return values


class SecretSigningKeys:
    """`identity.tokens.SigningKeys`. A rotation is seen within five minutes, long before the new key signs."""

    def __init__(
        self, client: SecretsManagerClient, arn: str, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._ring = KeptSecret(client, arn, keyring.from_json, monotonic=monotonic)

    def signing(self, now: float) -> SigningKey:
        key = keyring.signer(self._ring.current(), now)
        if key is None:
            raise Unavailable("There is no key yet to sign tokens with.", retry_after_seconds=60)
        return key

    def published(self, now: float) -> Sequence[Mapping[str, Any]]:
        return keyring.published(self._ring.current(), now)
