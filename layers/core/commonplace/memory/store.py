"""Entries on DynamoDB, table `records`: `memory.ports.EntryStore`.

Every key begins with the organisation, so no id, hash, key or handle of one reaches an item of another. Metadata is
JSON text: DynamoDB's numbers have other bounds than JSON's, and it would not return `1.0` as such.

An entry is three items that one transaction writes: itself, its card, and its content's hash, which makes content
unique. Of concurrent writers one succeeds; the others see a condition fail, read again, and answer by what they find.
Race and outage are never confused: what does not end in a bounded number of rounds is Unavailable.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from commonplace.identity.roles import is_organisation
from commonplace.kernel.audit import Lost
from commonplace.kernel.audit_store import MEMORY, audit_writes
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import Table, Write
from commonplace.memory.model import Card, Entry, EntryId
from commonplace.memory.ports import Once, Replayed, Stale, Taken
from commonplace.search.source import batches

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.audit import AuditRecord


ORGANISATIONS, NAME_PREFIX = "organisations", "memory#"
MAX_ID_CHARACTERS = 100

ITEMS_AN_ENTRY = 3
ITEMS_OF_A_CHANGE = 2

MAX_WRITES = 100
MAX_TOGETHER = (MAX_WRITES - 1) // ITEMS_AN_ENTRY
"""Entries of one transaction: TransactWriteItems takes 100 items, and 4 MB, which 32 of the largest do not fill."""
MAX_CHANGED = MAX_WRITES // ITEMS_OF_A_CHANGE
"""Entries whose revision one transaction raises."""
CARDS_PER_PAGE = 500
"""Some 200 KB: a page comes well within the time that is given to a call."""
ROUNDS = 12


def room(organisation: str, name: str) -> str:
    """The partition of one kind of records. Raises ValueError for what cannot name an organisation."""
    if not is_organisation(organisation):
        raise ValueError("no organisation, no memory")
    return f"{organisation}#memory#{name}"


def is_id(text: str) -> bool:
    """Whether this may be a name that we gave: anything else is not there, and perhaps no key at all."""
    return 0 < len(text) <= MAX_ID_CHARACTERS and text.isascii() and text.isprintable() and "#" not in text


def entry_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "entries"), id)


def card_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "cards"), id)


def hash_key(organisation: str, content_hash: str) -> Item:
    return key(room(organisation, "hashes"), content_hash)


def once_key(organisation: str, hashed: str) -> Item:
    return key(room(organisation, "once"), hashed)


def job_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "jobs"), id)


def piece_key(organisation: str, id: str, number: int) -> Item:
    return key(room(organisation, f"pieces#{id}"), f"{number:05d}")


def entry_item(entry: Entry) -> Item:
    text = json.dumps(dict(entry.metadata), separators=(",", ":"))
    return encode(replace(entry, metadata={})) | {"metadata": text}


def read_entry(organisation: str, item: Mapping[str, Any] | None) -> Entry | None:
    """None for an item that is not there, that is no entry, or that is not this organisation's."""
    bare = {name: value for name, value in (item or {}).items() if name != "metadata"}
    entry = decoded(Entry, bare)
    if item is None or entry is None or entry.organisation != organisation:
        return None
    metadata = json.loads(item.get("metadata", "{}"))
    return replace(entry, metadata=metadata)


class EntryTable(Table):
    """Conditions say what must still be so; who meets one that fails reads again."""

    def added(self, organisation: str, entry: Entry) -> list[Write]:
        return [
            self.new(entry_key(organisation, entry.id), entry_item(replace(entry, organisation=organisation))),
            self.put(card_key(organisation, entry.id), encode(entry.card)),
            self.new(hash_key(organisation, entry.content_hash), _holder(entry.id)),
        ]

    def unchanged(self, organisation: str, entry: Entry) -> Write:
        where = entry_key(organisation, entry.id)
        return self.check(where, "#revision = :revision", revision=entry.revision)

    def replaced(self, organisation: str, entry: Entry, was: Entry) -> list[Write]:
        item = entry_item(replace(entry, organisation=organisation))
        kept = self.put(entry_key(organisation, was.id), item, "#revision = :revision", revision=was.revision)
        writes = [kept, self.put(card_key(organisation, was.id), encode(entry.card))]
        if entry.content_hash == was.content_hash:
            return writes
        return [
            *writes,
            self.new(hash_key(organisation, entry.content_hash), _holder(entry.id)),
            self._free(organisation, was),
        ]

    def deleted(self, organisation: str, entry: Entry) -> list[Write]:
        gone = self.delete(entry_key(organisation, entry.id), "#revision = :revision", revision=entry.revision)
        return [gone, self.delete(card_key(organisation, entry.id)), self._free(organisation, entry)]

    def changed(
        self, organisation: str, id: EntryId, change: str, condition: str, values: Mapping[str, Any]
    ) -> list[Write]:
        """The same update of an entry and its card."""
        places = entry_key(organisation, id), card_key(organisation, id)
        return [self.update(where, change, condition, **values) for where in places]

    def once(self, organisation: str, once: Once, id: EntryId, now: int) -> Write:
        item = encode(replace(once, key="")) | _holder(id)
        free = "attribute_not_exists(pk) OR #expiresAt <= :now"
        return self.put(once_key(organisation, once.key), item, free, now=now)

    def still_held(self, organisation: str, content_hash: str, holder: EntryId) -> Write:
        return self.check(hash_key(organisation, content_hash), "#id = :id", id=holder)

    def named(self, organisation: str) -> Write:
        """Raises ValueError for what cannot name an organisation."""
        room(organisation, "")
        return self.new(key(ORGANISATIONS, f"{NAME_PREFIX}{organisation}"), {})

    def _free(self, organisation: str, entry: Entry) -> Write:
        where = hash_key(organisation, entry.content_hash)
        return self.delete(where, "attribute_not_exists(pk) OR #id = :id", id=entry.id)


