"""From an entry to a record of the index."""

from commonplace.memory.entries import Entry, EntryId
from commonplace.search.chunks import chunk_body
from commonplace.search.model import Chunk, Record, RecordId
from commonplace.search.near_duplicates import fingerprint
from commonplace.search.text import plain


def record_id(organisation: str, entry: EntryId) -> RecordId:
    """Under which the index has an entry: two organisations never share one."""
    return RecordId(f"{organisation}/{entry}")


def record_of(entry: Entry) -> Record:
    """The searchable record. Its version is the entry's revision.

    An entry has no title: what is embedded of one that is a single chunk without headings is its text and nothing else.
    """
    return Record(
        id=record_id(entry.organisation, entry.id),
        version=entry.revision,
        content_type=entry.entry_type,
        document_id=entry.id,
        title="",
        description=None,
        path="",
        url=None,
        source_url=None,
        group=None,
        release=None,
        status=None,
        tags=entry.tags,
        aliases=(),
        date=None,
        updated_at=entry.updated_at,
        body=entry.content,
        chunks=chunk_body(entry.content) or (Chunk(0, (), entry.content),),
        fingerprint=fingerprint(plain(entry.content)),
        organisation=entry.organisation,
        roles=entry.roles,
        confidence=entry.confidence,
    )
