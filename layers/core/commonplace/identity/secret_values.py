"""Secrets of identity: the key of pseudonyms, the addresses of nodes, the client secret at the OIDC provider."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from commonplace.kernel.secrets import KeptSecret

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

Chain = Literal["optimism", "mainnet"]

MIN_KEY_CHARACTERS = 32


class PseudonymKey(KeptSecret[bytes]):
    """`{"key"}`: pseudonyms and heirs of refresh tokens are made with it. Whoever changes it ends every grant."""

    def __init__(
        self, client: SecretsManagerClient, arn: str, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(client, arn, _key, monotonic=monotonic)


class RpcUrls(KeptSecret[dict[str, tuple[str, ...]]]):
    """`{"optimism": [URL, ...], "mainnet": [URL, ...]}`: the first is called before its fall-backs."""

    def __init__(
        self, client: SecretsManagerClient, arn: str, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(client, arn, _urls, monotonic=monotonic)

    def of(self, chain: Chain) -> tuple[str, ...]:
        """Empty where there is no node of this chain. Raises Unavailable."""
        return self.current().get(chain, ())


class ClientSecret(KeptSecret[str]):
    """`{"clientSecret"}`: what this deployment proves itself with at a provider that signs people in."""

    def __init__(
        self, client: SecretsManagerClient, arn: str, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(client, arn, _client_secret, monotonic=monotonic)


def _key(text: str) -> bytes:
    key = _object(text).get("key")
    if not isinstance(key, str) or len(key) < MIN_KEY_CHARACTERS:
        raise ValueError(f'the secret must be {{"key"}} of at least {MIN_KEY_CHARACTERS} characters')
    return key.encode()


def _urls(text: str) -> dict[str, tuple[str, ...]]:
    values = _object(text)
    if not all(isinstance(urls, list) and all(isinstance(url, str) for url in urls) for urls in values.values()):
        raise ValueError("the secret must be an object of lists of URLs, by chain")
    return {chain: tuple(urls) for chain, urls in values.items()}


def _client_secret(text: str) -> str:
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
