"""Items of the memory in the table `records`, and the writes of each kind of change.

    {org}#memory#facet#{facet}   {position}        a key of an entry in a facet
    {org}#memory#counts          {facet}#{shard}   cells, that mutations add to

Every key begins with the organisation, so no id, hash, key or handle of one reaches an item of another. Metadata is
JSON text: DynamoDB's numbers have other bounds than JSON's, and it would not return `1.0` as such.

A mutation adds its counts to one shard, chosen anew each time, so that those who write at once seldom meet. It counts
itself in `writes` of the counts of all, so that a repair knows whether it has seen one state (`memory.upkeep`).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from commonplace.kernel.environment import is_organisation
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import Table
from commonplace.memory.facets import ALL, AllCounts, Change, Counts, Place, Tally
from commonplace.memory.model import Entry, EntryId

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from commonplace.kernel.table import Write

MAX_VERSIONS = 20
"""Former versions that are stored of an entry: with them, its deletion is one transaction."""
ORGANISATIONS, NAME_PREFIX = "organisations", "memory#"
SHARDS = 16
WRITES, REPAIRS = "writes", "repairs"
NO_CELLS = {"pk", "sk", WRITES, REPAIRS}
KEYS_PER_PAGE = 500
"""Some 200 KB."""

_RANDOM = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Once:
    """A request that is to be done once, however often it is sent."""

    key: str
    """SHA-256 of the caller's key."""
    request: str
    """SHA-256 of the request: the same key with another request is a conflict."""
    expires_at: int
    """Epoch seconds; at least a day ahead."""


def room(organisation: str, name: str) -> str:
    """Return the partition of one kind of records. Raises ValueError for what cannot name an organisation."""
    if not is_organisation(organisation):
        raise ValueError("no organisation, no memory")
    return f"{organisation}#memory#{name}"


def entry_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "entries"), id)


def card_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "cards"), id)


def hash_key(organisation: str, content_hash: str) -> Item:
    return key(room(organisation, "hashes"), content_hash)


def version_key(organisation: str, id: str, version: int) -> Item:
    """Return the key of an entry as it was before it was changed."""
    return key(room(organisation, f"versions#{id}"), f"{version:08d}")


def deleted_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "deleted"), id)


def once_key(organisation: str, hashed: str) -> Item:
    return key(room(organisation, "once"), hashed)


def facet_key(organisation: str, place: Place) -> Item:
    facet, position = place
    return key(room(organisation, f"facet#{facet}"), position)


def count_key(organisation: str, facet: str, shard: int) -> Item:
    return key(room(organisation, "counts"), f"{facet}#{shard:02d}")


def entry_item(entry: Entry) -> Item:
    text = json.dumps(dict(entry.metadata), separators=(",", ":"))
    return encode(replace(entry, metadata={})) | {"metadata": text}


def read_entry(organisation: str, item: Mapping[str, Any] | None) -> Entry | None:
    """None for an item that is not there, that is no entry, or that is not this organisation's."""
    bare = {name: value for name, value in (item or {}).items() if name != "metadata"}
    entry = decoded(Entry, bare)
    if item is None or entry is None or entry.organisation != organisation:
        return None
    return replace(entry, metadata=json.loads(item.get("metadata", "{}")))


