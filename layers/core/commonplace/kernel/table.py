"""A DynamoDB table with the keys `pk` and `sk`, through which every store reads and writes.

Values are Python's own. Expressions name attributes as `#name` and values as `:name`. Whatever the client raises
becomes Unavailable; a write ends as done, as lost to a concurrent one, or without an answer.
"""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import BotoCoreError, ClientError

from commonplace.kernel.audit import Lost
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

logger = logging.getLogger(__name__)

_RANDOM = random.SystemRandom()
"""The system's, for a generator of one's own goes on alike in every copy of a snapshot (SnapStart)."""

CONFLICT_ATTEMPTS = 6
"""Of one write, while others write the same items in transactions of theirs."""
BATCH_ATTEMPTS = 5
"""How often what a batch left undone is requested again, after 0.05, 0.1, 0.2 and 0.4 s."""
BATCH_KEYS, BATCH_WRITES = 100, 25
"""BatchGetItem and BatchWriteItem take so many."""
RETRY_AFTER_SECONDS = 2

_NAME = re.compile(r"#(\w+)")
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_OPERATIONS = {"Put": "put_item", "Update": "update_item", "Delete": "delete_item"}
_RETURNED = {"Put": "NONE", "Update": "UPDATED_NEW", "Delete": "ALL_OLD"}

Write = Mapping[str, Item]
"""One part of a transaction, as TransactWriteItems takes it."""


class Contended(Unavailable):
    """Others kept writing the same items for all our attempts."""


class _Serializer(TypeSerializer):
    def serialize(self, value: Any) -> Any:
        return super().serialize(Decimal(repr(value)) if isinstance(value, float) else value)


class _Deserializer(TypeDeserializer):
    def deserialize(self, value: Any) -> Any:
        if "B" in value:
            return bytes(value["B"])
        plain = super().deserialize(value)
        if isinstance(plain, Decimal):
            return int(plain) if plain == plain.to_integral_value() else float(plain)
        return plain


_SERIALIZER, _DESERIALIZER = _Serializer(), _Deserializer()


def serialize(values: Mapping[str, Any]) -> Item:
    """An item as DynamoDB's API writes it."""
    return {name: _SERIALIZER.serialize(value) for name, value in values.items()}


def deserialize(item: Mapping[str, Any]) -> Item:
    return {name: _DESERIALIZER.deserialize(value) for name, value in item.items()}


