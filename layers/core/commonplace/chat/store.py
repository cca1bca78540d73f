"""Conversations on DynamoDB, in the table of records: lists, messages, runs with their journals, budgets of a day.

| item | pk | sk |
|---|---|---|
| row of a list | `{org}#chat#{account}` | id |
| budget of a day | `{org}#chatbudget#{account}` | `2026-11-29` |
| record of a conversation | `{org}#chat#{account}#{id}` | `record` |
| message | the same | `m#{uuid7}` |
| last run | the same | `live` |
| piece of a run's journal | the same | `run#{run}#000001` |
| mark of what is done once | the same | `once#{SHA-256 of its name}` |

A saved turn is one transaction with its audit record; pieces of a journal, which nobody else reads, have none. Nothing
here is indexed. Everything expires, and what has expired counts as absent before DynamoDB has removed it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commonplace.chat.model import LEASE_SECONDS, Live, Owner, Row, State
from commonplace.kernel.audit import AuditRecord, Lost
from commonplace.kernel.audit_store import CHAT, audit_writes
from commonplace.kernel.errors import Conflict, NotFound, RateLimited
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.records import Room
from commonplace.kernel.table import Table, Write

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ROWS = Room("chat", Row)
BUDGETS: Room[Any] = Room("chatbudget", dict)
RECORD, LIVE, MESSAGE, RUN, ONCE = "record", "live", "m#", "run#", "once#"
DAY_SECONDS = 86_400
JOURNAL_SECONDS = 3_600
MOST = 500
"""Conversations of one account in a list."""
FREE = "attribute_not_exists(pk) OR #state <> :running OR #lease <= :now"
"""No run of the conversation goes on."""
LEAST_TOKENS = 1_000
"""What has to be left of a day's budget for one more answer."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A conversation as it is stored: its record, and its messages in order, as pydantic-ai writes them."""

    record: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Reserved:
    """Tokens of a day's budget that a run may use."""

    where: Item
    tokens: int


