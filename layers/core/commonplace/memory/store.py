"""Entries on DynamoDB, table `records`.

An entry is itself, its card, its content's hash, which makes content unique, and its keys and counts
(`memory.facets`), all written by one transaction. Of concurrent writers one succeeds; the others see a condition
fail, read again, and answer by what they find. Race and outage are never confused: what does not end in a bounded
number of rounds is Unavailable.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from commonplace.kernel.audit import Lost
from commonplace.kernel.audit_store import MEMORY
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import decoded
from commonplace.kernel.records import Change as Transaction
from commonplace.kernel.records import Records, is_id
from commonplace.kernel.table import Write
from commonplace.memory.facets import (
    LAST,
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
from commonplace.memory.records import (
    KEYS_PER_PAGE,
    NAME_PREFIX,
    ORGANISATIONS,
    REPAIRS,
    WRITES,
    EntryTable,
    Once,
    deleted_key,
    entry_key,
    hash_key,
    once_key,
    read_entry,
    room,
    summed,
)
from commonplace.search.source import batches

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.audit import AuditRecord


ITEMS_AN_ENTRY = 3
"""Beside its keys and counts."""
MAX_WRITES = 100
"""Writes of one transaction, which may also have 4 MB: it takes fewer than ten entries."""
MAX_CHANGED = 30
"""Entries whose revision, or parent, one transaction changes."""
CARDS_PER_PAGE = 500
"""Some 200 KB: a page comes well within the time that is given to a call."""
KEPT_SECONDS = 30 * 86_400
"""How long a deletion can be undone."""


class Stale(Exception):
    """The entry is not in the version that the change was made for, or is gone. Nothing was written."""


class Taken(Exception):
    """Another entry of the organisation has this content. Nothing was written."""

    def __init__(self, id: EntryId) -> None:
        super().__init__(id)
        self.id = id


@dataclass(frozen=True, slots=True)
class Replayed:
    """This was done before, under the same key."""

    id: EntryId
    request: str


class DynamoEntries:
    """The record of what is remembered. Reads are consistent. All methods raise Unavailable.

    Each call concerns one organisation, which comes first; no id, hash or key reaches another's items. A mutation and
    its audit record are one transaction.
    """

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
        self._records = Records(self._table, activity, MEMORY)
        self._clock = clock
        self._named: set[str] = set()

    def get(self, organisation: str, id: EntryId) -> Entry | None:
        return read_entry(organisation, self._table.get(entry_key(organisation, id))) if is_id(id) else None

    def get_many(self, organisation: str, ids: Sequence[EntryId]) -> dict[EntryId, Entry]:
        """Return those that are there, in no order."""
        keys = [entry_key(organisation, id) for id in dict.fromkeys(ids) if is_id(id)]
        items = self._table.get_many(keys)
        return {entry.id: entry for item in items if (entry := read_entry(organisation, item))}

    def holders(self, organisation: str, hashes: Sequence[str]) -> dict[str, EntryId]:
        """Return which entries have these contents, by content hash."""
        keys = [hash_key(organisation, one) for one in dict.fromkeys(hashes) if is_id(one)]
        return {item["sk"]: EntryId(item["id"]) for item in self._table.get_many(keys)}

    def add(self, organisation: str, entries: Sequence[Entry], audit: AuditRecord) -> dict[str, EntryId]:
        """Add the entries whose content nobody has yet, in as few transactions as DynamoDB takes.

        Returns who has each content now, by hash: an entry's own id when it was added, another's when it was not.
        Each transaction carries a copy of the audit record, under an id of its own, with the number of its entries.
        """
        first: dict[str, Entry] = {}
        for entry in entries:
            first.setdefault(entry.content_hash, entry)
        self._name(organisation)
        held: dict[str, EntryId] = {}
        for part in _transactions(list(first.values())):
            held |= self._added(organisation, part, audit)
        return held

    def _added(self, organisation: str, entries: Sequence[Entry], audit: AuditRecord) -> dict[str, EntryId]:
        """Return who has each content after what could be added of these was added, in one transaction."""
        held: dict[str, EntryId] = {}

        def decide(transaction: Transaction) -> dict[str, EntryId]:
            new = [entry for entry in entries if entry.content_hash not in held]
            if new:
                transaction.writes += [one for entry in new for one in self._table.added(organisation, entry)]
                self._count(transaction, together(change(None, entry) for entry in new), _numbered(audit, len(new)))
            return held | {entry.content_hash: entry.id for entry in new}

        def overtaken() -> None:
            held.update(self.holders(organisation, [entry.content_hash for entry in entries]))

        return self._records.change(organisation, decide, overtaken)

    def add_once(self, organisation: str, entry: Entry, audit: AuditRecord, once: Once) -> EntryId | Replayed:
        """Add one entry, remembered under the key: also when the content was there already."""
        self._name(organisation)

        def decide(transaction: Transaction) -> EntryId | Replayed:
            known = self._table.get(once_key(organisation, once.key))
            if known and known["expiresAt"] > self._clock():
                return Replayed(EntryId(known["id"]), known["request"])
            holder = self.holders(organisation, [entry.content_hash]).get(entry.content_hash)
            transaction.writes.append(self._table.once(organisation, once, holder or entry.id, int(self._clock())))
            if holder:
                where = hash_key(organisation, entry.content_hash)
                transaction.writes.append(self._table.check(where, "#id = :id", id=holder))
                return holder
            transaction.writes += self._table.added(organisation, entry)
            self._count(transaction, change(None, entry), _numbered(audit, 1))
            return entry.id

        return self._records.change(organisation, decide)

    def replace(
        self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord, above: Sequence[Entry] = ()
    ) -> None:
        """Put `entry` in the place of `was`, if those `above` it are as they were read. Raises Stale and Taken.

        Where its version grows, `was` is stored among its versions.
        """
        if entry.id != was.id or entry.revision <= was.revision:
            raise ValueError("an entry keeps its id, and its revision grows")

        def decide(transaction: Transaction) -> Sequence[Write]:
            transaction.writes += self._table.replaced(organisation, entry, was)
            transaction.writes += [self._table.unchanged(organisation, one) for one in above]
            return self._count(transaction, change(was, entry), audit)

        def overtaken() -> None:
            stored = self.get_many(organisation, [was.id, *(one.id for one in above)])
            if any(one.id not in stored or stored[one.id].revision != one.revision for one in (was, *above)):
                raise Stale
            holder = self.holders(organisation, [entry.content_hash]).get(entry.content_hash, entry.id)
            if holder != entry.id:
                raise Taken(holder)

        self._finish(organisation, entry, self._records.change(organisation, decide, overtaken))

    def delete(self, organisation: str, id: EntryId, audit: AuditRecord) -> bool:
        """Remove the entry, its card and its hash, and keep it aside for 30 days; False when there is none."""

        def decide(transaction: Transaction) -> bool:
            if (entry := self.get(organisation, id)) is None:
                return False
            until = int(self._clock()) + KEPT_SECONDS
            transaction.writes += self._table.deleted(organisation, entry, self.versions(organisation, id), until)
            self._count(transaction, change(entry, None), audit)
            return True

        return self._records.change(organisation, decide)

    def deleted(self, organisation: str, id: EntryId) -> Entry | None:
        """Return an entry that was deleted in the last 30 days."""
        item = self._table.get(deleted_key(organisation, id)) if is_id(id) else None
        return read_entry(organisation, item) if item and item["expiresAt"] > self._clock() else None

    def restore(self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord) -> None:
        """Add `entry`, which is `was` among the deleted, and keep its versions. Raises Stale and Taken."""
        if entry.id != was.id or entry.revision <= was.revision:
            raise ValueError("an entry keeps its id, and its revision grows")

        def decide(transaction: Transaction) -> Sequence[Write]:
            versions = self.versions(organisation, was.id)
            transaction.writes += self._table.restored(organisation, entry, was, versions, self._clock())
            return self._count(transaction, change(None, entry), audit)

        def overtaken() -> None:
            stored = self.deleted(organisation, was.id)
            if stored is None or stored.revision != was.revision:
                raise Stale
            if holder := self.holders(organisation, [entry.content_hash]).get(entry.content_hash):
                raise Taken(holder)

        self._finish(organisation, entry, self._records.change(organisation, decide, overtaken))

    def versions(self, organisation: str, id: EntryId) -> tuple[Entry, ...]:
        """Return the entry as it was before each of its last 20 changes, the oldest first; of a deleted one as well."""
        items = self._table.query(room(organisation, f"versions#{id}")) if is_id(id) else ()
        return tuple(entry for item in items if (entry := read_entry(organisation, item)))

    def forget_parent(self, organisation: str, ids: Sequence[EntryId], parent: EntryId) -> None:
        """Take the parent that is gone out of these entries. Their version stays, for nobody has changed them."""
        how = "SET #revision = #revision + :one REMOVE #parentId"
        gone = parent_facet(parent)
        self._change(
            [
                self._table.changed(organisation, entry.id, how, "#parentId = :parent", {"one": 1, "parent": parent})
                + self._table.removed(organisation, [(gone, position(entry))])
                for entry in self.get_many(organisation, ids).values()
            ]
        )

    def touch(self, organisation: str, ids: Sequence[EntryId]) -> None:
        """Raise the revision of these entries, so that the index writes them again. Those that are gone stay gone."""
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
        """Return the entries of a facet in order of their positions, from `low` to `high`, both included where given.

        `page` is how many are wanted, as far as is known: so many are read at a time.
        """
        low, high = low or " ", high or LAST
        if low > high:  # which BETWEEN refuses
            return iter(())
        items = self._table.query(
            room(organisation, f"facet#{facet}"),
            "sk BETWEEN :low AND :high",
            {"low": low, "high": high},
            ScanIndexForward=not newest_first,
            Limit=max(1, min(page, KEYS_PER_PAGE)),
        )
        return (found for item in items if (found := decoded(Key, item)))

    def counts(self, organisation: str, facet: str) -> Counts:
        """Return what the entries of a facet that is counted add up to."""
        items = self._table.query(room(organisation, "counts"), "begins_with(sk, :facet)", {"facet": f"{facet}#"})
        return summed(items)

    def tally(self, organisation: str) -> Tally:
        """Return all counts."""
        counts: dict[str, Counts] = {}
        marks: Counter[str] = Counter()
        items = self._table.query(room(organisation, "counts"))
        for facet, shards in groupby(items, lambda item: str(item["sk"]).rpartition("#")[0]):
            found = list(shards)
            counts[facet] = summed(found)
            for name in (WRITES, REPAIRS):
                marks[name] += sum(item.get(name, 0) for item in found)
        return Tally(counts=counts, writes=marks[WRITES], repairs=marks[REPAIRS])

    def correct(self, organisation: str, drift: AllCounts, tally: Tally) -> None:
        """Add to counts what they lack, unless somebody has done so since `tally`."""
        # Whoever is overtaken leaves the rest as well: it is being added.
        with suppress(Lost):
            for part in batches(list(drift.items()), MAX_CHANGED):
                self._table.transact(self._table.corrected(organisation, dict(part), tally))
                tally = replace(tally, repairs=tally.repairs + 1)

    def place(self, organisation: str, id: EntryId, places: Sequence[Place]) -> None:
        """Put every key of the entry where it belongs, and remove those `places` that are not its own.

        Does nothing to an entry that is changed meanwhile, for its keys were written with it.
        """
        entry = self.get(organisation, id)
        own = change(None, entry)
        gone = [place for place in places if place not in own.put]
        absent = self._table.check(entry_key(organisation, id), "attribute_not_exists(pk)")
        as_read = self._table.unchanged(organisation, entry) if entry else absent
        with suppress(Lost):
            placed, removed = self._table.placed(organisation, own), self._table.removed(organisation, gone)
            self._table.transact([as_read, *placed, *removed])

    def cards(self, organisation: str, *, after: str = "") -> Iterator[Card]:
        """Return the cards of the entries whose ids come after this one, in order of ids: of all without one."""
        behind = ("sk > :after", {"after": after}) if after else ()
        items = self._table.query(room(organisation, "cards"), *behind, Limit=CARDS_PER_PAGE)
        return (card for item in items if (card := decoded(Card, item)))

    def organisations(self) -> Iterator[str]:
        """Return every organisation that ever added an entry."""
        items = self._table.query(ORGANISATIONS, "begins_with(sk, :prefix)", {"prefix": NAME_PREFIX})
        return (item["sk"].removeprefix(NAME_PREFIX) for item in items)

    def _change(self, changes: Sequence[list[Write]]) -> None:
        for part in batches(changes, MAX_CHANGED):
            self._changed(part)

    def _changed(self, changes: Sequence[list[Write]]) -> None:
        """Do all of them that can be done: one that cannot fails its transaction, so halves are tried."""
        try:
            self._table.transact(one for change in changes for one in change)
        except Lost:
            if len(changes) > 1:
                middle = len(changes) // 2
                self._changed(changes[:middle])
                self._changed(changes[middle:])

    def _name(self, organisation: str) -> None:
        """Note that there is this organisation: apart, for all who add at once would be in each other's way."""
        if organisation not in self._named:
            self._table.write(self._table.named(organisation))
            self._named.add(organisation)

    def _count(self, transaction: Transaction, how: Change, audit: AuditRecord) -> Sequence[Write]:
        """Add what the writes do to facets and counts, and return what is to be removed after the transaction.

        Only a change of nearly all of very many tags does not fit: then keys are put before, and others removed after.
        Meanwhile a key may say too much, which a list sees by the entry.
        """
        transaction.record(audit)
        transaction.writes += self._table.counted(organisation := transaction.organisation, how)
        puts, removed = self._table.placed(organisation, how), self._table.removed(organisation, how.removed)
        excess = max(len(transaction.writes) + len(puts) + len(removed) + 1 - MAX_WRITES, 0)
        if excess:
            self._table.transact(puts[:excess])
        late = removed[: max(excess - len(puts), 0)]
        transaction.writes += [*puts[excess:], *removed[len(late) :]]
        return late

    def _finish(self, organisation: str, entry: Entry, late: Sequence[Write]) -> None:
        """Remove the keys that did not fit into the transaction of an entry, unless it was changed since.

        The change is done by then: what cannot be removed now is left to the repair.
        """
        if late:
            with suppress(Lost, Unavailable):
                self._table.transact([self._table.unchanged(organisation, entry), *late])


def _transactions(entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """Yield runs of entries that one transaction takes, with the record of it."""
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


def _numbered(audit: AuditRecord, entries: int) -> AuditRecord:
    """Return the record of one transaction among several."""
    return replace(audit, id=secrets.token_hex(6), details={**audit.details, "entries": str(entries)})
