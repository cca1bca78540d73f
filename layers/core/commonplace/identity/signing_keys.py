"""The key ring that signs access tokens, read from Secrets Manager."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commonplace.identity import keyring
from commonplace.identity.tokens import SigningKey
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.secrets import KeptSecret

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient


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