class Table:
    """Safe for threads. `put`, `update`, `delete` and `check` describe a write, which `write` and `transact` do."""

    def __init__(
        self,
        client: DynamoDBClient,
        name: str,
        *,
        attempts: int = CONFLICT_ATTEMPTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self._client = client
        self._attempts = attempts
        self._sleep = sleep

    def get(self, where: Item, *, consistent: bool = True) -> Item | None:
        """Raises Unavailable."""
        request = {"TableName": self.name, "Key": serialize(where), "ConsistentRead": consistent}
        found = self._answer(self._client.get_item, **request).get("Item")
        return deserialize(found) if found else None

    def get_many(self, keys: Sequence[Item], *, consistent: bool = True) -> Iterator[Item]:
        """In no order. Raises Unavailable, after the items that came."""
        for start in range(0, len(keys), BATCH_KEYS):
            part = [serialize(where) for where in keys[start : start + BATCH_KEYS]]
            request: Any = {self.name: {"Keys": part, "ConsistentRead": consistent}}
            for _ in self._batch_attempts():
                answer = self._answer(self._client.batch_get_item, RequestItems=request)
                yield from map(deserialize, answer["Responses"].get(self.name, []))
                request = answer.get("UnprocessedKeys")
                if not request:
                    break
            else:
                raise self._contended()

    def query(
        self, pk: str, condition: str = "", values: Mapping[str, Any] = _NOTHING, *, filter: str = "", **options: Any
    ) -> Iterator[Item]:
        """The items of a partition, consistently; `condition` is one on `sk`. Raises Unavailable."""
        for page in self.pages(pk, condition, values, filter=filter, **options):
            yield from map(deserialize, page["Items"])

    def pages(
        self, pk: str, condition: str = "", values: Mapping[str, Any] = _NOTHING, *, filter: str = "", **options: Any
    ) -> Iterator[Any]:
        """The answers of a query; `options` are parameters of the operation. Raises Unavailable."""
        where = f"pk = :pk AND {condition}" if condition else "pk = :pk"
        request = self._request({"pk": pk, **values}, KeyConditionExpression=where, FilterExpression=filter)
        return self._pages(self._client.query, request | options)

    def scan(self, filter: str, **values: Any) -> Iterator[Item]:
        """Reads the whole table: for operators, who ask seldom. Raises Unavailable."""
        request = self._request(values, FilterExpression=filter)
        for page in self._pages(self._client.scan, request):
            yield from map(deserialize, page["Items"])

    def new(self, where: Item, item: Mapping[str, Any] = _NOTHING) -> Write:
        """An item that must not be there yet."""
        return self.put(where, item, "attribute_not_exists(pk)")

    def put(self, where: Item, item: Mapping[str, Any], condition: str = "", **values: Any) -> Write:
        """In place of what is there, if the condition holds of that."""
        return {"Put": self._request(values, ConditionExpression=condition) | {"Item": serialize({**item, **where})}}

    def update(self, where: Item, change: str, condition: str = "", **values: Any) -> Write:
        request = self._request(values, UpdateExpression=change, ConditionExpression=condition)
        return {"Update": request | {"Key": serialize(where)}}

    def delete(self, where: Item, condition: str = "", **values: Any) -> Write:
        return {"Delete": self._request(values, ConditionExpression=condition) | {"Key": serialize(where)}}

    def check(self, where: Item, condition: str, **values: Any) -> Write:
        """Of a transaction only."""
        return {"ConditionCheck": self._request(values, ConditionExpression=condition) | {"Key": serialize(where)}}

    def write(self, write: Write) -> Item | None:
        """Of an update what it set, of a deletion what was there; None if the condition does not hold.

        Raises Unavailable.
        """
        ((kind, request),) = write.items()
        try:
            answer = self._answer(getattr(self._client, _OPERATIONS[kind]), **request, ReturnValues=_RETURNED[kind])
        except Lost:
            return None
        return deserialize(answer.get("Attributes", {}))

    def write_many(self, writes: Iterable[Write]) -> int:
        """Puts and deletions without conditions, in no order; how many the table left undone. Raises Unavailable."""
        requests = [_batched(write) for write in writes]
        undone = 0
        for start in range(0, len(requests), BATCH_WRITES):
            request: Any = {self.name: requests[start : start + BATCH_WRITES]}
            for _ in self._batch_attempts():
                request = self._answer(self._client.batch_write_item, RequestItems=request).get("UnprocessedItems")
                if not request:
                    break
            undone += len(request[self.name]) if request else 0
        return undone

    def transact(self, writes: Iterable[Write]) -> None:
        """All of the writes or none. Raises Lost when a condition does not hold, Unavailable for all else.

        A transaction that was cancelled for others' sake alone is tried again: it has written nothing.
        """
        self._answer(self._client.transact_write_items, TransactItems=list(writes))

    def pause(self, attempt: int) -> None:
        """Before a try after the `attempt`th that others were faster than, from 0."""
        self._sleep(_RANDOM.uniform(0, min(0.4, 0.02 * 2**attempt)))

    def _request(self, values: Mapping[str, Any], **expressions: str) -> Item:
        request: Item = {"TableName": self.name} | {name: text for name, text in expressions.items() if text}
        if names := set(_NAME.findall(" ".join(expressions.values()))):
            request["ExpressionAttributeNames"] = {f"#{name}": name for name in names}
        if values:
            request["ExpressionAttributeValues"] = serialize({f":{name}": value for name, value in values.items()})
        return request

    def _pages(self, ask: Callable[..., Any], request: Item) -> Iterator[Any]:
        request = {"ConsistentRead": True} | request
        while True:
            page = self._answer(ask, **request)
            yield page
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def _batch_attempts(self) -> Iterator[None]:
        for attempt in range(BATCH_ATTEMPTS):
            if attempt:
                self._sleep(0.05 * 2 ** (attempt - 1))
            yield

    def _answer(self, ask: Callable[..., Any], **request: Any) -> Any:
        for attempt in range(self._attempts):
            try:
                return ask(**request)
            except ClientError as error:
                reasons = _reasons(error)
                if "ConditionalCheckFailed" in reasons:
                    raise Lost from None
                if reasons != {"TransactionConflict"}:
                    raise self._unavailable(error) from error
            except BotoCoreError as error:
                raise self._unavailable(error) from error
            self.pause(attempt)
        raise self._contended()

    def _unavailable(self, error: Exception) -> Unavailable:
        logger.warning("a store does not answer", extra={"table": self.name, "error": type(error).__name__})
        return Unavailable("A store that this needs does not answer just now.", retry_after_seconds=RETRY_AFTER_SECONDS)

    def _contended(self) -> Contended:
        logger.warning("a store is busy", extra={"table": self.name})
        return Contended("A store that this needs does not answer just now.", retry_after_seconds=RETRY_AFTER_SECONDS)


def _batched(write: Write) -> Item:
    ((kind, request),) = write.items()
    return {"PutRequest": {"Item": request["Item"]}} if kind == "Put" else {"DeleteRequest": {"Key": request["Key"]}}


def _reasons(error: ClientError) -> set[str]:
    """Why a write was not done: reasons of its parts, of a transaction."""
    code = error.response.get("Error", {}).get("Code", "")
    if code == "ConditionalCheckFailedException":
        return {"ConditionalCheckFailed"}
    if code in ("TransactionConflictException", "TransactionInProgressException"):
        return {"TransactionConflict"}
    reasons: Any = error.response.get("CancellationReasons", [])
    return {reason["Code"] for reason in reasons if reason.get("Code") not in (None, "None")}
