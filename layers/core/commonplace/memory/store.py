"""What is remembered, on DynamoDB, table `records`: `commonplace.memory.ports.EntryStore`.

An entry is three items that one transaction writes: itself, its card, and its content's hash, which is what makes a
content unique. Of writers who meet one goes through; the others see a condition fail, read again, and answer by what
they find. Whether it is a race or an outage is never guessed: what does not end in so many rounds is Unavailable.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from commonplace.kernel.audit_store import MEMORY, audit_writes
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item
from commonplace.kernel.table import get, get_all, holds, query, transact
from commonplace.kernel.writes import Lost
from commonplace.memory.dynamodb_entry_writes import ITEMS_AN_ENTRY, ITEMS_OF_A_CHANGE, EntryWrites
from commonplace.memory.dynamodb_memory_items import (
    NAME_PREFIX,
    ORGANISATIONS,
    entry_key,
    hash_key,
    is_id,
    once_key,
    read_card,
    read_entry,
    room,
)
from commonplace.memory.entries import Card, Entry, EntryId
from commonplace.memory.ports import Once, Replayed, Stale, Taken
from commonplace.search.source import batches

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.audit import AuditRecord

MAX_WRITES = 100
MAX_TOGETHER = (MAX_WRITES - 1) // ITEMS_AN_ENTRY
"""Entries of one transaction: TransactWriteItems takes 100 items, and 4 MB, which 32 of the largest do not fill."""
MAX_CHANGED = MAX_WRITES // ITEMS_OF_A_CHANGE
"""Entries whose revision one transaction raises."""
CARDS_PER_PAGE = 500
"""Some 200 KB: a page comes well within the time that is given to a call."""
ROUNDS = 12


class DynamoEntries:
    """Entries, their cards and hashes, and requests that are to be done once."""

    def __init__(
        self,
        client: DynamoDBClient,
        records: str,
        activity: str,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`clock` gives epoch seconds."""
        self._client = client
        self._table = records
        self._activity = activity
        self._clock = clock
        self._sleep = sleep
        self._to = EntryWrites(records)
        self._named: set[str] = set()

    def get(self, organisation: str, id: EntryId) -> Entry | None:
        return read_entry(organisation, self._item(entry_key(organisation, id))) if is_id(id) else None

    def get_many(self, organisation: str, ids: Sequence[EntryId]) -> dict[EntryId, Entry]:
        keys = [entry_key(organisation, id) for id in dict.fromkeys(ids) if is_id(id)]
        items = get_all(self._client, self._table, keys)
        return {entry.id: entry for item in items if (entry := read_entry(organisation, item))}

    def holders(self, organisation: str, hashes: Sequence[str]) -> dict[str, EntryId]:
        keys = [hash_key(organisation, one) for one in dict.fromkeys(hashes) if is_id(one)]
        return {item["sk"]["S"]: EntryId(item["id"]["S"]) for item in get_all(self._client, self._table, keys)}

    def add(self, organisation: str, entries: Sequence[Entry], audit: AuditRecord) -> dict[str, EntryId]:
        first: dict[str, Entry] = {}
        for entry in entries:
            first.setdefault(entry.content_hash, entry)
        self._name(organisation)
        held: dict[str, EntryId] = {}
        for part in batches(list(first.values()), MAX_TOGETHER):
            held |= self._added(organisation, part, audit)
        return held

    def add_once(self, organisation: str, entry: Entry, audit: AuditRecord, once: Once) -> EntryId | Replayed:
        self._name(organisation)
        for _ in range(ROUNDS):
            known = self._replayed(organisation, once)
            if known:
                return known
            holder = self.holders(organisation, [entry.content_hash]).get(entry.content_hash)
            noted = self._to.once(organisation, once, holder or entry.id, int(self._clock()))
            try:
                if holder:
                    self._write([noted, self._to.still_held(organisation, entry.content_hash, holder)])
                else:
                    self._write([noted, *self._to.added(organisation, entry)], _told(audit, 1))
            except Lost:
                continue
            return holder or entry.id
        raise _contended()

    def replace(self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord) -> None:
        if entry.id != was.id or entry.revision <= was.revision:
            raise ValueError("an entry keeps its id, and its revision grows")
        writes = self._to.replaced(organisation, entry, was)
        for _ in range(ROUNDS):
            try:
                self._write(writes, audit)
            except Lost:
                self._explain(organisation, entry, was)
                continue
            return
        raise _contended()

    def delete(self, organisation: str, id: EntryId, audit: AuditRecord) -> bool:
        for _ in range(ROUNDS):
            entry = self.get(organisation, id)
            if entry is None:
                return False
            try:
                self._write(self._to.deleted(organisation, entry), audit)
            except Lost:
                continue
            return True
        raise _contended()

    def forget_parent(self, organisation: str, ids: Sequence[EntryId], parent: EntryId) -> None:
        change = "SET #revision = #revision + :one REMOVE #parentId"
        self._change(organisation, ids, change, "#parentId = :parent", one=1, parent=parent)

    def touch(self, organisation: str, ids: Sequence[EntryId]) -> None:
        self._change(organisation, ids, "SET #revision = #revision + :one", "attribute_exists(pk)", one=1)

    def cards(self, organisation: str) -> Iterator[Card]:
        items = query(self._client, self._table, room(organisation, "cards"), Limit=CARDS_PER_PAGE)
        return (card for item in items if (card := read_card(item)))

    def organisations(self) -> Iterator[str]:
        items = query(
            self._client,
            self._table,
            ORGANISATIONS,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
            ExpressionAttributeValues={":pk": {"S": ORGANISATIONS}, ":prefix": {"S": NAME_PREFIX}},
        )
        return (item["sk"]["S"].removeprefix(NAME_PREFIX) for item in items)

    def _added(self, organisation: str, entries: Sequence[Entry], audit: AuditRecord) -> dict[str, EntryId]:
        """Who has each content after what could be added of these was added, in one transaction."""
        held: dict[str, EntryId] = {}
        for _ in range(ROUNDS):
            new = [entry for entry in entries if entry.content_hash not in held]
            if not new:
                return held
            writes = [one for entry in new for one in self._to.added(organisation, entry)]
            try:
                self._write(writes, _told(audit, len(new)))
            except Lost:
                held = self.holders(organisation, [entry.content_hash for entry in entries])
                continue
            return held | {entry.content_hash: entry.id for entry in new}
        raise _contended()

    def _explain(self, organisation: str, entry: Entry, was: Entry) -> None:
        """Why the entry was not replaced. Returns if that is over."""
        stored = self.get(organisation, was.id)
        if stored is None or stored.revision != was.revision:
            raise Stale from None
        holder = self.holders(organisation, [entry.content_hash]).get(entry.content_hash, entry.id)
        if holder != entry.id:
            raise Taken(holder) from None

    def _replayed(self, organisation: str, once: Once) -> Replayed | None:
        item = self._item(once_key(organisation, once.key))
        if item is None or int(item["expiresAt"]["N"]) <= self._clock():
            return None
        return Replayed(EntryId(item["id"]["S"]), item["request"]["S"])

    def _change(self, organisation: str, ids: Sequence[EntryId], change: str, condition: str, **values: Any) -> None:
        known = [id for id in dict.fromkeys(ids) if is_id(id)]
        for part in batches(known, MAX_CHANGED):
            self._changed([self._to.changed(organisation, id, change, condition, values) for id in part])

    def _changed(self, changes: Sequence[list[Item]]) -> None:
        """All of them that can be done: one that cannot fails its transaction, so halves are tried."""
        try:
            self._write([one for change in changes for one in change])
        except Lost:
            if len(changes) > 1:
                middle = len(changes) // 2
                self._changed(changes[:middle])
                self._changed(changes[middle:])

    def _name(self, organisation: str) -> None:
        """Notes that there is this organisation: apart, for all who add at once would be in each other's way."""
        if organisation in self._named:
            return
        new: Any = self._to.named(organisation)["Put"]
        holds(self._table, lambda: self._client.put_item(**new), sleep=self._sleep)
        self._named.add(organisation)

    def _item(self, where: Item) -> Item | None:
        return get(self._client, self._table, where["pk"]["S"], where["sk"]["S"])

    def _write(self, writes: Sequence[Item], *audit: AuditRecord) -> None:
        told = [*writes, *audit_writes(self._activity, audit, MEMORY)]
        transact(self._client, self._table, told, sleep=self._sleep)


def _told(audit: AuditRecord, entries: int) -> AuditRecord:
    """The record of one transaction among several."""
    return replace(audit, id=secrets.token_hex(6), details={**audit.details, "entries": str(entries)})


def _contended() -> Unavailable:
    return Unavailable("Others keep writing the same entries just now.", retry_after_seconds=1)
