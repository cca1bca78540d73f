"""The items of contributions in the table `records`, and the writes that bring them from one state to the next.

Every key begins with the organisation, but for what is published: a pointer, the text's hash and its bands stand once
more under `public#hive`, a name that no organisation has.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from commonplace.hive import minhash
from commonplace.hive.model import Contribution, Counts, Status
from commonplace.kernel.environment import PUBLIC
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.records import Room
from commonplace.kernel.table import Table, Write

POINTERS = f"{PUBLIC}#hive"
ROOMS: Mapping[Status, str] = {"pending": "pending", "approved": "items", "rejected": "rejected"}

REJECTED_SECONDS = 180 * 86_400

SHARDS, SHARDS_OF_AN_AGENT = 32, 8
"""Items over which figures are spread: of 32 writers at the same moment few meet."""

Where = tuple[str, str]
"""`pk` and `sk`."""


room = Room("hive", Contribution).partition
"""The partition of one kind of records of an organisation: `room("acme", "items")`."""


def places(one: Contribution | None) -> dict[Where, Item]:
    """Every item that a contribution has; the first is itself."""
    if one is None:
        return {}
    owner, id = one.organisation, one.id
    expires = {"expiresAt": epoch(one.decided_at) + REJECTED_SECONDS} if one.status == "rejected" else {}
    found: dict[Where, Item] = {
        (room(owner, ROOMS[one.status]), id): encode(one) | expires,
        (room(owner, f"mine#{one.account}"), id): expires,
    }
    if one.status == "rejected":
        return found
    bands = minhash.bands(one.signature)
    found[room(owner, "hashes"), one.content_hash] = {"id": id}
    found |= {(room(owner, f"near#{band}"), id): {"signature": one.signature} for band in bands}
    if one.status == "approved":
        found[room(owner, "counts"), id] = encode(Counts())
    if one.is_public:
        belongs = {"organisation": owner}
        found[POINTERS, id] = belongs
        found[f"{POINTERS}#hashes", f"{one.content_hash}#{id}"] = belongs
        found |= {(f"{POINTERS}#near#{band}", id): belongs | {"signature": one.signature} for band in bands}
    return found


def contribution_of(organisation: str, item: Mapping[str, Any] | None) -> Contribution | None:
    """None for an item that is not there, that is no contribution, or that is not this organisation's."""
    one = decoded(Contribution, item)
    return one if one is not None and one.organisation == organisation else None


def figures(one: Contribution | None) -> Counter[str]:
    """What a contribution adds to the figures of its organisation."""
    if one is None:
        return Counter()
    found: Counter[str] = Counter({one.status: 1})
    if one.status == "approved":
        found[f"of_{one.category}"] = 1
    if one.is_public:
        found["published"] = 1
    return found


class ContributionTable(Table):
    """The writes of a change. Conditions say what must still be so; who meets one that fails reads again."""

    def changed(self, was: Contribution | None, now: Contribution | None) -> list[Write]:
        before, after = places(was), places(now)
        writes = [self._left(where, was) for where in before if where not in after]
        for where, item in after.items():
            if where not in before:
                writes.append(self.new(key(*where), item))
            elif was is not None and where == main_place(was):
                writes.append(self.put(key(*where), item, "#revision = :revision", revision=was.revision))
            elif item != before[where]:
                writes.append(self.put(key(*where), item))
        return [*writes, *self._figures(was, now)]

    def added(self, organisation: str, **figures: int) -> Write:
        """Adds to figures of an organisation."""
        change = ", ".join(f"#{name} :{name}" for name in figures)
        return self.update(key(room(organisation, "figures"), shard("all", SHARDS)), f"ADD {change}", "", **figures)

    def _left(self, where: Where, was: Contribution | None) -> Write:
        if was is not None and where == main_place(was):
            return self.delete(key(*where), "#revision = :revision", revision=was.revision)
        return self.delete(key(*where))

    def _figures(self, was: Contribution | None, now: Contribution | None) -> list[Write]:
        change = figures(now)
        change.subtract(figures(was))
        if was is None:
            change["contributed"] = 1
        one = now or was
        if one is None or not any(change.values()):
            return []
        writes = [
            self.added(one.organisation, **{name: n for name, n in change.items() if n}),
        ]
        if change["pending"]:
            where = key(room(one.organisation, "figures"), shard(f"agent#{one.account}", SHARDS_OF_AN_AGENT))
            update = "SET #agent = :agent ADD #waiting :waiting"
            writes.append(self.update(where, update, agent=one.agent, waiting=change["pending"]))
        return writes


def main_place(one: Contribution) -> Where:
    return room(one.organisation, ROOMS[one.status]), one.id


def shard(name: str, shards: int) -> str:
    return f"{name}#{secrets.randbelow(shards):02d}"


def epoch(time: str | None) -> int:
    return int(datetime.fromisoformat(time).timestamp()) if time else 0
