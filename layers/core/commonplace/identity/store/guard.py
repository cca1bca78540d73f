"""The guard's access to the identity table: grants and public keys to read, and a grant's last use to write.

Grants are stored by `identity.store.grants`; public keys are `pk = keys`, `sk = public`, attribute `jwks`. A guard's
policy allows these reads and an update of two attributes, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.identity.bearer_auth import USE_SECONDS
from commonplace.identity.records import Grant
from commonplace.identity.store.grant_writes import grant_key
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import decoded, key
from commonplace.kernel.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PUBLIC_KEYS = key("keys", "public")

OF_LAST_USE = ("pk", "sk", "lastUsedAt", "lastUsedFrom")
"""Every attribute that the write of a last use names, in its conditions as well: a guard's policy allows no other."""


class DynamoGuard:
    """`bearer_auth.GrantReader`, and where `access_tokens.RememberedKeys` reads. Every read is consistent."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        # Somebody waits behind it: a write that meets another one is not tried again.
        self._table = Table(client, table, attempts=1)

    def grant(self, grant_id: str) -> Grant | None:
        with _judging():
            return decoded(Grant, self._table.get(grant_key(grant_id)))

    def jwks(self) -> str | None:
        with _judging():
            jwks = (self._table.get(PUBLIC_KEYS) or {}).get("jwks")
        return jwks if isinstance(jwks, str) else None

    def touch(self, grant_id: str, now: int, network: str) -> None:
        """Nothing is made where there is no grant, and nothing is set back."""
        use = self._table.update(
            grant_key(grant_id),
            "SET #lastUsedAt = :now, #lastUsedFrom = :network",
            "attribute_exists(#pk) AND (attribute_not_exists(#lastUsedAt) OR #lastUsedAt <= :before)",
            now=now,
            before=now - USE_SECONDS,
            network=network,
        )
        with _judging():
            self._table.write(use)


@contextmanager
def _judging() -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise Unavailable(
            "Who calls cannot be judged now.", hint="Without a token, what is public can be read."
        ) from error
