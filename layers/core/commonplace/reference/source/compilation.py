"""Two states of a catalogue beside each other: what readers of the new one will miss."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from commonplace.reference.entries import Entry
from commonplace.reference.forms import form_of
from commonplace.reference.spelling import spelling

_NO_CHANGE = frozenset({"last_updated", "source_hash"})
"""What another run of a generator changes without changing what is said."""


@dataclass(frozen=True, slots=True)
class Changed:
    """An entry that says something else than before."""

    entry: Entry
    fields: tuple[str, ...]
    """In camelCase."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """A command or an endpoint that is called otherwise than before, or has another id."""

    old: Entry
    new: Entry


@dataclass(frozen=True, slots=True)
class Difference:
    """Each in order of ids."""

    added: tuple[Entry, ...] = ()
    removed: tuple[Entry, ...] = ()
    changed: tuple[Changed, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    deprecated: tuple[Entry, ...] = ()
    """Those that were not so before."""
    lost: tuple[Entry, ...] = ()
    """Commands and endpoints whose names lead nowhere any more: no entry has them, not even as an alias."""

    @property
    def breaking(self) -> bool:
        return bool(self.lost)

    @property
    def nothing(self) -> bool:
        return not (self.added or self.removed or self.changed or self.renamed or self.deprecated)


def diff(old: Iterable[Entry], new: Iterable[Entry]) -> Difference:
    before, after = _by_id(old), _by_id(new)
    moved = dict(_moved(before, after))
    both = [(before[id], after[id]) for id in sorted(before.keys() & after.keys())]
    renamed = [Renamed(was, now) for was, now in both if form_of(was) and was.called != now.called]
    renamed += [Renamed(before[id], after[other]) for id, other in moved.items()]
    names = _names(after.values())
    return Difference(
        added=tuple(after[id] for id in sorted(after.keys() - before.keys() - set(moved.values()))),
        removed=tuple(before[id] for id in sorted(before.keys() - after.keys() - moved.keys())),
        changed=tuple(Changed(now, fields) for was, now in both if (fields := _changes(was, now))),
        renamed=tuple(sorted(renamed, key=lambda one: one.old.id)),
        deprecated=tuple(now for was, now in both if now.deprecated and not was.deprecated),
        lost=tuple(one for one in before.values() if (form := form_of(one)) is not None and form not in names),
    )


def _by_id(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {one.id: one for one in sorted(entries, key=lambda one: one.id)}


def _moved(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """Old id -> new id, of what is called the same in both, and has an id that only one of them knows."""
    new: dict[str, str] = {}
    for one in after.values():
        if one.id not in before and (form := form_of(one)):
            new.setdefault(form, one.id)
    for one in before.values():
        if one.id not in after and (form := form_of(one)) and (id := new.pop(form, None)):
            yield one.id, id


def _names(entries: Iterable[Entry]) -> set[str]:
    found: set[str] = set()
    for one in entries:
        found |= {spelling(alias) for alias in one.aliases}
        found |= {form for form in (form_of(one),) if form is not None}
    return found


def _changes(was: Entry, now: Entry) -> tuple[str, ...]:
    fields = type(now).model_fields
    return tuple(
        field.alias or name
        for name, field in fields.items()
        if name not in _NO_CHANGE and getattr(was, name) != getattr(now, name)
    )
