"""From settings to what the index function does for the memory. It reads no YAML, and answers nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.memory.index_source import StoredEntries
from commonplace.memory.upkeep import Parts, Upkeep, carry_on
from commonplace.memory.wiring import caches, entries, jobs, new_id, now
from commonplace.search import providers
from commonplace.search.index_wiring import memory_operations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.kernel.objects import ObjectStore
    from commonplace.kernel.settings import RetrievalSettings
    from commonplace.memory.settings import MemorySettings
    from commonplace.search.model import EmbeddingProvider


def upkeep(
    told: MemorySettings,
    settings: RetrievalSettings,
    objects: ObjectStore,
    models: Sequence[EmbeddingProvider | None],
    waiting: Callable[[], None],
) -> Upkeep:
    """For the function that indexes. `models` are those of the settings, the one to come last."""
    settings = settings.collection("memory")
    store, work, vectors = entries(told), jobs(told), caches(told)
    engine = providers.search_engine(settings, objects, models[0], read_only=False)
    operations = memory_operations(settings, StoredEntries(store), vectors, models, engine, waiting=waiting)
    parts = Parts(
        store=store, jobs=work, caches=vectors, embedder=models[0], clock=now, new_id=new_id, batch=told.batch
    )
    return Upkeep(operations, store, work, lambda organisation, job, enough: carry_on(parts, organisation, job, enough))
