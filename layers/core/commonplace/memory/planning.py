"""The order of an import: parents before their children, and everything else as it came."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commonplace.memory.checking import Refused
from commonplace.memory.entries import NewEntry, content_hash
from commonplace.memory.model import Import

_LOST_PARENT = "Its parent cannot be imported. Mend that entry first."
_NO_PARENT = "`parent_ref` names no entry of this import. Give the `ref` of one, or `parent_id`."
_CIRCLE = "It is its own ancestor by `parent_ref`. Leave one of these out."


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One entry of an import on its way."""

    place: int
    name: str
    """Its `ref`, or its place as text: what its id is told under."""
    entry: NewEntry
    hash: str
    parent_hash: str | None = None
    """The content hash of a parent within the import: whoever has that content becomes the parent."""


@dataclass(frozen=True, slots=True)
class Plan:
    order: tuple[Planned, ...]
    problems: tuple[tuple[int, str], ...]
    """Places that cannot be imported, and why in a sentence; in order of places."""


def plan(items: Sequence[Import | Refused]) -> Plan:
    """Which entries may be imported, in which order. Linear in their number, whatever refers to what."""
    problems = {place: item.sentence for place, item in enumerate(items) if isinstance(item, Refused)}
    taken = {place: item for place, item in enumerate(items) if isinstance(item, Import)}
    refs: dict[str, int] = {}
    for place, item in taken.items():
        if item.ref is not None and refs.setdefault(item.ref, place) != place:
            problems[place] = f"Its `ref` is that of entries[{refs[item.ref]}] already. Give each a `ref` of its own."
    parents = {place: refs.get(item.parent_ref) for place, item in taken.items() if item.parent_ref is not None}
    problems |= {place: _NO_PARENT for place, parent in parents.items() if parent is None}
    order = _parents_first(taken, {place: parent for place, parent in parents.items() if parent is not None}, problems)
    hashes = {place: content_hash(item.entry.content) for place, item in taken.items()}
    planned = tuple(
        Planned(
            place=place,
            name=taken[place].ref or str(place),
            entry=taken[place].entry,
            hash=hashes[place],
            parent_hash=None if (parent := parents.get(place)) is None else hashes[parent],
        )
        for place in order
    )
    return Plan(planned, tuple(sorted(problems.items())))


def _parents_first(places: Iterable[int], parents: dict[int, int], problems: dict[int, str]) -> list[int]:
    """Every place without a problem, after its parent; those whose parent has one get one of their own."""
    order: dict[int, None] = {}
    for start in places:
        way: dict[int, None] = {}
        place: int | None = start
        while place is not None and place not in order and place not in problems and place not in way:
            way[place] = None
            place = parents.get(place)
        if place is not None and place in way:
            circle = list(way)[list(way).index(place) :]
            problems.update(dict.fromkeys(circle, _CIRCLE))
        for one in reversed(way):
            if one in problems:
                continue
            if parents.get(one) in problems:
                problems[one] = _LOST_PARENT
            else:
                order[one] = None
    return list(order)
