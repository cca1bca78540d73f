"""Entries on DynamoDB, table `records`: `memory.ports.EntryStore`.

An entry is itself, its card, its content's hash, which makes content unique, and its keys and counts
(`memory.facet_store`), all written by one transaction. Of concurrent writers one succeeds; the others see a condition
fail, read again, and answer by what they find. Race and outage are never
confused: what does not end in a bounded number of rounds is Unavailable.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from commonplace.kernel.audit import Lost
from commonplace.kernel.audit_store import MEMORY, audit_writes
from commonplace.kernel.items import decoded
from commonplace.kernel.table import Write
from commonplace.memory.facet_store import FacetTable
from commonplace.memory.facets import (
    AllCounts,
    Change,
    Counts,
    Key,
    Place,
    Tally,
    change,
    parent_facet,
    position,
    together,
)
from commonplace.memory.model import Card, Entry, EntryId
from commonplace.memory.ports import KEYS_PER_PAGE, Once, Replayed, Stale, Taken
from commonplace.memory.records import (
    NAME_PREFIX,
    ORGANISATIONS,
    EntryTable,
    contended,
    deleted_key,
    entry_key,
    hash_key,
    is_id,
    once_key,
    read_entry,
    room,
)
from commonplace.search.source import batches

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.audit import AuditRecord


ITEMS_AN_ENTRY = 3
"""Beside its keys and counts."""
MAX_WRITES = 100
"""Of one transaction, which may also have 4 MB: it takes fewer than ten entries."""
MAX_CHANGED = 30
"""Entries whose revision, or parent, one transaction changes."""
CARDS_PER_PAGE = 500
"""Some 200 KB: a page comes well within the time that is given to a call."""
ROUNDS = 12
KEPT_SECONDS = 30 * 86_400
"""How long a deletion can be undone."""


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
        self._facets = FacetTable(self._table)
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
        for part in _transactions(list(first.values())):
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
                    writes = [noted, *self._table.added(organisation, entry)]
                    self._mutate(organisation, writes, change(None, entry), _told(audit, 1))
            except Lost:
                continue
            return holder or entry.id
        raise contended()

    def replace(
        self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord, above: Sequence[Entry] = ()
    ) -> None:
        if entry.id != was.id or entry.revision <= was.revision:
            raise ValueError("an entry keeps its id, and its revision grows")
        writes = self._table.replaced(organisation, entry, was)
        writes += [self._table.unchanged(organisation, one) for one in above]
        for _ in range(ROUNDS):
            try:
                self._mutate(organisation, writes, change(was, entry), audit, entry)
            except Lost:
                self._explain(organisation, entry, was, above)
                continue
            return
        raise contended()

    def delete(self, organisation: str, id: EntryId, audit: AuditRecord) -> bool:
        for _ in range(ROUNDS):
            entry = self.get(organisation, id)
            if entry is None:
                return False
            until = int(self._clock()) + KEPT_SECONDS
            writes = self._table.deleted(organisation, entry, self.versions(organisation, id), until)
            try:
                self._mutate(organisation, writes, change(entry, None), audit)
            except Lost:
                continue
            return True
        raise contended()

    def deleted(self, organisation: str, id: EntryId) -> Entry | None:
        item = self._table.get(deleted_key(organisation, id)) if is_id(id) else None
        return read_entry(organisation, item) if item and item["expiresAt"] > self._clock() else None

    def restore(self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord) -> None:
        if entry.id != was.id or entry.revision <= was.revision:
            raise ValueError("an entry keeps its id, and its revision grows")
        for _ in range(ROUNDS):
            versions = self.versions(organisation, was.id)
            writes = self._table.restored(organisation, entry, was, versions, self._clock())
            try:
                self._mutate(organisation, writes, change(None, entry), audit, entry)
            except Lost:
                stored = self.deleted(organisation, was.id)
                if stored is None or stored.revision != was.revision:
                    raise Stale from None
                if holder := self.holders(organisation, [entry.content_hash]).get(entry.content_hash):
                    raise Taken(holder) from None
                continue
            return
        raise contended()

    def versions(self, organisation: str, id: EntryId) -> tuple[Entry, ...]:
        items = self._table.query(room(organisation, f"versions#{id}")) if is_id(id) else ()
        return tuple(entry for item in items if (entry := read_entry(organisation, item)))

    def forget_parent(self, organisation: str, ids: Sequence[EntryId], parent: EntryId) -> None:
        how = "SET #revision = #revision + :one REMOVE #parentId"
        gone = parent_facet(parent)
        changes = [
            self._table.changed(organisation, entry.id, how, "#parentId = :parent", {"one": 1, "parent": parent})
            + self._facets.removed(organisation, [(gone, position(entry))])
            for entry in self.get_many(organisation, ids).values()
        ]
        self._change(changes)

    def touch(self, organisation: str, ids: Sequence[EntryId]) -> None:
        how, there = "SET #revision = #revision + :one", "attribute_exists(pk)"
        known = [id for id in dict.fromkeys(ids) if is_id(id)]
        self._change([self._table.changed(organisation, id, how, there, {"one": 1}) for id in known])

    def keys(
        self,
        organisation: str,
        facet: str,
        *,
        newest_first: bool = True,
        low: str = "",
        high: str = "",
        page: int = KEYS_PER_PAGE,
    ) -> Iterator[Key]:
        return self._facets.keys(organisation, facet, newest_first=newest_first, low=low, high=high, page=page)

    def counts(self, organisation: str, facet: str) -> Counts:
        return self._facets.counts(organisation, facet)

    def tally(self, organisation: str) -> Tally:
        return self._facets.tally(organisation)

    def correct(self, organisation: str, drift: AllCounts, tally: Tally) -> None:
        # Whoever is overtaken leaves the rest as well: it is being added.
        with suppress(Lost):
            for part in batches(list(drift.items()), MAX_CHANGED):
                self._write(self._facets.corrected(organisation, dict(part), tally))
                tally = replace(tally, repairs=tally.repairs + 1)

    def place(self, organisation: str, id: EntryId, places: Sequence[Place]) -> None:
        entry = self.get(organisation, id)
        own = change(None, entry)
        gone = [place for place in places if place not in own.put]
        there = self._table.unchanged(organisation, entry) if entry else self._table.absent(organisation, id)
        with suppress(Lost):
            self._write([there, *self._facets.placed(organisation, own), *self._facets.removed(organisation, gone)])

    def cards(self, organisation: str, *, after: str = "") -> Iterator[Card]:
        behind = ("sk > :after", {"after": after}) if after else ()
        items = self._table.query(room(organisation, "cards"), *behind, Limit=CARDS_PER_PAGE)
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
                sum_of = together(change(None, entry) for entry in new)
                self._mutate(organisation, writes, sum_of, _told(audit, len(new)))
            except Lost:
                held = self.holders(organisation, [entry.content_hash for entry in entries])
                continue
            return held | {entry.content_hash: entry.id for entry in new}
        raise contended()

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

    def _change(self, changes: Sequence[list[Write]]) -> None:
        for part in batches(changes, MAX_CHANGED):
            self._changed(part)

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

    def _mutate(
        self, organisation: str, writes: Sequence[Write], how: Change, audit: AuditRecord, stays: Entry | None = None
    ) -> None:
        """The writes with what they do to facets and counts. Raises Lost.

        Only an entry that `stays`, and changes nearly all of very many tags, does not fit: then keys are put before,
        and others removed after. Meanwhile a key may say too much, which a list sees by the entry.
        """
        whole = [*writes, *self._facets.counted(organisation, how)]
        puts, removed = self._facets.placed(organisation, how), self._facets.removed(organisation, how.removed)
        excess = max(len(whole) + len(puts) + len(removed) + 1 - MAX_WRITES, 0)
        if excess:
            self._table.transact(puts[:excess])
        late = removed[: max(excess - len(puts), 0)]
        self._write([*whole, *puts[excess:], *removed[len(late) :]], audit)
        if late and stays:
            with suppress(Lost):
                self._table.transact([self._table.unchanged(organisation, stays), *late])

    def _write(self, writes: Sequence[Write], *audit: AuditRecord) -> None:
        self._table.transact([*writes, *audit_writes(self._activity, audit, MEMORY)])


def _transactions(entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """Runs of entries that one transaction takes, with the record of it."""
    run: list[Entry] = []
    placed, counted = 0, set[str]()
    for entry in entries:
        own = change(None, entry)
        placed += ITEMS_AN_ENTRY + len(own.put)
        counted |= own.counts.keys()
        if run and placed + len(counted) >= MAX_WRITES:
            yield run
            run, placed, counted = [], ITEMS_AN_ENTRY + len(own.put), set(own.counts)
        run.append(entry)
    if run:
        yield run


def _told(audit: AuditRecord, entries: int) -> AuditRecord:
    """The record of one transaction among several."""
    return replace(audit, id=secrets.token_hex(6), details={**audit.details, "entries": str(entries)})
