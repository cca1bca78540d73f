"""From an entry to a record of the index. Readers find by it, and show what the catalogue says."""

from collections.abc import Iterator

from commonplace.reference.catalogue import Catalogue, Placed
from commonplace.reference.entries import Entry, Example
from commonplace.search.chunks import chunk_body
from commonplace.search.model import Chunk, Record, RecordId


def record_id(catalogue: str, entry: str) -> RecordId:
    """Under which the index has an entry. Neither name has a slash in it."""
    return RecordId(f"{catalogue}/{entry}")


def address(record: RecordId) -> tuple[str, str]:
    """The catalogue of a record, and its entry's id."""
    catalogue, _, entry = record.partition("/")
    return catalogue, entry


def record_of(catalogue: Catalogue, placed: Placed) -> Record:
    """The searchable record. Its version is the generation of the publication that changed the entry last.

    Nothing of it depends on the rest of the catalogue, nor on the commit: the same version is the same record.
    """
    entry = placed.entry
    body = body_of(entry)
    return Record(
        id=record_id(catalogue.name, entry.id),
        version=placed.generation,
        content_type=entry.type,
        document_id=entry.id,
        title=title_of(entry),
        description=entry.summary,
        path=f"{catalogue.name}/{placed.path}",
        url=None,
        source_url=None,
        group=catalogue.name,
        release=None,
        status="deprecated" if entry.deprecated else None,
        tags=tuple(dict.fromkeys(tag for tag in (entry.category, entry.subcategory, entry.module) if tag)),
        aliases=tuple(dict.fromkeys(entry.aliases)),
        date=None,
        updated_at=entry.last_updated,
        body=body,
        chunks=chunk_body(body) or (Chunk(0, (), body),),
    )


def title_of(entry: Entry) -> str:
    """What it is called and what it is titled, where these are two things."""
    return entry.title if entry.called == entry.title else f"{entry.called}: {entry.title}"


def body_of(entry: Entry) -> str:
    """Summary, what people call it, content, examples: what stands first is in the first chunk, with the title."""
    called = ", ".join(dict.fromkeys([*entry.aliases, *entry.keywords]))
    parts = [entry.summary, called, entry.content, *_examples(entry.examples)]
    return "\n\n".join(part for part in parts if part.strip())


def _examples(examples: list[Example]) -> Iterator[str]:
    """What they print is left out: it is like many other things. Indented, for code may hold fences of its own."""
    for example in examples:
        yield example.description
        yield "\n".join(f"    {line}" for line in example.code.splitlines())
