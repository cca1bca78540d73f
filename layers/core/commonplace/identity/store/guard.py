"""What a guard reads of the identity table, and the one thing it writes there: that a grant was used.

Grants as `adapters.dynamodb_grants` keeps them: `pk = grant#{id}`, `sk = grant`. Public keys: `pk = keys`,
`sk = public`, attribute `jwks`. A guard's policy allows these reads and an update of two attributes, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.identity.bearer_auth import USE_SECONDS
from commonplace.identity.records import Grant
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, decoded, key, names

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PUBLIC_KEYS = key("keys", "public")

OF_LAST_USE = ("pk", "sk", "lastUsedAt", "lastUsedFrom")
"""Every attribute that the write of a last use names, in its conditions as well: a guard's policy allows no other."""

Reads = Callable[[Item], Mapping[str, Any] | None]
"""One item by its key, consistently; raises what the client raises."""

T = TypeVar("T")

_LOST = "ConditionalCheckFailedException"


class DynamoGuard:
    """`guarding.GrantReader`, and where `verifying.RememberedKeys` reads. Every read is consistent."""

    def __init__(self, client: DynamoDBClient, table: str, reads: Reads | None = None) -> None:
        """`reads` stand for the client's own, where those take too long."""
        self._client = client
        self._table = table
        self._reads = reads or self._read

    def grant(self, grant_id: str) -> Grant | None:
        return decoded(Grant, self._item(key(f"grant#{grant_id}", "grant")))

    def jwks(self) -> str | None:
        item = self._item(PUBLIC_KEYS)
        return item["jwks"].get("S") if item and "jwks" in item else None

    def touch(self, grant_id: str, now: int, network: str) -> None:
        """Nothing is made where there is no grant, and nothing is set back."""
        unused = "attribute_not_exists(#lastUsedAt) OR #lastUsedAt <= :before"
        self._asked(
            self._client.update_item,
            TableName=self._table,
            Key=key(f"grant#{grant_id}", "grant"),
            UpdateExpression="SET #lastUsedAt = :now, #lastUsedFrom = :network",
            ConditionExpression=f"attribute_exists(#pk) AND ({unused})",
            ExpressionAttributeNames=names("pk", "lastUsedAt", "lastUsedFrom"),
            ExpressionAttributeValues={
                ":now": {"N": str(now)},
                ":before": {"N": str(now - USE_SECONDS)},
                ":network": {"S": network},
            },
        )

    def _item(self, wanted: Item) -> Mapping[str, Any] | None:
        return self._asked(self._reads, wanted)

    def _read(self, wanted: Item) -> Mapping[str, Any] | None:
        return self._client.get_item(TableName=self._table, Key=wanted, ConsistentRead=True).get("Item")

    def _asked(self, ask: Callable[..., T], *given: Any, **named: Any) -> T | None:
        """Raises Unavailable. A condition that does not hold is no answer."""
        try:
            return ask(*given, **named)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == _LOST:
                return None
            raise _silent() from error
        except BotoCoreError as error:
            raise _silent() from error


def _silent() -> Unavailable:
    return Unavailable("Who calls cannot be judged now.", hint="Without a token, what is public can be read.")
