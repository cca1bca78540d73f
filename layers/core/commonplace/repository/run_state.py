"""Run state on DynamoDB, table `activity`. Every write is conditional or an atomic ADD.

Item of the knowledge base: `pk = sync#{repository}#{branch}`, `sk = state`; beside it `sk = delivery#{id}` for thirty
days. Of a catalogue: `pk = sync#reference#{name}`, whatever its repository and branch: attempts and generations have to
go on when it moves to others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from commonplace.kernel.audit import Lost
from commonplace.kernel.items import Item, key
from commonplace.kernel.table import Contended, Table
from commonplace.repository.ports import LeaseHeld, RunState
from commonplace.repository.sources import BranchSource

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DELIVERY_DAYS = 30
POKE_ATTEMPTS = 12

Clock = Callable[[], datetime]


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
        clock: Clock = lambda: datetime.now(UTC),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = Table(client, table, sleep=sleep)
        self._pk = BranchSource(catalogue, repository, branch).state_partition
        self._clock = clock

    def read(self) -> RunState:
        item = self._table.get(self._key("state")) or {}
        since = item.get("runningSince")
        return RunState(
            pokes=item.get("pokes", 0),
            done=item.get("done", 0),
            running=item.get("running"),
            running_since=datetime.fromisoformat(since) if since else None,
            generation=item.get("generation", 0),
        )

    def poke(self, delivery: str | None = None) -> int:
        if delivery is None:
            return self._count("pokes")
        for attempt in range(POKE_ATTEMPTS):
            known = self.delivery(delivery)
            if known is not None:
                return known
            number = self.read().pokes + 1
            if self._poke_as(delivery, number):
                return number
            self._table.pause(attempt)
        raise Contended("The hint could not be counted just now.")

    def delivery(self, delivery: str) -> int | None:
        item = self._table.get(self._key(f"delivery#{delivery}"))
        return item["hint"] if item and item["expiresAt"] > self._clock().timestamp() else None

    def next_attempt(self) -> int:
        return self._count("attempts")

    def claim(self, run: str, *, replacing: str | None = None) -> bool:
        return self._update(
            "SET #running = :run, #runningSince = :since",
            "attribute_not_exists(#running) OR #running IN (:run, :replaced)",
            run=run,
            replaced=run if replacing is None else replacing,
            since=self._clock().isoformat(),
        )

    def finish(self, run: str, seen: int) -> bool:
        state = self.read()
        if state.running != run:
            return True
        # Only the holder of the claim moves `done`, and both writes hold only while `run` is the holder.
        values = {"run": run, "seen": seen, "done": max(seen, state.done)}
        covered = self._update(
            "SET #done = :done REMOVE #running, #runningSince",
            "#running = :run AND (attribute_not_exists(#pokes) OR #pokes <= :seen)",
            **values,
        )
        return covered or not self._update("SET #done = :done", "#running = :run AND #pokes > :seen", **values)

    def release(self, run: str) -> None:
        self._update("REMOVE #running, #runningSince", "#running = :run", run=run)

    def lease(self, run: str, seconds: int) -> int:
        now = self._clock()
        leased = self._table.write(
            self._table.update(
                self._key("state"),
                "SET #leaseRun = :run, #leaseUntil = :until ADD #generation :one",
                "attribute_not_exists(#leaseRun) OR #leaseUntil <= :now OR #leaseRun = :run",
                run=run,
                until=(now + timedelta(seconds=seconds)).timestamp(),
                now=now.timestamp(),
                one=1,
            )
        )
        if leased is None:
            raise LeaseHeld
        return int(leased["generation"])

    def end_lease(self, run: str) -> None:
        self._update("REMOVE #leaseRun, #leaseUntil", "#leaseRun = :run", run=run)

    def _poke_as(self, delivery: str, number: int) -> bool:
        """Counts the hint and records its delivery, both or neither; False when somebody was faster."""
        now = int(self._clock().timestamp())
        uncounted = "attribute_not_exists(#pokes) OR #pokes = :before"
        count = self._table.update(
            self._key("state"), "SET #pokes = :number", uncounted, number=number, before=number - 1
        )
        known = {"hint": number, "expiresAt": now + DELIVERY_DAYS * 86_400}
        forgotten = "attribute_not_exists(pk) OR #expiresAt <= :now"
        try:
            self._table.transact([count, self._table.put(self._key(f"delivery#{delivery}"), known, forgotten, now=now)])
        except Lost:
            return False
        return True

    def _count(self, name: str) -> int:
        counted = self._table.write(self._table.update(self._key("state"), f"ADD #{name} :one", one=1)) or {}
        return int(counted[name])

    def _update(self, change: str, condition: str, **values: Any) -> bool:
        """False when the condition does not hold."""
        return self._table.write(self._table.update(self._key("state"), change, condition, **values)) is not None

    def _key(self, sort_key: str) -> Item:
        return key(self._pk, sort_key)
