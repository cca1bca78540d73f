"""Messages as records of the search index: the source of all of them, and the events that announce a change.

An event only says where to look. Direct messages are in rooms of their own, which nothing here reads or follows. Of a
process, what opened it is found: no question, answer, reason, nomination or ballot is in the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from commonplace.governance.model import Message
from commonplace.governance.store import MESSAGES, REPLIES, Store
from commonplace.kernel.events import ChangedRecord
from commonplace.search.chunks import chunk_body
from commonplace.search.model import Chunk, Record, RecordId
from commonplace.search.near_duplicates import fingerprint
from commonplace.search.source import FOR_EVER, Horizon, Published, Reading
from commonplace.search.text import plain

COLLECTION = "messages"

_PARTITION = re.compile(rf"([a-z0-9][a-z0-9-]{{0,63}})#(?:{MESSAGES.name}|{REPLIES.name})")


def record_id(organisation: str, message: str) -> RecordId:
    """Return the id under which the index has a message: two organisations never share one."""
    return RecordId(f"{organisation}/{message}")


def record_of(organisation: str, message: Message) -> Record:
    """Return the searchable record. Its roles are its channel, by which searches are narrowed."""
    return Record(
        id=record_id(organisation, message.id),
        version=message.revision,
        content_type=message.process or ("reply" if message.parent else "message"),
        document_id=message.id,
        body=message.text,
        chunks=chunk_body(message.text) or (Chunk(0, (), message.text),),
        fingerprint=fingerprint(plain(message.text)),
        organisation=organisation,
        roles=(message.channel,),
        created_at=message.created_at,
    )


def message_of(body: str) -> RecordId | None:
    """Return the record that an event is about; None for an event of anything else. Never raises."""
    changed = ChangedRecord.of(body)
    found = _PARTITION.fullmatch(changed.pk) if changed else None
    return record_id(found[1], changed.sk) if changed and found else None


class StoredMessages:
    """The source of the collection `messages` (`commonplace.search.source.Source`).

    Reads of the store are consistent, and no id is given twice: a message that is gone is gone for ever.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def named(self, body: str) -> tuple[RecordId, ...]:
        if (record := message_of(body)) is None:
            raise ValueError("the message of the queue names no message of a channel")
        return (record,)

    def horizon(self) -> Horizon:
        return lambda _record: FOR_EVER

    def published(self) -> Published:
        """Return every message of every organisation, without its text."""
        versions = {
            record_id(organisation, item["sk"]): int(item["revision"])
            for organisation in self.store.slugs()
            for room in (MESSAGES, REPLIES)
            for item in self.store.table.query(room.partition(organisation), ProjectionExpression="sk, revision")
        }
        return Published(versions)

    def read(self, ids: Iterable[RecordId]) -> Reading:
        reading = Reading()
        wanted: dict[str, list[str]] = {}
        for record in ids:
            organisation, _, id = record.partition("/")
            wanted.setdefault(organisation, []).append(id)
        for organisation, messages in wanted.items():
            found = self.store.said(organisation, messages)
            reading.records |= {record_id(organisation, id): record_of(organisation, one) for id, one in found.items()}
            reading.missing += [record_id(organisation, id) for id in messages if id not in found]
        return reading
