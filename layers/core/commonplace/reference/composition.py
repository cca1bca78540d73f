"""The product reference, built from settings: catalogues, index, models, gaps.

Importing this loads the clients of AWS: it is for the first call that needs the reference.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from commonplace.kernel import aws
from commonplace.reference.library import MAX_AGE_SECONDS, CatalogueLibrary
from commonplace.reference.service import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.kernel.objects import ObjectStore
    from commonplace.reference.model import Asked
    from commonplace.reference.ports import GapStore, Meaning, Near
    from commonplace.reference.settings import CatalogueSource
    from commonplace.search.settings import RetrievalSettings


def reference(
    settings: RetrievalSettings,
    catalogues: Sequence[CatalogueSource],
    objects: ObjectStore,
    records_table: str | None = None,
    *,
    max_age_seconds: float = MAX_AGE_SECONDS,
) -> Reference:
    """For the function that answers agents. Without a table of records no gaps are kept."""
    names = [catalogue.name for catalogue in catalogues]
    shelf = CatalogueLibrary(objects, names, max_age_seconds=max_age_seconds)
    words_only = settings.embedding_provider.kind == "none" and settings.embedding_provider_next is None
    meaning = None if words_only else DeferredMeaning(lambda: _meaning(settings.collection("reference"), objects))
    return Reference(shelf, meaning, _gaps(records_table))


class DeferredMeaning:
    """`Meaning` that is made by the first search which compares it: a look-up of a name needs neither model nor
    index."""

    def __init__(self, make: Callable[[], Meaning]) -> None:
        self._make = make
        self._made: Meaning | None = None
        self._making = Lock()

    def near(self, asked: Asked, size: int) -> Sequence[Near] | None:
        with self._making:
            meaning = self._made = self._made or self._make()
        return meaning.near(asked, size)


def _meaning(settings: RetrievalSettings, objects: ObjectStore) -> Meaning:
    from commonplace.reference.search import VectorMeaning
    from commonplace.search import providers

    models = providers.embedding_providers(settings)
    return VectorMeaning(providers.search_engine(settings, objects, next(iter(models), None), read_only=True), models)


def _gaps(table: str | None) -> GapStore | None:
    if table is None:
        return None
    from commonplace.reference.store import DynamoGaps

    return DynamoGaps(aws.dynamodb(read_timeout_seconds=5), table)
