"""What the index of the memory is to hold: the entries of every organisation."""

import logging
from collections.abc import Iterable

from commonplace.memory.entries import EntryId
from commonplace.memory.events import EntryEvent, event_of
from commonplace.memory.ports import EntryStore
from commonplace.memory.records import record_id, record_of
from commonplace.search.model import RecordId
from commonplace.search.source import FOR_EVER, Horizon, Published, Reading

logger = logging.getLogger(__name__)


class StoredEntries:
    """The source of the collection `memory` (`commonplace.search.source.Source`).

    Reads of the store are consistent, and an id is never used again: an entry that is not found is gone for ever.
    """

    def __init__(self, store: EntryStore) -> None:
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
        """By the cards, which are written with the entries."""
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
            self._read(organisation, entries, reading)
        return reading

    def _read(self, organisation: str, ids: list[EntryId], reading: Reading) -> None:
        found = self._store.get_many(organisation, ids)
        for id in ids:
            record = record_id(organisation, id)
            if id not in found:
                reading.missing.append(record)
                continue
            try:
                reading.records[record] = record_of(found[id])
            except ValueError as error:
                logger.error("an entry cannot be read", extra={"record": record, "error": type(error).__name__})
                reading.unreadable.append(record)


def address(record: RecordId) -> tuple[str, EntryId]:
    """Whose the entry of a record is, and its id. No name of an organisation has a slash in it."""
    organisation, _, id = record.partition("/")
    return organisation, EntryId(id)