class EntryTable(Table):
    """Conditions say what must still be so; who meets one that fails reads again."""

    def added(self, organisation: str, entry: Entry) -> list[Write]:
        return [
            self.new(entry_key(organisation, entry.id), entry_item(replace(entry, organisation=organisation))),
            self.put(card_key(organisation, entry.id), encode(entry.card)),
            self.new(hash_key(organisation, entry.content_hash), {"id": entry.id}),
        ]

    def replaced(self, organisation: str, entry: Entry, was: Entry) -> list[Write]:
        item = entry_item(replace(entry, organisation=organisation))
        put = self.put(entry_key(organisation, was.id), item, "#revision = :revision", revision=was.revision)
        writes = [put, self.put(card_key(organisation, was.id), encode(entry.card))]
        if entry.version != was.version:
            writes.append(self.put(version_key(organisation, was.id, was.version), entry_item(was)))
        if entry.version - MAX_VERSIONS > 1:
            writes.append(self.delete(version_key(organisation, was.id, entry.version - MAX_VERSIONS - 1)))
        if entry.content_hash != was.content_hash:
            writes.append(self.new(hash_key(organisation, entry.content_hash), {"id": entry.id}))
            writes.append(self._free(organisation, was))
        return writes

    def deleted(self, organisation: str, entry: Entry, versions: Sequence[Entry], until: int) -> list[Write]:
        """`until`, in epoch seconds, is how long the entry and its former `versions` can be brought back."""
        return [
            self.delete(entry_key(organisation, entry.id), "#revision = :revision", revision=entry.revision),
            self.delete(card_key(organisation, entry.id)),
            self._free(organisation, entry),
            self.put(deleted_key(organisation, entry.id), entry_item(entry) | {"expiresAt": until}),
            *self._of_versions(organisation, versions, "SET #expiresAt = :until", until=until),
        ]

    def restored(
        self, organisation: str, entry: Entry, was: Entry, versions: Sequence[Entry], now: float
    ) -> list[Write]:
        there = "#revision = :revision AND #expiresAt > :now"
        return [
            *self.added(organisation, entry),
            self.delete(deleted_key(organisation, was.id), there, revision=was.revision, now=int(now)),
            *self._of_versions(organisation, versions, "REMOVE #expiresAt"),
        ]

    def _of_versions(self, organisation: str, versions: Sequence[Entry], change: str, **values: Any) -> list[Write]:
        places = [version_key(organisation, one.id, one.version) for one in versions]
        return [self.update(where, change, "attribute_exists(pk)", **values) for where in places]

    def _free(self, organisation: str, entry: Entry) -> Write:
        where = hash_key(organisation, entry.content_hash)
        return self.delete(where, "attribute_not_exists(pk) OR #id = :id", id=entry.id)

    def changed(
        self, organisation: str, id: EntryId, change: str, condition: str, values: Mapping[str, Any]
    ) -> list[Write]:
        """Return the same update of an entry and its card."""
        places = entry_key(organisation, id), card_key(organisation, id)
        return [self.update(where, change, condition, **values) for where in places]

    def named(self, organisation: str) -> Write:
        """Note that there is this organisation. Raises ValueError for what cannot name one."""
        room(organisation, "")
        return self.new(key(ORGANISATIONS, f"{NAME_PREFIX}{organisation}"), {})

    def unchanged(self, organisation: str, entry: Entry) -> Write:
        return self.check(entry_key(organisation, entry.id), "#revision = :revision", revision=entry.revision)

    def once(self, organisation: str, once: Once, id: EntryId, now: int) -> Write:
        item = encode(replace(once, key="")) | {"id": id}
        free = "attribute_not_exists(pk) OR #expiresAt <= :now"
        return self.put(once_key(organisation, once.key), item, free, now=now)

    def placed(self, organisation: str, change: Change) -> list[Write]:
        return [self.put(facet_key(organisation, place), encode(one)) for place, one in change.put.items()]

    def removed(self, organisation: str, places: Sequence[Place]) -> list[Write]:
        return [self.delete(facet_key(organisation, place)) for place in places]

    def counted(self, organisation: str, change: Change) -> list[Write]:
        counted = {**change.counts, ALL: {**change.counts.get(ALL, {}), WRITES: 1}}
        return self._counts_added(organisation, counted, random_shard())

    def corrected(self, organisation: str, drift: AllCounts, tally: Tally) -> list[Write]:
        """Add to the first shards what they lack, unless somebody else has since `tally`."""
        own = {**drift.get(ALL, {}), REPAIRS: 1}
        once = "attribute_not_exists(#repairs) OR #repairs = :was"
        change = self.update(count_key(organisation, ALL, 0), adding(own), once, was=tally.repairs, **own)
        rest = {name: one for name, one in drift.items() if name != ALL}
        return [change, *self._counts_added(organisation, rest, 0)]

    def _counts_added(self, organisation: str, counts: AllCounts, shard: int) -> list[Write]:
        return [
            self.update(count_key(organisation, facet, shard), adding(cells), "", **cells)
            for facet, cells in counts.items()
            if cells
        ]


def random_shard() -> int:
    return _RANDOM.randrange(SHARDS)


def adding(cells: Counts) -> str:
    """Return the update that adds to these cells, whose values are the cells themselves."""
    return "ADD " + ", ".join(f"#{cell} :{cell}" for cell in cells)


def summed(shards: Iterable[Item]) -> Counts:
    """Return the sums over all shards, without cells of 0."""
    total: Counter[str] = Counter()
    for item in shards:
        total.update({cell: amount for cell, amount in item.items() if cell not in NO_CELLS})
    return {cell: amount for cell, amount in total.items() if amount}
