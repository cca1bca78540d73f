"""The collection of the product reference, as the index function maintains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.reference.index_source import StoredCatalogues, Upkeep
from commonplace.reference.settings import catalogue_sources
from commonplace.search import providers
from commonplace.search.collections import collection_operations
from commonplace.search.indexer import nobody_waits

if TYPE_CHECKING:
    from commonplace.search.collections import IndexContext


def collection(context: IndexContext) -> Upkeep | None:
    """None for a deployment without catalogues. Readers compare editions by themselves, so nothing is announced."""
    names = [catalogue.name for catalogue in catalogue_sources(context.environ)]
    if not names:
        return None
    settings, note = context.settings.collection("reference"), context.note("reference")
    engine = providers.search_engine(settings, context.objects, context.models[0], read_only=False)
    operations = collection_operations(
        "reference",
        settings,
        StoredCatalogues(context.objects, names),
        context.models,
        engine,
        waiting=note.put if note else nobody_waits,
    )
    return Upkeep(operations, note)