class ChatStore:
    """Safe for threads. Every method raises Unavailable."""

    def __init__(
        self,
        client: DynamoDBClient,
        records: str,
        activity: str,
        retention_days: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._table, self._activity, self._days, self.clock = Table(client, records), activity, retention_days, clock

    def rows(self, owner: Owner) -> list[Row]:
        """Return the conversations of an account, the last one first."""
        items = self._table.query(ROWS.partition(owner.organisation, owner.account), Limit=MOST)
        found = [row for item in items if (row := decoded(Row, item)) and row.expires_at > self.clock()]
        return sorted(found, key=lambda row: row.updated_at, reverse=True)[:MOST]

    def conversation(self, owner: Owner, id: str) -> Stored | None:
        """Return a conversation with its messages; None where the account has none of this id."""
        if (record := self.record(owner, id)) is None:
            return None
        said = json.loads(record)
        entries = self.entries(owner, id, said["head_id"])
        return Stored(said, [json.loads(entry)["message"] for entry in entries])

    def record(self, owner: Owner, id: str) -> str | None:
        """Return the record of a conversation, as JSON."""
        item = self._table.get(key(self._at(owner, id), RECORD))
        return item["body"] if item and item["expiresAt"] > self.clock() else None

    def entries(self, owner: Owner, id: str, head: str | None) -> list[str]:
        """Return the messages up to `head`, as JSON, the first one first; those that have expired are left out."""
        items = self._table.query(self._at(owner, id), "sk BETWEEN :low AND :high", {"low": MESSAGE, "high": "m#~"})
        found = {item["sk"].removeprefix(MESSAGE): item for item in items if item["expiresAt"] > self.clock()}
        return [found[each]["body"] for each in chain(found, head)]

    def save(
        self,
        owner: Owner,
        id: str,
        *,
        record: str,
        revision: str,
        expected: str | None,
        entries: Mapping[str, tuple[str, str | None]],
        title: str,
        audit: AuditRecord,
    ) -> None:
        """Store a turn: the record over the revision that was read, and new messages, `{id: (JSON, parent)}`.

        Raises Lost where the conversation was changed meanwhile.
        """
        now, table, at = self.clock(), self._table, self._at(owner, id)
        until = {"expiresAt": self._until()}
        where = key(at, RECORD)
        item = {"body": record, "revision": revision} | until
        gone = "attribute_not_exists(pk) OR #expiresAt <= :now"
        own = (
            table.put(where, item, gone, now=int(now))
            if expected is None
            else table.put(where, item, "#revision = :expected", expected=expected)
        )
        row = self._listed(owner, id, title)
        said = [
            table.put(key(at, f"{MESSAGE}{each}"), {"body": body, "parent": parent or ""} | until)
            for each, (body, parent) in entries.items()
        ]
        table.transact([own, row, *said, *audit_writes(self._activity, [audit], CHAT)])

    def list_up(self, owner: Owner, id: str, title: str) -> None:
        """Show a conversation that begins in the list of its account."""
        self._table.write(self._listed(owner, id, title))

    def _listed(self, owner: Owner, id: str, title: str) -> Write:
        return self._table.update(
            ROWS.at(owner.organisation, id, owner.account),
            "SET #title = if_not_exists(#title, :title), #updatedAt = :at, #expiresAt = :until, #id = :id",
            title=title,
            at=int(self.clock() * 1000),
            until=self._until(),
            id=id,
        )

    def delete(self, owner: Owner, id: str, audit: AuditRecord) -> None:
        """Delete a conversation with everything of it. Raises NotFound, and Conflict while an answer is written."""
        at, now = self._at(owner, id), int(self.clock() * 1000)
        row = ROWS.at(owner.organisation, id, owner.account)
        gone = [
            self._table.delete(row, "attribute_exists(pk)"),
            self._table.delete(key(at, RECORD)),
            self._table.delete(key(at, LIVE), FREE, running="running", now=now),
        ]
        try:
            self._table.transact([*gone, *audit_writes(self._activity, [audit], CHAT)])
        except Lost:
            if (live := self.live(owner, id)) and live.running(self.clock()):
                raise Conflict("An answer is being written.", hint="Stop it, then delete the conversation.") from None
            raise NotFound("You have no conversation of this id.") from None
        keys = [item["sk"] for item in self._table.query(at, ProjectionExpression="sk")]
        self._table.write_many(self._table.delete(key(at, sk)) for sk in keys if sk != LIVE)

    def live(self, owner: Owner, id: str, *, consistent: bool = True) -> Live | None:
        """Return the last run of a conversation."""
        return decoded(Live, self._table.get(key(self._at(owner, id), LIVE), consistent=consistent))

    def begin(self, owner: Owner, id: str, run: str, prompt: str) -> Live | None:
        """Begin a run, and return one before it that has never ended. Raises Conflict while another goes on."""
        now = self.clock()
        before = self.live(owner, id)
        live = Live(run, "running", _lease(now), self._until(), prompt)
        begun = self._table.put(
            key(self._at(owner, id), LIVE), encode(live), FREE, running="running", now=int(now * 1000)
        )
        if self._table.write(begun) is None:
            raise Conflict(
                "An answer is being written in this conversation.",
                hint="Follow it, stop it, or wait until it is whole.",
                retryAfterSeconds=2,
            )
        return before if before is not None and before.state == "running" else None

    def extend(self, owner: Owner, id: str, run: str) -> bool:
        """Extend the lease of a run; False where it has another owner by now."""
        where = key(self._at(owner, id), LIVE)
        mine = self._table.update(
            where,
            "SET #lease = :lease",
            "#run = :run AND #state = :on",
            lease=_lease(self.clock()),
            run=run,
            on="running",
        )
        return self._table.write(mine) is not None

    def stop(self, owner: Owner, id: str) -> bool:
        """Have the run of a conversation stopped; False where none goes on."""
        where = key(self._at(owner, id), LIVE)
        asked = self._table.update(where, "SET #stop = :yes", "#state = :on", yes=True, on="running")
        return self._table.write(asked) is not None

    def end(self, owner: Owner, id: str, run: str, state: State) -> None:
        """Note how a run has ended, unless another has taken its place."""
        where = key(self._at(owner, id), LIVE)
        self._table.write(
            self._table.update(where, "SET #state = :state REMOVE #prompt", "#run = :run", state=state, run=run)
        )

    def write(self, owner: Owner, id: str, run: str, number: int, frames: str) -> None:
        """Write a piece of a run's journal; numbers begin at 1. Twice is once."""
        item = {"frames": frames, "expiresAt": int(self.clock()) + JOURNAL_SECONDS}
        self._table.write(self._table.put(key(self._at(owner, id), f"{RUN}{run}#{number:06}"), item))

    def journal(self, owner: Owner, id: str, run: str, after: int = 0) -> Iterator[tuple[int, str]]:
        """Yield the pieces of a journal after one: their numbers and frames."""
        name = f"{RUN}{run}#"
        ends = {"low": f"{name}{after + 1:06}", "high": f"{name}~"}
        items = self._table.query(self._at(owner, id), "sk BETWEEN :low AND :high", ends)
        return ((int(item["sk"].removeprefix(name)), item["frames"]) for item in items)

    def record_audit(self, record: AuditRecord, owner: Owner, id: str, once: str = "") -> None:
        """Write down what changes nothing here, such as an approval, before it is acted on.

        Raises Conflict the second time for what happens `once` in a conversation, by this name.
        """
        name = hashlib.sha256(once.encode("utf-8", "replace")).hexdigest()
        where = key(self._at(owner, id), f"{ONCE}{name}")
        marks = [self._table.new(where, {"expiresAt": self._until()})] if once else []
        try:
            self._table.transact([*marks, *audit_writes(self._activity, [record], CHAT)])
        except Lost:
            raise Conflict(
                "This was approved before, and how it ended was lost.",
                hint="Decline it, or write on. Look at the partner whether it was done.",
            ) from None

    def reserve(self, owner: Owner, limit: int, wanted: int) -> Reserved:
        """Take tokens from an account's budget of the day, as many as are left. Raises RateLimited when it is spent."""
        day = time.strftime("%Y-%m-%d", time.gmtime(self.clock()))
        where = BUDGETS.at(owner.organisation, day, owner.account)
        while True:
            used = int((self._table.get(where) or {}).get("used", 0))
            tokens = min(wanted, limit - used)
            if tokens < LEAST_TOKENS:
                raise RateLimited(
                    f"Your {limit:,} tokens of this day are used up.",
                    retry_after_seconds=DAY_SECONDS - int(self.clock()) % DAY_SECONDS,
                    hint="The budget is full again at midnight UTC.",
                )
            taken = self._table.update(
                where,
                "SET #used = :sum, #expiresAt = :until",
                "attribute_not_exists(#used) OR #used = :seen",
                sum=used + tokens,
                seen=used,
                until=int(self.clock()) + 2 * DAY_SECONDS,
            )
            if self._table.write(taken) is not None:
                return Reserved(where, tokens)

    def settle(self, reserved: Reserved, spent: int) -> None:
        """Give back what was reserved and not used, or take what was used beyond it."""
        self._table.write(self._table.update(reserved.where, "ADD #used :more", more=spent - reserved.tokens))

    def _until(self) -> int:
        return int(self.clock()) + self._days * DAY_SECONDS

    @staticmethod
    def _at(owner: Owner, id: str) -> str:
        return ROWS.partition(owner.organisation, owner.account, id)


def chain(entries: Mapping[str, Item], head: str | None) -> list[str]:
    """Return the ids of the messages that lead to `head`, the first one first. Before an expired one there is none."""
    found: list[str] = []
    while head and head in entries:
        found.append(head)
        head = entries[head]["parent"]
    return found[::-1]


def _lease(now: float) -> int:
    return int((now + LEASE_SECONDS) * 1000)
