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
    """Return the reference of the function that answers agents. Without a table of records no gaps are stored."""

    def meaning() -> Meaning:
        from commonplace.reference.search import VectorMeaning
        from commonplace.search import providers

        own = settings.collection("reference")
        models = providers.embedding_providers(own)
        return VectorMeaning(providers.search_engine(own, objects, next(iter(models), None), read_only=True), models)

    gaps: GapStore | None = None
    if records_table is not None:
        from commonplace.reference.store import DynamoGaps

        gaps = DynamoGaps(aws.dynamodb(read_timeout_seconds=5), records_table)
    shelf = CatalogueLibrary(objects, [one.name for one in catalogues], max_age_seconds=max_age_seconds)
    words_only = settings.embedding_provider.kind == "none" and settings.embedding_provider_next is None
    return Reference(shelf, None if words_only else DeferredMeaning(meaning), gaps)


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
