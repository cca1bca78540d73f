"""What the index of the reference is to hold: the entries of every catalogue of the deployment."""

import logging
from collections.abc import Iterable, Mapping, Sequence

from commonplace.kernel.events import keys_of
from commonplace.kernel.objects import ObjectReader
from commonplace.reference.catalogue import Catalogue, Manifest, Placed
from commonplace.reference.keys import manifest_key
from commonplace.reference.records import address, record_id, record_of
from commonplace.search.model import RecordId
from commonplace.search.source import Horizon, Published, Reading

logger = logging.getLogger(__name__)


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
        wanted: dict[str, list[str]] = {}
        for record in ids:
            name, entry = address(record)
            wanted.setdefault(name, []).append(entry)
        for name, entries in wanted.items():
            self._read(name, entries, reading)
        return reading

    def _read(self, name: str, entries: Sequence[str], reading: Reading) -> None:
        manifest = self._manifest(name) if name in self._names else None
        if manifest is None:
            reading.missing += [record_id(name, entry) for entry in entries]
            return
        try:
            catalogue, placed = self._catalogue(manifest)
        except (KeyError, ValueError) as error:
            logger.error("a catalogue cannot be read", extra={"catalogue": name, "error": type(error).__name__})
            reading.unreadable += [record_id(name, entry) for entry in entries]
            return
        for entry in entries:
            record = record_id(name, entry)
            if entry in placed:
                reading.records[record] = record_of(catalogue, placed[entry])
            else:
                reading.missing.append(record)

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
