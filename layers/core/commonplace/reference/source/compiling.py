"""What was read -> what is published."""

from datetime import UTC, datetime
from typing import Protocol

from commonplace.reference.catalogue import Catalogue, Placed
from commonplace.reference.entries import Entry
from commonplace.reference.source.reader import Reading
from commonplace.reference.source.written import Written


class Origin(Protocol):
    """Where the files of a catalogue come from."""

    @property
    def repository(self) -> str:
        """`owner/name`."""
        ...

    @property
    def branch(self) -> str: ...

    @property
    def folder(self) -> str:
        """Without a slash at either end; empty for the whole repository."""
        ...


def compile(
    reading: Reading,
    *,
    source: Origin,
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
    settings = reading.settings
    return Catalogue(
        name=reading.name,
        title=settings.title,
        description=settings.description,
        roots=list(settings.roots),
        synonyms={word: list(others) for word, others in settings.synonyms.items()},
        categories=dict(settings.categories),
        modules=dict(settings.modules),
        servers=list(settings.servers),
        repository=source.repository,
        branch=source.branch,
        commit_sha=commit,
        generation=generation,
        synced_at=synced_at,
        entries=entries,
    )


def _placed(one: Written, before: Placed | None, folder: str, generation: int, synced_at: datetime) -> Placed:
    path = f"{folder}/{one.path}" if folder else one.path
    entry = one.entry if one.entry.last_updated else _dated(one.entry, before, synced_at)
    if before is not None and before.entry == entry and before.path == path:
        return before
    return Placed(entry=entry, path=path, generation=generation)


def _dated(entry: Entry, before: Placed | None, synced_at: datetime) -> Entry:
    if before is not None and _undated(before.entry) == _undated(entry):
        return before.entry
    return entry.model_copy(update={"last_updated": synced_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")})


def _undated(entry: Entry) -> Entry:
    return entry.model_copy(update={"last_updated": ""})
