"""From settings to what the index function does for the product reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.reference.index_source import StoredCatalogues, Upkeep
from commonplace.search import providers
from commonplace.search.index_wiring import reference_operations
from commonplace.search.indexer import nobody_waits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.kernel.objects import ObjectStore
    from commonplace.kernel.settings import RetrievalSettings
    from commonplace.reference.settings import CatalogueSource
    from commonplace.search.indexer import Note
    from commonplace.search.model import EmbeddingProvider


def upkeep(
    catalogues: Sequence[CatalogueSource],
    settings: RetrievalSettings,
    objects: ObjectStore,
    models: Sequence[EmbeddingProvider | None],
    note: Note | None,
) -> Upkeep:
    """For the function that indexes. `models` are those of the settings, the one to come last."""
    settings = settings.collection("reference")
    source = StoredCatalogues(objects, [catalogue.name for catalogue in catalogues])
    engine = providers.search_engine(settings, objects, models[0], read_only=False)
    waiting = note.put if note else nobody_waits
    return Upkeep(reference_operations(settings, source, models, engine, waiting=waiting), note)
