"""Items as records of the search index: the source of all of them, and the events that announce a change.

An event only says where to look. What waits for review is no item, and is in no index.
"""

import logging
import re
from collections.abc import Iterable
from hashlib import sha256

from commonplace.hive.model import Contribution, ItemId
from commonplace.hive.store import DynamoContributions
from commonplace.kernel.events import ChangedRecord
from commonplace.search.chunks import chunk_body
from commonplace.search.near_duplicates import fingerprint
from commonplace.search.records import Chunk, Record, RecordId
from commonplace.search.source import FOR_EVER, Horizon, Published, Reading
from commonplace.search.text import plain

logger = logging.getLogger(__name__)

ITEMS = "#hive#items"
"""How their partitions end, after the organisation."""

_PARTITION = re.compile(rf"([a-z0-9][a-z0-9-]{{0,63}}){ITEMS}")


def record_id(organisation: str, item: ItemId) -> RecordId:
    """Under which the index has an item: two organisations never share one."""
    return RecordId(f"{organisation}/{item}")


def address(record: RecordId) -> tuple[str, ItemId]:
    """Whose the item of a record is, and its id. No name of an organisation has a slash in it."""
    organisation, _, id = record.partition("/")
    return organisation, ItemId(id)


def record_of(item: Contribution) -> Record:
    """The searchable record. Its kind is the category, its version the revision.

    A title is the beginning of the text, so it is not indexed besides; what a text is about, its framework for
    instance, is found as its tags are.
    """
    about = (*item.tags, *filter(None, (item.framework, item.language, item.version)))
    text = plain(item.content)
    return Record(
        id=record_id(item.organisation, item.id),
        version=item.revision,
        content_type=item.category,
        document_id=item.id,
        tags=tuple(dict.fromkeys(about)),
        updated_at=item.decided_at,
        body=item.content,
        chunks=chunk_body(item.content) or (Chunk(0, (), item.content),),
        fingerprint=fingerprint(text) or _same(text),
        organisation=item.organisation,
        confidence=item.confidence,
        public=item.is_public,
        valid_from=item.valid_at,
        valid_until=item.invalid_at,
    )


def _same(text: str) -> str:
    """In place of the fingerprint of a text that is too short for one: its equals share it, but for case and spaces."""
    return sha256(" ".join(text.split()).casefold().encode()).hexdigest()[:16]


def of_item(body: str) -> RecordId | None:
    """The record that a message is about; None for a message of anything else. Never raises."""
    told = ChangedRecord.of(body)
    found = _PARTITION.fullmatch(told.pk) if told else None
    return record_id(found[1], ItemId(told.sk)) if told and found else None


class StoredItems:
    """The source of the collection `contributions` (`commonplace.search.source.Source`).

    Reads of the store are consistent, and an id is never used again: an item that is not found is gone for ever.
    """

    def __init__(self, store: DynamoContributions) -> None:
        self._store = store

    def named(self, body: str) -> tuple[RecordId, ...]:
        record = of_item(body)
        if record is None:
            raise ValueError("the message names no item")
        return (record,)

    def horizon(self) -> Horizon:
        return lambda _record: FOR_EVER

    def published(self) -> Published:
        return Published(
            {
                record_id(organisation, id): revision
                for organisation in self._store.organisations()
                for id, revision in self._store.versions(organisation)
            }
        )

    def read(self, ids: Iterable[RecordId]) -> Reading:
        owners = {id: organisation for organisation, id in map(address, ids)}
        found = self._store.items(owners)
        reading = Reading()
        for id, organisation in owners.items():
            record = record_id(organisation, id)
            item = found[id][0] if id in found else None
            if item is None or item.organisation != organisation or item.status != "approved":
                reading.missing.append(record)
            elif not item.intact:
                logger.error("an item is not what was contributed", extra={"record": record})
                reading.unreadable.append(record)
            else:
                reading.records[record] = record_of(item)
        return reading
