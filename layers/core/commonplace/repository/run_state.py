"""Run state on DynamoDB, table `activity`. Every write is conditional or an atomic ADD.

Item of the knowledge base: `pk = sync#{repository}#{branch}`, `sk = state`; beside it `sk = delivery#{id}` for thirty
days. Of a catalogue: `pk = sync#reference#{name}`, whatever its repository and branch: attempts and generations have to
go on when it moves to others.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from commonplace.repository.ports import LeaseHeld, RunState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_RANDOM = random.SystemRandom()
"""The system's, for a generator of one's own goes on alike in every copy of a snapshot (SnapStart)."""

DELIVERY_DAYS = 30
CONFLICT_ATTEMPTS = 12

Clock = Callable[[], datetime]
Item = dict[str, Any]


def utc_now() -> datetime:
    return datetime.now(UTC)


class Contended(Exception):
    """Others kept writing the same item for all our attempts."""


class DynamoSyncState:
    """Claims, hints, lease and generation of one source: `commonplace.repository.ports.SyncState`."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        repository: str,
        branch: str,
        *,
        catalogue: str = "",
        clock: Clock = utc_now,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._table = table
        self._pk = f"sync#reference#{catalogue}" if catalogue else f"sync#{repository}#{branch}"
        self._clock = clock
        self._sleep = sleep

    def read(self) -> RunState:
        item = self._get("state")
        since = item.get("runningSince", {}).get("S")
        return RunState(
            pokes=_number(item, "pokes"),
            done=_number(item, "done"),
            running=item.get("running", {}).get("S"),
            running_since=datetime.fromisoformat(since) if since else None,
            generation=_number(item, "generation"),
        )

    def poke(self, delivery: str | None = None) -> int:
        if delivery is None:
            return self._count("pokes")
        for attempt in range(CONFLICT_ATTEMPTS):
            known = self.delivery(delivery)
            if known is not None:
                return known
            number = self.read().pokes + 1
            if self._poke_as(delivery, number):
                return number
            self._pause(attempt)
        raise Contended("the hint could not be counted")

    def delivery(self, delivery: str) -> int | None:
        item = self._get(f"delivery#{delivery}")
        live = _number(item, "expiresAt") > self._clock().timestamp()
        return _number(item, "hint") if live else None

    def next_attempt(self) -> int:
        return self._count("attempts")

    def claim(self, run: str, *, replacing: str | None = None) -> bool:
        return self._update(
            "SET running = :run, runningSince = :since",
            "attribute_not_exists(running) OR running IN (:run, :replaced)",
            {
                ":run": {"S": run},
                ":replaced": {"S": run if replacing is None else replacing},
                ":since": {"S": self._clock().isoformat()},
            },
        )

    def finish(self, run: str, seen: int) -> bool:
        state = self.read()
        if state.running != run:
            return True
        # Only the holder of the claim moves `done`, and both writes hold only while `run` is the holder.
        values: Item = {":run": {"S": run}, ":seen": {"N": str(seen)}, ":done": {"N": str(max(seen, state.done))}}
        covered = self._update(
            "SET done = :done REMOVE running, runningSince",
            "running = :run AND (attribute_not_exists(pokes) OR pokes <= :seen)",
            values,
        )
        if covered:
            return True
        return not self._update("SET done = :done", "running = :run AND pokes > :seen", values)

    def release(self, run: str) -> None:
        self._update("REMOVE running, runningSince", "running = :run", {":run": {"S": run}})

    def lease(self, run: str, seconds: int) -> int:
        now = self._clock()
        try:
            answer = self._write(
                UpdateExpression="SET leaseRun = :run, leaseUntil = :until ADD generation :one",
                ConditionExpression="attribute_not_exists(leaseRun) OR leaseUntil <= :now OR leaseRun = :run",
                ExpressionAttributeValues={
                    ":run": {"S": run},
                    ":until": {"N": str((now + timedelta(seconds=seconds)).timestamp())},
                    ":now": {"N": str(now.timestamp())},
                    ":one": {"N": "1"},
                },
                ReturnValues="UPDATED_NEW",
            )
        except ClientError as error:
            if _code(error) == "ConditionalCheckFailedException":
                raise LeaseHeld from None
            raise
        return _number(answer["Attributes"], "generation")

    def end_lease(self, run: str) -> None:
        self._update("REMOVE leaseRun, leaseUntil", "leaseRun = :run", {":run": {"S": run}})

    def _poke_as(self, delivery: str, number: int) -> bool:
        """Counts the hint and records its delivery, both or neither; False when somebody was faster."""
        now = int(self._clock().timestamp())
        count: Any = {
            "TableName": self._table,
            "Key": self._key("state"),
            "UpdateExpression": "SET pokes = :number",
            "ConditionExpression": "attribute_not_exists(pokes) OR pokes = :before",
            "ExpressionAttributeValues": {":number": {"N": str(number)}, ":before": {"N": str(number - 1)}},
        }
        record: Any = {
            "TableName": self._table,
            "Item": self._key(f"delivery#{delivery}")
            | {"hint": {"N": str(number)}, "expiresAt": {"N": str(now + DELIVERY_DAYS * 86_400)}},
            "ConditionExpression": "attribute_not_exists(pk) OR expiresAt <= :now",
            "ExpressionAttributeValues": {":now": {"N": str(now)}},
        }
        try:
            self._client.transact_write_items(TransactItems=[{"Update": count}, {"Put": record}])
        except ClientError as error:
            if _is_conflict(error):
                return False
            raise
        return True

    def _count(self, name: str) -> int:
        answer = self._write(
            UpdateExpression=f"ADD {name} :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
            ReturnValues="UPDATED_NEW",
        )
        return _number(answer["Attributes"], name)

    def _update(self, change: str, condition: str, values: Item) -> bool:
        """False when the condition does not hold."""
        try:
            self._write(UpdateExpression=change, ConditionExpression=condition, ExpressionAttributeValues=values)
        except ClientError as error:
            if _code(error) == "ConditionalCheckFailedException":
                return False
            raise
        return True

    def _write(self, **update: Any) -> Any:
        for attempt in range(CONFLICT_ATTEMPTS):
            try:
                return self._client.update_item(TableName=self._table, Key=self._key("state"), **update)
            except ClientError as error:
                if _code(error) != "TransactionConflictException":
                    raise
            self._pause(attempt)
        raise Contended("the run state could not be written")

    def _get(self, sort_key: str) -> Item:
        answer = self._client.get_item(TableName=self._table, Key=self._key(sort_key), ConsistentRead=True)
        return dict(answer.get("Item", {}))

    def _key(self, sort_key: str) -> Item:
        return {"pk": {"S": self._pk}, "sk": {"S": sort_key}}

    def _pause(self, attempt: int) -> None:
        self._sleep(_RANDOM.uniform(0, min(0.4, 0.01 * 2**attempt)))


def _number(item: Item, name: str) -> int:
    return int(item.get(name, {}).get("N", "0"))


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")


def _is_conflict(error: ClientError) -> bool:
    """Whether a transaction was cancelled only because others wrote the same items."""
    if _code(error) in ("TransactionConflictException", "TransactionInProgressException"):
        return True
    reasons: Any = error.response.get("CancellationReasons", [])
    codes = {reason.get("Code") for reason in reasons} - {"None", None}
    return bool(codes) and codes <= {"ConditionalCheckFailed", "TransactionConflict"}