def _holder(id: EntryId) -> Item:
    return {"id": id}


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
        self._table = EntryTable(client, records, sleep=sleep)
        self._activity = activity
        self._clock = clock
        self._named: set[str] = set()

    def get(self, organisation: str, id: EntryId) -> Entry | None:
        return read_entry(organisation, self._table.get(entry_key(organisation, id))) if is_id(id) else None

    def get_many(self, organisation: str, ids: Sequence[EntryId]) -> dict[EntryId, Entry]:
        keys = [entry_key(organisation, id) for id in dict.fromkeys(ids) if is_id(id)]
        items = self._table.get_many(keys)
        return {entry.id: entry for item in items if (entry := read_entry(organisation, item))}

    def holders(self, organisation: str, hashes: Sequence[str]) -> dict[str, EntryId]:
        keys = [hash_key(organisation, one) for one in dict.fromkeys(hashes) if is_id(one)]
        return {item["sk"]: EntryId(item["id"]) for item in self._table.get_many(keys)}

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
            noted = self._table.once(organisation, once, holder or entry.id, int(self._clock()))
            try:
                if holder:
                    self._write([noted, self._table.still_held(organisation, entry.content_hash, holder)])
                else:
                    self._write([noted, *self._table.added(organisation, entry)], _told(audit, 1))
            except Lost:
                continue
            return holder or entry.id
        raise _contended()

    def replace(
        self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord, above: Sequence[Entry] = ()
    ) -> None:
        if entry.id != was.id or entry.revision <= was.revision:
            raise ValueError("an entry keeps its id, and its revision grows")
        writes = self._table.replaced(organisation, entry, was)
        writes += [self._table.unchanged(organisation, one) for one in above]
        for _ in range(ROUNDS):
            try:
                self._write(writes, audit)
            except Lost:
                self._explain(organisation, entry, was, above)
                continue
            return
        raise _contended()

    def delete(self, organisation: str, id: EntryId, audit: AuditRecord) -> bool:
        for _ in range(ROUNDS):
            entry = self.get(organisation, id)
            if entry is None:
                return False
            try:
                self._write(self._table.deleted(organisation, entry), audit)
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
        items = self._table.query(room(organisation, "cards"), Limit=CARDS_PER_PAGE)
        return (card for item in items if (card := decoded(Card, item)))

    def organisations(self) -> Iterator[str]:
        items = self._table.query(ORGANISATIONS, "begins_with(sk, :prefix)", {"prefix": NAME_PREFIX})
        return (item["sk"].removeprefix(NAME_PREFIX) for item in items)

    def _added(self, organisation: str, entries: Sequence[Entry], audit: AuditRecord) -> dict[str, EntryId]:
        """Who has each content after what could be added of these was added, in one transaction."""
        held: dict[str, EntryId] = {}
        for _ in range(ROUNDS):
            new = [entry for entry in entries if entry.content_hash not in held]
            if not new:
                return held
            writes = [one for entry in new for one in self._table.added(organisation, entry)]
            try:
                self._write(writes, _told(audit, len(new)))
            except Lost:
                held = self.holders(organisation, [entry.content_hash for entry in entries])
                continue
            return held | {entry.content_hash: entry.id for entry in new}
        raise _contended()

    def _explain(self, organisation: str, entry: Entry, was: Entry, above: Sequence[Entry]) -> None:
        """Why the entry was not replaced. Returns if that is over."""
        stored = self.get_many(organisation, [was.id, *(one.id for one in above)])
        if any(one.id not in stored or stored[one.id].revision != one.revision for one in (was, *above)):
            raise Stale from None
        holder = self.holders(organisation, [entry.content_hash]).get(entry.content_hash, entry.id)
        if holder != entry.id:
            raise Taken(holder) from None

    def _replayed(self, organisation: str, once: Once) -> Replayed | None:
        item = self._table.get(once_key(organisation, once.key))
        if item is None or item["expiresAt"] <= self._clock():
            return None
        return Replayed(EntryId(item["id"]), item["request"])

    def _change(self, organisation: str, ids: Sequence[EntryId], change: str, condition: str, **values: Any) -> None:
        known = [id for id in dict.fromkeys(ids) if is_id(id)]
        for part in batches(known, MAX_CHANGED):
            self._changed([self._table.changed(organisation, id, change, condition, values) for id in part])

    def _changed(self, changes: Sequence[list[Write]]) -> None:
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
        self._table.write(self._table.named(organisation))
        self._named.add(organisation)

    def _write(self, writes: Sequence[Write], *audit: AuditRecord) -> None:
        self._table.transact([*writes, *audit_writes(self._activity, audit, MEMORY)])


def _told(audit: AuditRecord, entries: int) -> AuditRecord:
    """The record of one transaction among several."""
    return replace(audit, id=secrets.token_hex(6), details={**audit.details, "entries": str(entries)})


def _contended() -> Unavailable:
    return Unavailable("Others keep writing the same entries just now.", retry_after_seconds=1)
