"""From settings to the memory: its stores, its index, its models.

Importing this loads the clients of AWS: it is for the first call that asks the memory something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.kernel import aws
from commonplace.memory.dynamodb_query_counts import DynamoQueryCounts
from commonplace.memory.memory_tables import caches, entries, jobs, new_id, now
from commonplace.memory.search import SEED_FUSION, MemorySearch
from commonplace.memory.service import Memory
from commonplace.search import providers
from commonplace.search.fusion import Fusion

if TYPE_CHECKING:
    from commonplace.kernel.objects import ObjectStore
    from commonplace.kernel.settings import RetrievalSettings
    from commonplace.memory.settings import MemorySettings
    from commonplace.search.model import EmbeddingProvider, Engine

COUNT_SECONDS = 0.5
"""What a count of queries is worth to whoever asked one."""

REFRESH_SECONDS = 0.5
"""How old the copy of a one-file index may be: what was added is to be found within two seconds."""


def memory(told: MemorySettings, settings: RetrievalSettings, objects: ObjectStore) -> Memory:
    """For the function that answers agents. `objects` is the store of an embedded index."""
    settings = settings.collection("memory")
    models = providers.embedding_providers(settings, read_seconds=providers.MEMORY_READ_SECONDS)
    store = entries(told)
    engine = _reader(settings, objects, next(iter(models), None))
    fusion = Fusion.parse(told.fusion) if told.fusion else SEED_FUSION
    return Memory(
        store=store,
        jobs=jobs(told),
        counts=_counts(told),
        caches=caches(told),
        search=MemorySearch(engine, models, store, fusion=fusion),
        embedder=next(iter(models), None),
        clock=now,
        new_id=new_id,
        batch=told.batch,
    )


def _counts(told: MemorySettings) -> DynamoQueryCounts:
    """Whoever searches does not wait for the count, so nothing of it is tried twice; whoever reads the counts waits."""
    hasty = aws.dynamodb(read_timeout_seconds=COUNT_SECONDS, connect_timeout_seconds=COUNT_SECONDS, attempts=1)
    return DynamoQueryCounts(aws.dynamodb(read_timeout_seconds=5), told.records_table, hasty=hasty)


def _reader(settings: RetrievalSettings, objects: ObjectStore, model: EmbeddingProvider | None) -> Engine:
    if settings.search_engine == "embedded" and settings.index_location:
        from commonplace.search.embedded.published import open_index

        location = settings.index_location
        return open_index(location, objects, model, read_only=True, refresh_seconds=REFRESH_SECONDS)
    return providers.search_engine(settings, objects, model, read_only=True)
