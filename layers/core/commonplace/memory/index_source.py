"""Entries as records of the search index: the source of all of them, and the events that announce a change.

An event only says where to look.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from commonplace.kernel.events import ChangedRecord
from commonplace.memory.model import Entry, EntryId
from commonplace.search import identifiers
from commonplace.search.chunks import chunk_body
from commonplace.search.model import Chunk, Record, RecordId
from commonplace.search.near_duplicates import fingerprint
from commonplace.search.source import FOR_EVER, Horizon, Published, Reading
from commonplace.search.text import plain

if TYPE_CHECKING:
    from commonplace.memory.store import DynamoEntries


logger = logging.getLogger(__name__)

ENTRIES, JOBS = "#memory#entries", "#memory#jobs"
"""How partitions end, after the organisation."""

CURRENT = "current"
"""The status of an entry that none supersedes."""

_ORGANISATION = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


def record_id(organisation: str, entry: EntryId) -> RecordId:
    """Return the id under which the index has an entry: two organisations never share one."""
    return RecordId(f"{organisation}/{entry}")


def subject(entry: Entry) -> tuple[str, ...]:
    """Return the headings that a fact stood under, by its metadata: the story's title, the section, or a rule's."""
    named = (entry.metadata.get(name) for name in ("title", "section", "heading"))
    return tuple(one for one in named if entry.entry_type == "fact" and isinstance(one, str) and one)


def record_of(entry: Entry) -> Record:
    """Return the searchable record. Its version is the entry's revision.

    An entry has no title: a template or a summary says in its text what it is about. A fact does not, so what is
    indexed and embedded of it begins with its subject. Its fingerprint is that of its text alone.
    """
    chunks = chunk_body(entry.content) or (Chunk(0, (), entry.content),)
    return Record(
        id=record_id(entry.organisation, entry.id),
        version=entry.revision,
        content_type=entry.entry_type,
        document_id=entry.id,
        tags=entry.tags,
        updated_at=entry.updated_at,
        body=entry.content,
        chunks=tuple(replace(one, heading_path=(*subject(entry), *one.heading_path)) for one in chunks),
        fingerprint=fingerprint(plain(entry.content)),
        organisation=entry.organisation,
        roles=entry.roles,
        confidence=entry.confidence,
        group=entry.source_story,
        status="superseded" if entry.superseded_by else CURRENT,
        path=(entry.source_file or "").strip("/"),
        created_at=entry.created_at,
        identifiers=identifiers.kept(entry.source_story, entry.source_file, entry.content),
    )


@dataclass(frozen=True, slots=True)
class EntryEvent:
    """An entry was written, or is gone."""

    organisation: str
    id: EntryId


@dataclass(frozen=True, slots=True)
class JobEvent:
    """A job was begun, or came further."""

    organisation: str
    id: str


def is_of_memory(body: str) -> bool:
    """Return whether a message is one of these, and neither of the bucket nor of another room."""
    changed = ChangedRecord.of(body)
    return changed is not None and "#memory#" in changed.pk


def event_of(body: str) -> EntryEvent | JobEvent:
    """Return the event in a message. Raises ValueError for one of another form."""
    changed = ChangedRecord.model_validate_json(body)
    if _ORGANISATION.fullmatch(organisation := changed.pk.removesuffix(ENTRIES)):
        return EntryEvent(organisation, EntryId(changed.sk))
    if _ORGANISATION.fullmatch(organisation := changed.pk.removesuffix(JOBS)):
        return JobEvent(organisation, changed.sk)
    raise ValueError("the message names no entry and no job")


class StoredEntries:
    """The source of the collection `memory` (`commonplace.search.source.Source`).

    Reads of the store are consistent, and no id is given twice: an entry that is not found is gone for ever, unless its
    deletion is undone, which gives it a revision above every tombstone (`memory.writes`).
    """

    def __init__(self, store: DynamoEntries) -> None:
        self._store = store

    def named(self, body: str) -> tuple[RecordId, ...]:
        match event_of(body):
            case EntryEvent(organisation, id):
                return (record_id(organisation, id),)
            case _:
                return ()

    def horizon(self) -> Horizon:
        return lambda _record: FOR_EVER

    def published(self) -> Published:
        """Return what there is by the cards, which are written with the entries."""
        return Published(
            {
                record_id(organisation, card.id): card.revision
                for organisation in self._store.organisations()
                for card in self._store.cards(organisation)
            }
        )

    def read(self, ids: Iterable[RecordId]) -> Reading:
        reading = Reading()
        wanted: dict[str, list[EntryId]] = {}
        for record in ids:
            organisation, id = address(record)
            wanted.setdefault(organisation, []).append(id)
        for organisation, entries in wanted.items():
            found = self._store.get_many(organisation, entries)
            for id in entries:
                record = record_id(organisation, id)
                if id not in found:
                    reading.missing.append(record)
                    continue
                try:
                    reading.records[record] = record_of(found[id])
                except ValueError as error:
                    logger.error("an entry cannot be read", extra={"record": record, "error": type(error).__name__})
                    reading.unreadable.append(record)
        return reading


def address(record: RecordId) -> tuple[str, EntryId]:
    """Return whose the entry of a record is, and its id. No name of an organisation has a slash in it."""
    organisation, _, id = record.partition("/")
    return organisation, EntryId(id)
