"""The collection of the memory, as the index function maintains it. It imports no YAML parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.memory.composition import new_id, now
from commonplace.memory.index_source import StoredEntries
from commonplace.memory.job_store import DynamoJobs
from commonplace.memory.parts import Parts
from commonplace.memory.settings import MemorySettings
from commonplace.memory.store import DynamoEntries
from commonplace.memory.upkeep import Upkeep, carry_on
from commonplace.memory.usage import DynamoUsage
from commonplace.search import providers
from commonplace.search.collections import collection_operations
from commonplace.search.indexer import nobody_waits
from commonplace.search.store import DynamoVectorCaches

if TYPE_CHECKING:
    from commonplace.search.collections import IndexContext


def collection(context: IndexContext) -> Upkeep | None:
    """None for a deployment without a table of records. Changes of the memory are not announced."""
    own = MemorySettings.where_remembered(context.environ)
    if own is None:
        return None
    settings, note = context.settings.collection("memory"), context.note("memory")
    client = context.dynamodb()
    caches = DynamoVectorCaches(client, own.cache_table)
    parts = Parts(
        store=DynamoEntries(client, own.records_table, own.activity_table),
        jobs=DynamoJobs(client, own.records_table, own.activity_table),
        caches=caches,
        usage=DynamoUsage(client, own.records_table, own.activity_table),
        embedder=context.models[0],
        clock=now,
        new_id=new_id,
        batch=own.batch,
    )
    operations = collection_operations(
        "memory",
        settings,
        StoredEntries(parts.store),
        context.models,
        providers.search_engine(settings, context.objects, context.models[0], read_only=False),
        # Each organisation's vectors are cached in its own cache alone.
        memories=lambda organisation: caches.of(organisation) if organisation else None,
        waiting=note.put if note else nobody_waits,
    )
    return Upkeep(
        operations,
        parts.store,
        parts.jobs,
        lambda organisation, job, enough: carry_on(parts, organisation, job, enough),
        note=note,
    )
