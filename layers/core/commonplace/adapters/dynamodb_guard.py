"""What a guard reads of the identity table, and the one thing it writes there: that a grant was used.

Grants as `adapters.dynamodb_grants` keeps them: `pk = grant#{id}`, `sk = grant`. Public keys: `pk = keys`,
`sk = public`, attribute `jwks`. A guard's policy allows these reads and an update of two attributes, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.adapters.dynamodb_items import Item, decoded, key, names
from commonplace.errors import Unavailable
from commonplace.identity.guarding import USE_SECONDS
from commonplace.identity.records import Grant

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PUBLIC_KEYS = key("keys", "public")

_LOST = "ConditionalCheckFailedException"


class DynamoGuard:
    """`guarding.GrantReader`, and where `verifying.RememberedKeys` reads. Every read is consistent."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

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
        answer = self._asked(self._client.get_item, Key=wanted, ConsistentRead=True)
        found: Mapping[str, Any] | None = answer.get("Item")
        return found

    def _asked(self, ask: Callable[..., Any], **parameters: Any) -> Mapping[str, Any]:
        """Raises Unavailable. A condition that does not hold is an empty answer."""
        try:
            answer: Mapping[str, Any] = ask(TableName=self._table, **parameters)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == _LOST:
                return {}
            raise _silent() from error
        except BotoCoreError as error:
            raise _silent() from error
        return answer


def _silent() -> Unavailable:
    return Unavailable("Who calls cannot be judged now.", hint="Without a token, what is public can be read.")
