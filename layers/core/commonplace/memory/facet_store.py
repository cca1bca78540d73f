"""Facets and counts on DynamoDB, beside the entries that they tell of: see `memory.facets`.

    {org}#memory#facet#{facet}   {position}        a key
    {org}#memory#counts          {facet}#{shard}   cells, that mutations add to

A mutation adds to one shard, chosen anew each time, so that those who write at once seldom meet.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.memory.facets import LAST, Change, Counts, Key, Place
from commonplace.memory.ports import KEYS_PER_PAGE
from commonplace.memory.records import room

if TYPE_CHECKING:
    from commonplace.kernel.table import Table, Write

SHARDS = 16

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
        shard = _RANDOM.randrange(SHARDS)
        return [
            self._table.update(count_key(organisation, facet, shard), _adding(cells), "", **cells)
            for facet, cells in change.counts.items()
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
        return _sum(self._table.query(room(organisation, "counts"), "begins_with(sk, :facet)", {"facet": f"{facet}#"}))

    def all_counts(self, organisation: str) -> Iterator[tuple[str, Counts]]:
        """Every facet with counts, in order."""
        items = self._table.query(room(organisation, "counts"))
        for facet, shards in groupby(items, lambda item: str(item["sk"]).rpartition("#")[0]):
            yield facet, _sum(shards)


def _adding(cells: Counts) -> str:
    return "ADD " + ", ".join(f"#{cell} :{cell}" for cell in cells)


def _sum(shards: Iterator[Item]) -> Counts:
    total: Counter[str] = Counter()
    for item in shards:
        total.update({cell: amount for cell, amount in item.items() if cell not in ("pk", "sk")})
    return {cell: amount for cell, amount in total.items() if amount}
