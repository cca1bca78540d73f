"""Compilation of what was read into a catalogue, and the difference between two catalogues."""

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from datetime import UTC, datetime

from commonplace.reference.forms import form_of
from commonplace.reference.model import Catalogue, Entry, Placed
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source.findings import Written
from commonplace.reference.source.reader import Reading
from commonplace.reference.spelling import spelling

_NO_CHANGE = frozenset({"last_updated", "source_hash"})
"""What another run of a generator changes without changing what is said."""


def compile(
    reading: Reading,
    *,
    source: CatalogueSource,
    web_url: str | None,
    commit: str,
    generation: int,
    synced_at: datetime,
    before: Catalogue | None,
) -> Catalogue:
    """The catalogue at a commit. What has not changed since `before` keeps its generation.

    An entry that does not say when it was updated was so by the publication that changed it. Meant for readings that
    are publishable.
    """
    known = {placed.entry.id: placed for placed in before.entries} if before else {}
    entries = [_placed(one, known.get(one.entry.id), source.folder, generation, synced_at) for one in reading.entries]
    facts = {field.name: getattr(reading.settings, field.name) for field in dataclass_fields(reading.settings)}
    del facts["generate"]
    return Catalogue(
        name=reading.name,
        **facts,
        repository=source.repository,
        web_url=web_url,
        branch=source.branch,
        commit_sha=commit,
        generation=generation,
        synced_at=synced_at,
        entries=entries,
    )


def _placed(one: Written, before: Placed | None, folder: str, generation: int, synced_at: datetime) -> Placed:
    path = f"{folder}/{one.path}" if folder else one.path
    entry = one.entry
    if not entry.last_updated and before and before.entry.model_copy(update={"last_updated": ""}) == entry:
        entry = before.entry
    elif not entry.last_updated:
        entry = entry.model_copy(update={"last_updated": synced_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")})
    line = None if one.content_line else one.line
    if before is not None and before.entry == entry and before.path == path:
        return before.model_copy(update={"line": line})
    return Placed(entry=entry, path=path, line=line, generation=generation)


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
    # Old id -> new id, of what is called the same in both, and has an id that only one of them knows.
    ids: dict[str, str] = {}
    for one in after.values():
        if one.id not in before and (form := form_of(one)):
            ids.setdefault(form, one.id)
    gone = ((one.id, form_of(one)) for one in before.values() if one.id not in after)
    moved = {old: id for old, form in gone if form and (id := ids.pop(form, None))}
    both = [(before[id], after[id]) for id in sorted(before.keys() & after.keys())]
    renamed = [Renamed(was, now) for was, now in both if form_of(was) and was.called != now.called]
    renamed += [Renamed(before[id], after[other]) for id, other in moved.items()]
    names = {spelling(alias) for one in after.values() for alias in one.aliases}
    names |= {form for one in after.values() if (form := form_of(one)) is not None}
    return Difference(
        added=tuple(after[id] for id in sorted(after.keys() - before.keys() - set(moved.values()))),
        removed=tuple(before[id] for id in sorted(before.keys() - after.keys() - moved.keys())),
        changed=tuple(Changed(now, fields) for was, now in both if (fields := changes(was, now))),
        renamed=tuple(sorted(renamed, key=lambda one: one.old.id)),
        deprecated=tuple(now for was, now in both if now.deprecated and not was.deprecated),
        lost=tuple(one for one in before.values() if (form := form_of(one)) is not None and form not in names),
    )


def _by_id(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {one.id: one for one in sorted(entries, key=lambda one: one.id)}


def changes(was: Entry, now: Entry) -> tuple[str, ...]:
    """Return the fields in which two states of an entry differ, in camelCase."""
    fields = type(now).model_fields
    return tuple(
        field.alias or name
        for name, field in fields.items()
        if name not in _NO_CHANGE and getattr(was, name) != getattr(now, name)
    )
