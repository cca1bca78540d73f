"""The collection of the memory, as the index function maintains it. It imports no YAML parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.memory.composition import new_id, now
from commonplace.memory.index_source import StoredEntries
from commonplace.memory.job_store import DynamoJobs
from commonplace.memory.ports import Parts
from commonplace.memory.settings import MemorySettings
from commonplace.memory.store import DynamoEntries
from commonplace.memory.upkeep import Upkeep, carry_on
from commonplace.memory.usage_store import DynamoUsage
from commonplace.search import providers
from commonplace.search.collections import collection_operations
from commonplace.search.indexer import nobody_waits
from commonplace.search.store import DynamoVectorCaches

if TYPE_CHECKING:
    from commonplace.memory.ports import VectorCaches
    from commonplace.search.collections import IndexContext
    from commonplace.search.model import VectorMemories


def collection(context: IndexContext) -> Upkeep | None:
    """None for a deployment without a table of records. Changes of the memory are not announced."""
    told = MemorySettings.where_remembered(context.environ)
    if told is None:
        return None
    settings, note = context.settings.collection("memory"), context.note("memory")
    client = context.dynamodb()
    store = DynamoEntries(client, told.records_table, told.activity_table)
    work = DynamoJobs(client, told.records_table, told.activity_table)
    vectors = DynamoVectorCaches(client, told.cache_table)
    engine = providers.search_engine(settings, context.objects, context.models[0], read_only=False)
    operations = collection_operations(
        "memory",
        settings,
        StoredEntries(store),
        context.models,
        engine,
        memories=vectors_of(vectors),
        waiting=note.put if note else nobody_waits,
    )
    parts = Parts(
        store=store,
        jobs=work,
        caches=vectors,
        usage=DynamoUsage(client, told.records_table, told.activity_table),
        embedder=context.models[0],
        clock=now,
        new_id=new_id,
        batch=told.batch,
    )
    return Upkeep(
        operations,
        store,
        work,
        lambda organisation, job, enough: carry_on(parts, organisation, job, enough),
        note=note,
    )


def vectors_of(caches: VectorCaches) -> VectorMemories:
    """Each organisation's vectors are remembered in its own cache alone."""
    return lambda organisation: caches.of(organisation) if organisation else None
