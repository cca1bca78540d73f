"""A folder answers as it would once it is published: the same look-up, the same words, the model that is at hand."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from commonplace.reference.model import Catalogue
from commonplace.reference.ports import Edition, Meaning
from commonplace.reference.service import Reference
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source.compilation import compile
from commonplace.reference.source.reader import Reading

HERE = "local/folder"
"""Stands for the repository that a folder is in: nothing of an answer links to it."""


@dataclass(frozen=True, slots=True)
class OneShelf:
    """A `Shelf` with what was read."""

    catalogues: tuple[Catalogue, ...]

    def edition(self) -> Edition:
        return Edition(self.catalogues, "1")


def catalogue_of(reading: Reading) -> Catalogue:
    """As if it were published now."""
    source = CatalogueSource(reading.name, HERE, "HEAD", "")
    return compile(reading, source=source, commit="0" * 40, generation=1, synced_at=datetime.now(UTC), before=None)


@contextmanager
def asking(reading: Reading, *, meaning: bool) -> Iterator[Reference]:
    """The reference over these entries. Without the model's files, too, words alone are compared."""
    catalogues = (catalogue_of(reading),)
    if not meaning:
        yield Reference(OneShelf(catalogues))
        return
    with tempfile.TemporaryDirectory(prefix="commonplace-") as folder, _meaning(catalogues, Path(folder)) as compared:
        yield Reference(OneShelf(catalogues), compared)


@contextmanager
def _meaning(catalogues: Sequence[Catalogue], folder: Path) -> Iterator[Meaning]:
    """Over an index of its own, with the model that comes with the package."""
    from commonplace.reference.index_source import record_of
    from commonplace.reference.search import VectorMeaning
    from commonplace.search.embedded.engine import EmbeddedEngine
    from commonplace.search.embeddings import embed_records
    from commonplace.search.models.local import LocalEmbeddings

    model = LocalEmbeddings()
    engine = EmbeddedEngine(folder / "reference.sqlite", model)
    try:
        engine.replace(embed_records([record_of(one, it) for one in catalogues for it in one.entries], model))
        yield VectorMeaning(engine, [model])
    finally:
        engine.close()
