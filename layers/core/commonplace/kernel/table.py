"""Calls to tables of records, and what a write can end in: done, lost to somebody faster, or no answer."""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from commonplace.kernel.audit import Lost
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, key, names, typed

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_dynamodb import DynamoDBClient

logger = logging.getLogger(__name__)

_RANDOM = random.SystemRandom()
"""The system's, for a generator of one's own goes on alike in every copy of a snapshot (SnapStart)."""

CONFLICT_ATTEMPTS = 6
"""Of one write, while others write the same items in transactions of theirs."""
BATCH_KEYS = 100
RETRY_AFTER_SECONDS = 2

_NAME = re.compile(r"#(\w+)")


@dataclass(frozen=True, slots=True)
class Writes:
    """Parts of a transaction on one table. Expressions name attributes as `#name` and values as `:name`."""

    table: str

    def new(self, where: Item, item: Item) -> Item:
        """An item that must not be there yet."""
        return {"Put": self._told("attribute_not_exists(pk)") | {"Item": item | where}}

    def update(self, where: Item, change: str, condition: str, **values: Any) -> Item:
        return {"Update": self._told(condition, change, values) | {"Key": where, "UpdateExpression": change}}

    def check(self, where: Item, condition: str, **values: Any) -> Item:
        return {"ConditionCheck": self._told(condition, "", values) | {"Key": where}}

    def put(self, where: Item, item: Item, condition: str, **values: Any) -> Item:
        """In place of what is there, if the condition holds of that."""
        return {"Put": self._told(condition, "", values) | {"Item": item | where}}

    def delete(self, where: Item, condition: str = "", **values: Any) -> Item:
        if not condition:
            return {"Delete": {"TableName": self.table, "Key": where}}
        return {"Delete": self._told(condition, "", values) | {"Key": where}}

    def _told(self, condition: str, change: str = "", values: Mapping[str, Any] = MappingProxyType({})) -> Item:
        told: Item = {"TableName": self.table, "ConditionExpression": condition}
        used = set(_NAME.findall(f"{condition} {change}"))
        if used:
            told["ExpressionAttributeNames"] = names(*used)
        if values:
            told["ExpressionAttributeValues"] = {f":{name}": typed(value) for name, value in values.items()}
        return told


@contextmanager
def answering(table: str) -> Iterator[None]:
    """Raises Unavailable in place of anything that the client raises."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise _unavailable(table) from error


def get(client: DynamoDBClient, table: str, pk: str, sk: str) -> Item | None:
    """A consistent read. Raises Unavailable."""
    with answering(table):
        answer = client.get_item(TableName=table, Key=key(pk, sk), ConsistentRead=True)
    found = answer.get("Item")
    return dict(found) if found else None


def get_all(client: DynamoDBClient, table: str, keys: Sequence[Item]) -> list[Item]:
    """Consistent reads of many items, in no order. Raises Unavailable."""
    found: list[Item] = []
    for start in range(0, len(keys), BATCH_KEYS):
        asked: Any = {table: {"Keys": list(keys[start : start + BATCH_KEYS]), "ConsistentRead": True}}
        for _ in range(CONFLICT_ATTEMPTS):
            with answering(table):
                answer = client.batch_get_item(RequestItems=asked)
            found += [dict(item) for item in answer["Responses"].get(table, [])]
            asked = answer.get("UnprocessedKeys")
            if not asked:
                break
        else:
            raise _unavailable(table)
    return found


def query(client: DynamoDBClient, table: str, pk: str, **more: Any) -> Iterator[Item]:
    """Every item of a partition, consistently. Raises Unavailable."""
    asked: Any = {
        "TableName": table,
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": pk}},
        "ConsistentRead": True,
    } | more
    while True:
        with answering(table):
            answer = client.query(**asked)
        yield from (dict(item) for item in answer["Items"])
        if "LastEvaluatedKey" not in answer:
            return
        asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def holds(table: str, write: Callable[[], Any], *, sleep: Callable[[float], None] = time.sleep) -> bool:
    """Does one conditional write; False when its condition does not hold. Raises Unavailable."""
    from botocore.exceptions import BotoCoreError, ClientError

    for attempt in range(CONFLICT_ATTEMPTS):
        try:
            write()
        except ClientError as error:
            if _code(error) == "ConditionalCheckFailedException":
                return False
            if _code(error) != "TransactionConflictException":
                raise _unavailable(table) from error
        except BotoCoreError as error:
            raise _unavailable(table) from error
        else:
            return True
        sleep(_pause(attempt))
    raise _unavailable(table)


def transact(
    client: DynamoDBClient, table: str, writes: Sequence[Item], *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """All of the writes or none. Raises Lost when a condition does not hold, Unavailable for all else.

    A transaction that was cancelled for others' sake alone is tried again: it has written nothing.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    items: Any = list(writes)
    for attempt in range(CONFLICT_ATTEMPTS):
        try:
            client.transact_write_items(TransactItems=items)
            return
        except ClientError as error:
            reasons = _reasons(error)
            if "ConditionalCheckFailed" in reasons:
                raise Lost from None
            if not reasons or reasons - {"TransactionConflict"}:
                raise _unavailable(table) from error
        except BotoCoreError as error:
            raise _unavailable(table) from error
        sleep(_pause(attempt))
    raise _unavailable(table)


def _pause(attempt: int) -> float:
    return _RANDOM.uniform(0, min(0.4, 0.02 * 2**attempt))


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")


def _reasons(error: ClientError) -> frozenset[str]:
    if _code(error) in ("TransactionConflictException", "TransactionInProgressException"):
        return frozenset({"TransactionConflict"})
    told: Any = error.response.get("CancellationReasons", [])
    return frozenset(reason["Code"] for reason in told if reason.get("Code") not in (None, "None"))


def _unavailable(table: str) -> Unavailable:
    logger.warning("a store does not answer", extra={"table": table})
    return Unavailable("A store that this needs does not answer just now.", retry_after_seconds=RETRY_AFTER_SECONDS)
