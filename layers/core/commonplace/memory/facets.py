"""Where an entry is listed, and what it counts for: pure functions from its card.

A facet is one value that entries are asked by (`tag=routing`, `role=dev`, `story=STORY-1`), and holds a key of each
entry that has it, in order of time. `role=dev` holds what a question of that role is shown, so what is for all as well.
A count has a cell for each role that is shown the entry, by type (`dev_fact`), and one for everybody (`any_fact`).
"""

import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from commonplace.memory.model import ENTRY_TYPES, ROLES, Card, Entry, EntryId, EntryType, Listing, Order, Role

ALL, BY_CHANGE, BY_CONFIDENCE = "all", "by=updated_at", "by=confidence"
COUNTED = ("all", "tag=", "story=", "file=")
"""Facets with counts of their own: those of roles and types are cells of `all`."""
MAX_FACET_CHARACTERS = 200
"""A longer one is kept by its SHA-256: keys of DynamoDB have bounds."""
LAST = "~"
"""After every position that begins alike."""
CONFIDENCE_UNITS = 1_000_000
"""Confidence is summed in whole millionths, which add up to the same in any order."""

FIXED = (ALL, BY_CHANGE, BY_CONFIDENCE, *(f"role={role}" for role in ROLES), *(f"type={one}" for one in ENTRY_TYPES))
"""Facets that there are whatever entries say."""

Counts = Mapping[str, int]
AllCounts = Mapping[str, Counts]
"""By facet."""
Place = tuple[str, str]
"""A facet and a position in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An entry in a facet. `facets` are all that a list can ask for: conditions are checked without reading it."""

    position: str
    id: EntryId
    created_at: str
    facets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What a mutation does to facets and counts."""

    put: Mapping[Place, Key]
    removed: tuple[Place, ...]
    counts: Mapping[str, Counts]
    """By facet what is added to each cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """All counts of an organisation. Two with the same `writes` have no mutation between them."""

    counts: AllCounts
    writes: int
    repairs: int


def facet(kind: str, value: str) -> str:
    name = quote(value, safe="")
    if len(name) > MAX_FACET_CHARACTERS:
        name = f"%{sha256(value.encode()).hexdigest()}"
    return f"{kind}={name}"


def parent_facet(id: EntryId) -> str:
    return facet("parent", id)


def shown_to(card: Card | Entry) -> tuple[Role, ...]:
    """The roles whose questions find it."""
    roles: tuple[Role, ...] = ("pm", "dev", "qa")
    return roles if "all" in card.roles else tuple(role for role in roles if role in card.roles)


def facets(card: Card | Entry) -> tuple[str, ...]:
    """All that a list can ask for but `all`."""
    found = [facet("type", card.entry_type)]
    found += [facet("role", role) for role in shown_to(card)]
    found += [facet("tag", tag) for tag in card.tags]
    found += [facet("story", card.source_story)] if card.source_story else []
    found += [facet("file", card.source_file)] if card.source_file else []
    return tuple(found)


def wanted(listing: Listing) -> tuple[str, ...]:
    """The facets that an entry of this list has, all of them."""
    named = {
        "type": listing.entry_type,
        "role": None if listing.role == "all" else listing.role,
        "story": listing.source_story,
        "file": listing.source_file,
    }
    tags = (facet("tag", tag) for tag in listing.tags)
    return (*(facet(kind, value) for kind, value in named.items() if value), *tags)


def position(card: Card | Entry, order_by: Order = "created_at") -> str:
    """Text order is the order of the values, then of ids."""
    # The bytes of a float that is not negative are in its order (IEEE 754, big-endian).
    value = struct.pack(">d", card.confidence + 0.0).hex() if order_by == "confidence" else getattr(card, order_by)
    return f"{value}#{card.id}"


def key(card: Card | Entry) -> Key:
    """As it stands in every facet that is in order of time."""
    return keys(card)[ALL, position(card)]


def keys(card: Card | Entry | None) -> dict[Place, Key]:
    if card is None:
        return {}
    named = facets(card)
    at = position(card)
    places = [(ALL, at), *((one, at) for one in named)]
    places += [(parent_facet(card.parent_id), at)] if card.parent_id else []
    places += [(BY_CHANGE, position(card, "updated_at")), (BY_CONFIDENCE, position(card, "confidence"))]
    return {
        (name, where): Key(position=where, id=card.id, created_at=card.created_at, facets=named)
        for name, where in places
    }


def counts(card: Card | Entry | None) -> dict[str, Counts]:
    """What it adds to each facet that is counted."""
    if card is None:
        return {}
    cells: Counts = {f"{role}_{card.entry_type}": 1 for role in ("any", *shown_to(card))}
    own = {f"is_{role}": 1 for role in card.roles}
    own["confidence"] = round(card.confidence * CONFIDENCE_UNITS)
    return {ALL: {**cells, **own}} | {name: cells for name in facets(card) if name.startswith(COUNTED)}


def change(was: Card | Entry | None, now: Card | Entry | None) -> Change:
    """From one state of an entry to another; None is that it is not there."""
    before, after = keys(was), keys(now)
    put = {place: key for place, key in after.items() if before.get(place) != key}
    return Change(put, tuple(place for place in before if place not in after), difference(counts(was), counts(now)))


def together(changes: Iterable[Change]) -> Change:
    """Changes of different entries as one."""
    put: dict[Place, Key] = {}
    removed: list[Place] = []
    sums: dict[str, Counter[str]] = {}
    for one in changes:
        put |= one.put
        removed += one.removed
        for name, cells in one.counts.items():
            sums.setdefault(name, Counter()).update(cells)
    return Change(put, tuple(removed), sums)


def difference(was: AllCounts, now: AllCounts) -> dict[str, Counts]:
    """By facet the cells that differ, and by how much."""
    found: dict[str, Counts] = {}
    for name in was.keys() | now.keys():
        before, after = was.get(name, {}), now.get(name, {})
        cells = {cell: after.get(cell, 0) - before.get(cell, 0) for cell in sorted(before.keys() | after.keys())}
        if changed := {cell: amount for cell, amount in cells.items() if amount}:
            found[name] = changed
    return found


def number(cells: Counts, role: Role | None = None, entry_type: EntryType | None = None) -> int:
    """How many of a facet's entries a question of this role and type is shown."""
    shown = "any" if role in (None, "all") else role
    return sum(cells.get(f"{shown}_{one}", 0) for one in ENTRY_TYPES if entry_type in (None, one))


def number_of(cells: Counts, name: str) -> int:
    """How many entries a facet of a role or a type has, by the counts of all."""
    kind, _, value = name.partition("=")
    pattern = f"any_{value}" if kind == "type" else f"{value}_"
    return sum(amount for cell, amount in cells.items() if cell.startswith(pattern))
