"""The key that secrets of webhooks are sealed with."""

from __future__ import annotations

from collections.abc import Callable

from commonplace.identity.secret_values import KeptSecret, pseudonym_key
from commonplace.kernel import aws

SEALED_FOR = "governance webhook"
"""The purpose of what is sealed."""


def sealing_key(arn: str | None) -> Callable[[], str] | None:
    """Return what reads the key, when it is needed and not before; None without a secret."""
    if arn is None:
        return None
    held = KeptSecret(aws.secretsmanager(), arn, pseudonym_key)
    return lambda: held.current().decode()
