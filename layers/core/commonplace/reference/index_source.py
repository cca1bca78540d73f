"""Entries of all catalogues as records of the search index, and the upkeep of the index from what is published.

Readers find entries by the index, and show what the catalogue says.
"""

import logging
import re
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace

from commonplace.kernel.events import keys_of
from commonplace.kernel.objects import ObjectReader
from commonplace.reference.library import REFERENCE_PREFIX, manifest_key
from commonplace.reference.model import Catalogue, Entry, EntryType, Manifest, Placed
from commonplace.search.chunks import chunk_body
from commonplace.search.indexer import Enough, Message, Note, Report, complete, never
from commonplace.search.model import Chunk, Record, RecordId
from commonplace.search.operations import Operations
from commonplace.search.source import Horizon, Published, Reading

logger = logging.getLogger(__name__)

NAMED: Container[EntryType] = ("command", "api")
"""Types of which title, summary and what people call them say what they are for: options and parameters hide it."""

_PARAMETER = re.compile(r"\{[^{}]*\}")
_PARTED = re.compile(r"[\W_]+")


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
    by_name = entry.type in NAMED
    phrases = [alias for alias in entry.aliases if " " in alias and "/" not in alias]
    called = phrases if by_name else [*entry.aliases, *entry.keywords]
    told = () if by_name else chunk_body(body)
    return Record(
        id=record_id(catalogue.name, entry.id),
        version=placed.generation,
        content_type=entry.type,
        document_id=entry.id,
        title=title_of(entry),
        description=entry.summary,
        path=f"{catalogue.name}/{placed.path}",
        group=catalogue.name,
        status="deprecated" if entry.deprecated else None,
        tags=tuple(dict.fromkeys(tag for tag in (entry.category, entry.subcategory, entry.module) if tag)),
        aliases=tuple(dict.fromkeys(entry.aliases)),
        updated_at=entry.last_updated,
        body=body,
        chunks=(
            Chunk(0, (), ", ".join(dict.fromkeys(called))),
            *(replace(chunk, ordinal=chunk.ordinal + 1) for chunk in told),
        ),
    )


def title_of(entry: Entry) -> str:
    """The words of its name, and what it is titled."""
    name = _PARTED.sub(" ", named(entry)).strip()
    return f"{name}: {entry.title}" if name and name != entry.title else entry.title


def body_of(entry: Entry) -> str:
    """Return content and examples. What examples print is left out: it is like many other things."""
    parts = [entry.text]
    for example in entry.examples:
        # Indented, for code may hold fences of its own.
        parts += [example.description, "\n".join(f"    {line}" for line in example.code.splitlines())]
    return "\n\n".join(part for part in parts if part.strip())


def named(entry: Entry) -> str:
    """Return what it is called where it is used; parameters of a path are no words of its name."""
    if entry.type == "api":
        return _PARAMETER.sub(" ", entry.path_template or "")
    return entry.name or "" if entry.type == "command" else ""


class StoredCatalogues:
    """The source of the collection `reference` (`commonplace.search.source.Source`).

    What is published, the manifests say; entries are read from the object that a manifest names. Each catalogue counts
    its publications for itself, so the version under which an entry is gone is that of its own catalogue.

    The catalogue read last is kept: a reconciliation asks for its entries in many batches.
    """

    def __init__(self, objects: ObjectReader, names: Sequence[str]) -> None:
        self._objects = objects
        self._names = tuple(names)
        self._kept: tuple[str, Catalogue, Mapping[str, Placed]] | None = None

    def named(self, body: str) -> tuple[RecordId, ...]:
        """None by name: see `search.events.is_of_catalogues`. Raises ValueError for what is no notification of S3."""
        keys_of(body)
        return ()

    def horizon(self) -> Horizon:
        return _horizon(self._manifests())

    def published(self) -> Published | None:
        """None before anything was ever published. Without catalogues nothing is, and that is known."""
        manifests = self._manifests()
        if self._names and not manifests:
            return None
        versions = {
            record_id(name, entry): generation
            for name, manifest in manifests.items()
            for entry, generation in manifest.versions.items()
        }
        return Published(versions, _horizon(manifests))

    def read(self, ids: Iterable[RecordId]) -> Reading:
        reading = Reading()
        wanted: dict[str, list[RecordId]] = {}
        for record in ids:
            wanted.setdefault(address(record)[0], []).append(record)
        for name, records in wanted.items():
            manifest = self._manifest(name) if name in self._names else None
            if manifest is None:
                reading.missing += records
                continue
            try:
                catalogue, placed = self._catalogue(manifest)
            except (KeyError, ValueError) as error:
                logger.error("a catalogue cannot be read", extra={"catalogue": name, "error": type(error).__name__})
                reading.unreadable += records
                continue
            for record in records:
                if found := placed.get(address(record)[1]):
                    reading.records[record] = record_of(catalogue, found)
                else:
                    reading.missing.append(record)
        return reading

    def _catalogue(self, manifest: Manifest) -> tuple[Catalogue, Mapping[str, Placed]]:
        """Raises KeyError when its object is not there, ValueError when that is none."""
        key = manifest.catalogue_key
        if self._kept is None or self._kept[0] != key:
            self._kept = None
            stored = self._objects.get(key)
            if stored is None:
                raise KeyError(key)
            catalogue = Catalogue.model_validate_json(stored.body)
            self._kept = key, catalogue, {placed.entry.id: placed for placed in catalogue.entries}
        return self._kept[1:]

    def _manifests(self) -> dict[str, Manifest]:
        return {name: found for name in self._names if (found := self._manifest(name)) is not None}

    def _manifest(self, name: str) -> Manifest | None:
        stored = self._objects.get(manifest_key(name))
        return Manifest.model_validate_json(stored.body) if stored else None


def _horizon(manifests: Mapping[str, Manifest]) -> Horizon:
    generations = {name: manifest.generation for name, manifest in manifests.items()}
    return lambda record: generations.get(address(record)[0], 0)


def is_of_catalogues(body: str) -> bool:
    """Return whether a message concerns the part of the store that catalogues are in.

    Such a message names no records: it asks to compare with all that is published. False for what cannot be read.
    """
    try:
        return any(key.startswith(REFERENCE_PREFIX) for key in keys_of(body))
    except ValueError:
        return False


class Upkeep:
    """Compares the index with all that is published, whenever a manifest may have changed.

    A catalogue may have more entries than one call has time for. Then a note is left, and the schedule goes on where
    the call ended, long before the queue would hand a message out again. Without notes the messages come again.
    """

    def __init__(self, operations: Operations, note: Note | None, clock: Callable[[], float] = time.time) -> None:
        """`clock` is in epoch seconds."""
        self.operations = operations
        self._note = note
        self._clock = clock

    def claims(self, body: str) -> bool:
        return is_of_catalogues(body)

    def reconcile(self, enough: Enough = never) -> Report:
        return self.operations.reconcile(enough)

    def take(self, messages: Sequence[Message], enough: Enough = never) -> list[str]:
        """One comparison for all the messages; answers the ids of those that are to come again."""
        try:
            report = self.operations.reconcile(enough)
        except Exception:
            logger.exception("catalogues were not compared with their index")
            return [message.id for message in messages]
        if not report.remaining:
            return []
        logger.info("catalogues are indexed later", extra={"remaining": report.remaining})
        if self._note is None:
            return [message.id for message in messages]
        self._note.put()
        return []

    def finish(self, enough: Enough = never) -> Report | None:
        """Goes on with what is left and gives vectors to what lacks them; None when nothing is noted."""
        if self._note is None:
            return None
        return complete(self.operations.reconcile, self._note, enough, self._clock)
