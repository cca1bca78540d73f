"""Facets and counts on DynamoDB, beside the entries that they tell of: see `memory.facets`.

    {org}#memory#facet#{facet}   {position}        a key
    {org}#memory#counts          {facet}#{shard}   cells, that mutations add to

A mutation adds to one shard, chosen anew each time, so that those who write at once seldom meet. It counts itself in
`writes` of the counts of all, so that a repair knows whether it has seen one state (`memory.facet_repair`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.memory.facets import ALL, LAST, AllCounts, Change, Counts, Key, Place, Tally
from commonplace.memory.ports import KEYS_PER_PAGE
from commonplace.memory.records import room

if TYPE_CHECKING:
    from commonplace.kernel.table import Table, Write

SHARDS = 16
WRITES, REPAIRS = "writes", "repairs"
NO_CELLS = {"pk", "sk", WRITES, REPAIRS}

_RANDOM = random.SystemRandom()


def facet_key(organisation: str, place: Place) -> Item:
    facet, position = place
    return key(room(organisation, f"facet#{facet}"), position)


def count_key(organisation: str, facet: str, shard: int) -> Item:
    return key(room(organisation, "counts"), f"{facet}#{shard:02d}")


class FacetTable:
    """Keys and counts in the table of the entries."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def placed(self, organisation: str, change: Change) -> list[Write]:
        return [self._table.put(facet_key(organisation, place), encode(one)) for place, one in change.put.items()]

    def removed(self, organisation: str, places: Sequence[Place]) -> list[Write]:
        return [self._table.delete(facet_key(organisation, place)) for place in places]

    def counted(self, organisation: str, change: Change) -> list[Write]:
        counted = {**change.counts, ALL: {**change.counts.get(ALL, {}), WRITES: 1}}
        return self._added(organisation, counted, random_shard())

    def corrected(self, organisation: str, drift: AllCounts, tally: Tally) -> list[Write]:
        """Adds to the first shards what they lack, unless somebody else has since `tally`."""
        own = {**drift.get(ALL, {}), REPAIRS: 1}
        once = "attribute_not_exists(#repairs) OR #repairs = :was"
        change = self._table.update(count_key(organisation, ALL, 0), adding(own), once, was=tally.repairs, **own)
        return [change, *self._added(organisation, {name: one for name, one in drift.items() if name != ALL}, 0)]

    def _added(self, organisation: str, counts: AllCounts, shard: int) -> list[Write]:
        return [
            self._table.update(count_key(organisation, facet, shard), adding(cells), "", **cells)
            for facet, cells in counts.items()
            if cells
        ]

    def keys(
        self, organisation: str, facet: str, *, newest_first: bool, low: str, high: str, page: int
    ) -> Iterator[Key]:
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
        return summed(
            self._table.query(room(organisation, "counts"), "begins_with(sk, :facet)", {"facet": f"{facet}#"})
        )

    def tally(self, organisation: str) -> Tally:
        counts: dict[str, Counts] = {}
        marks: Counter[str] = Counter()
        items = self._table.query(room(organisation, "counts"))
        for facet, shards in groupby(items, lambda item: str(item["sk"]).rpartition("#")[0]):
            found = list(shards)
            counts[facet] = summed(found)
            for name in (WRITES, REPAIRS):
                marks[name] += sum(item.get(name, 0) for item in found)
        return Tally(counts=counts, writes=marks[WRITES], repairs=marks[REPAIRS])


def random_shard() -> int:
    return _RANDOM.randrange(SHARDS)


def adding(cells: Counts) -> str:
    """The update that adds to these cells, whose values are the cells themselves."""
    return "ADD " + ", ".join(f"#{cell} :{cell}" for cell in cells)


def summed(shards: Iterable[Item]) -> Counts:
    """Over all shards, without cells of 0."""
    total: Counter[str] = Counter()
    for item in shards:
        total.update({cell: amount for cell, amount in item.items() if cell not in NO_CELLS})
    return {cell: amount for cell, amount in total.items() if amount}
