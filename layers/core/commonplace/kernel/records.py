"""Records of organisations in one DynamoDB table: what every store does alike, written once.

A partition is `{organisation}#{room}`, an item is a frozen dataclass with `id` and `revision`. A change reads, names
its writes, and is committed with its audit records in one transaction; an overtaken one reads again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from commonplace.kernel.audit import AuditRecord, Lost
from commonplace.kernel.audit_store import Kind, audit_writes
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import Table, Write

T = TypeVar("T")
R = TypeVar("R")

ROUNDS = 12
"""How often a change is read and decided again while concurrent changes win."""
MAX_ID_CHARACTERS = 200
PAGE = 100
"""Items of a partition that one read of a list asks for."""


@dataclass(frozen=True, slots=True)
class Room(Generic[T]):
    """One kind of records: the name of its partitions after the organisation, and the class of its items."""

    name: str
    kind: type[T]

    def partition(self, organisation: str, *of: str) -> str:
        """Return the partition key; `of` names a part of the room. Raises ValueError without an organisation."""
        if not is_organisation(organisation):
            raise ValueError("records belong to an organisation")
        return "#".join((organisation, self.name, *of))

    def at(self, organisation: str, id: str, *of: str) -> Item:
        """Return the key of one item."""
        return key(self.partition(organisation, *of), id)


def is_id(text: str) -> bool:
    """Return whether a text can be the id of a record: anything else is in no table, and may be no valid key."""
    return 0 < len(text) <= MAX_ID_CHARACTERS and text.isascii() and text.isprintable() and "#" not in text


@dataclass(slots=True)
class Change:
    """The writes of one transaction. Each method names what must still hold when it is committed."""

    table: Table
    organisation: str
    writes: list[Write] = field(default_factory=list)
    audit: list[AuditRecord] = field(default_factory=list)

    def add(self, room: Room[Any], record: Any, *of: str) -> None:
        """Write a record that must not exist yet."""
        self.writes.append(self.table.new(room.at(self.organisation, record.id, *of), encode(record)))

    def replace(self, room: Room[Any], now: Any, was: Any, *of: str) -> None:
        """Write a record over the revision that was read."""
        where = room.at(self.organisation, now.id, *of)
        self.writes.append(self.table.put(where, encode(now), "#revision = :revision", revision=was.revision))

    def remove(self, room: Room[Any], was: Any, *of: str) -> None:
        """Delete the revision that was read."""
        where = room.at(self.organisation, was.id, *of)
        self.writes.append(self.table.delete(where, "#revision = :revision", revision=was.revision))

    def claim(self, room: Room[Any], name: str, holder: str, *of: str) -> None:
        """Reserve a name that one record alone may have."""
        self.writes.append(self.table.new(room.at(self.organisation, name, *of), {"id": holder}))

    def release(self, room: Room[Any], name: str, holder: str, *of: str) -> None:
        """Give up a name that this record holds."""
        where = room.at(self.organisation, name, *of)
        self.writes.append(self.table.delete(where, "#id = :holder", holder=holder))

    def require(
        self, room: Room[Any], id: str, condition: str = "attribute_exists(pk)", *of: str, **values: Any
    ) -> None:
        """Commit only if another record still meets a condition, such as one that gives authority."""
        self.writes.append(self.table.check(room.at(self.organisation, id, *of), condition, **values))

    def count(self, room: Room[Any], id: str, *of: str, **figures: int) -> None:
        """Add to counters, which need not exist yet."""
        added = ", ".join(f"#{name} :{name}" for name in figures)
        self.writes.append(self.table.update(room.at(self.organisation, id, *of), f"ADD {added}", "", **figures))

    def touch(self, room: Room[Any], id: str, condition: str = "attribute_exists(pk)", *of: str, **values: Any) -> None:
        """Add one to the revision of a record that meets a condition: changes that rest on what was read are lost."""
        where = room.at(self.organisation, id, *of)
        self.writes.append(self.table.update(where, "ADD #revision :one", condition, one=1, **values))

    def record(self, *records: AuditRecord) -> None:
        """Commit audit records together with the writes."""
        self.audit += records


class Records:
    """The records of one table. Safe for threads; reads are consistent; every method raises Unavailable."""

    def __init__(self, table: Table, activity: str, audit: Kind) -> None:
        """`activity` is the name of the table of audit records, `audit` the kind that they are filed under."""
        self.table = table
        self._activity = activity
        self._audit = audit

    def get(self, organisation: str, room: Room[T], id: str, *of: str) -> T | None:
        """Return a record, or None."""
        return decoded(room.kind, self.table.get(room.at(organisation, id, *of))) if is_id(id) else None

    def get_many(self, organisation: str, room: Room[T], ids: Sequence[str], *of: str) -> dict[str, T]:
        """Return the records with these ids that exist."""
        keys = [room.at(organisation, id, *of) for id in dict.fromkeys(ids) if is_id(id)]
        found = ((item["sk"], decoded(room.kind, item)) for item in self.table.get_many(keys))
        return {id: record for id, record in found if record is not None}

    def list(
        self,
        organisation: str,
        room: Room[T],
        *of: str,
        after: str | None = None,
        newest: bool = False,
        within: str = "",
        page: int = PAGE,
    ) -> Iterator[T]:
        """Yield the records of a partition in the order of their ids, lazily, beginning after the id `after`.

        `within` is what their ids begin with.
        """
        items = self.items(room.partition(organisation, *of), after=after, newest=newest, within=within, page=page)
        return (record for item in items if (record := decoded(room.kind, item)) is not None)

    def items(
        self, partition: str, *, after: str | None = None, newest: bool = False, within: str = "", page: int = PAGE
    ) -> Iterator[Item]:
        """Yield the items of a partition as `list` yields records, for pointers and other items that are no records."""
        # Whoever knows the rule can seal any position: one outside of the range would widen it.
        beyond = after if after is not None and is_id(after) and after.startswith(within) else ""
        if within:
            # A key takes one condition: the range includes its ends, and so the item itself that was read last.
            low, high = (within, beyond or f"{within}~") if newest else (beyond or within, f"{within}~")
            condition, values = "sk BETWEEN :low AND :high", {"low": low, "high": high}
        else:
            condition = f"sk {'<' if newest else '>'} :after" if beyond else ""
            values = {"after": beyond} if beyond else {}
        found = self.table.query(partition, condition, values, ScanIndexForward=not newest, Limit=page)
        return (item for item in found if item["sk"] != beyond)

    def change(
        self, organisation: str, decide: Callable[[Change], R], overtaken: Callable[[], object] = lambda: None
    ) -> R:
        """Commit what `decide` names, with its audit records, and return its result.

        `decide` reads the present state each time it is called, and raises what its caller should know, or Lost to be
        called again. `overtaken` is called after a concurrent change won, and raises what cannot succeed any more. A
        change without writes commits nothing.
        """
        for _ in range(ROUNDS):
            change = Change(self.table, organisation)
            try:
                result = decide(change)
                if change.writes:
                    self.table.transact([*change.writes, *audit_writes(self._activity, change.audit, self._audit)])
                return result
            except Lost:
                overtaken()
        raise Unavailable("There were concurrent changes of the same records.", retry_after_seconds=1)
