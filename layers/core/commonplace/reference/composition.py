"""The product reference, built from settings: catalogues, index, models, gaps.

Importing this loads the clients of AWS: it is for the first call that needs the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.kernel import aws
from commonplace.kernel.deferred import deferred
from commonplace.reference.library import MAX_AGE_SECONDS, CatalogueLibrary
from commonplace.reference.service import Reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.kernel.objects import ObjectStore
    from commonplace.reference.ports import Meaning
    from commonplace.reference.settings import CatalogueSource
    from commonplace.reference.store import DynamoGaps
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

    def meaning() -> Meaning:  # made by the first search: a look-up of a name needs neither model nor index
        from commonplace.reference.search import VectorMeaning
        from commonplace.search import providers

        own = settings.collection("reference")
        models = providers.embedding_providers(own)
        return VectorMeaning(providers.search_engine(own, objects, next(iter(models), None), read_only=True), models)

    gaps: DynamoGaps | None = None
    if records_table is not None:
        from commonplace.reference.store import DynamoGaps

        gaps = DynamoGaps(aws.dynamodb(read_timeout_seconds=5), records_table)
    shelf = CatalogueLibrary(objects, [one.name for one in catalogues], max_age_seconds=max_age_seconds)
    words_only = settings.embedding_provider.kind == "none" and settings.embedding_provider_next is None
    return Reference(shelf, None if words_only else deferred(meaning), gaps)
