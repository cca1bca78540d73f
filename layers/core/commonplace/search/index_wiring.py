"""From settings to what the index function does: an indexer for each model in use, and the change of generations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonplace.documents.index_source import StoredDocuments
from commonplace.kernel.settings import RetrievalSettings
from commonplace.search import providers
from commonplace.search.indexer import Indexer, nobody_waits
from commonplace.search.migration import Migration, Target
from commonplace.search.model import EmbeddingProvider, Engine, VectorMemories
from commonplace.search.operations import Operations

if TYPE_CHECKING:
    from commonplace.kernel.objects import ObjectReader
    from commonplace.memory.ports import VectorCaches
    from commonplace.search.source import ChangeLog, Collection, Source

Models = Sequence[EmbeddingProvider | None]


def document_operations(
    settings: RetrievalSettings,
    objects: ObjectReader,
    models: Models,
    engine: Engine,
    *,
    changes: ChangeLog | None = None,
    waiting: Callable[[], None] = nobody_waits,
) -> Operations:
    """Those of the documents. `engine` is opened for writing with the first of the `models`, the one to come is last.

    `changes` is told what searches find from now on; two indexes that are kept up tell it twice.
    """
    memories = _deployments(settings, engine)
    made = _Making(settings, StoredDocuments(objects), memories, changes, waiting, "documents")
    return made.operations(models, engine)


def memory_operations(
    settings: RetrievalSettings,
    source: Source,
    caches: VectorCaches,
    models: Models,
    engine: Engine,
    *,
    waiting: Callable[[], None] = nobody_waits,
) -> Operations:
    """Those of the memory. `settings` are its collection's own, `source` is `memory.sources.StoredEntries`.

    Nobody is told what changes in it, and each organisation's vectors are remembered in its own cache alone.
    """
    made = _Making(settings, source, _own(caches), None, waiting, "memory")
    return made.operations(models, engine)


def reference_operations(
    settings: RetrievalSettings,
    source: Source,
    models: Models,
    engine: Engine,
    *,
    waiting: Callable[[], None] = nobody_waits,
) -> Operations:
    """Those of the product reference. `settings` are its collection's own, `source` is
    `reference.sources.StoredCatalogues`.

    Its readers compare editions by themselves, so nobody is told what changes in it.
    """
    made = _Making(settings, source, _deployments(settings, engine), None, waiting, "reference")
    return made.operations(models, engine)


def _deployments(settings: RetrievalSettings, engine: Engine) -> VectorMemories:
    """Of what everybody may read: one memory for all of it."""
    own = providers.vector_memory(settings, engine)
    return lambda _organisation: own


def _own(caches: VectorCaches) -> VectorMemories:
    return lambda organisation: caches.of(organisation) if organisation else None


@dataclass(frozen=True, slots=True)
class _Making:
    """What the indexers of one collection have in common."""

    settings: RetrievalSettings
    source: Source
    memories: VectorMemories
    changes: ChangeLog | None
    waiting: Callable[[], None]
    collection: Collection

    def operations(self, models: Models, engine: Engine) -> Operations:
        if self.settings.search_engine == "embedded":
            return Operations([self._indexer(engine, models[0], rebuilds=True)], None, self.collection)
        others = [providers.search_engine(self.settings, None, model, read_only=False) for model in models[1:]]
        indexers = [
            self._indexer(each, model, rebuilds=False) for each, model in zip([engine, *others], models, strict=True)
        ]
        return Operations(indexers, self._migration(models), self.collection)

    def _indexer(self, engine: Engine, model: EmbeddingProvider | None, *, rebuilds: bool) -> Indexer:
        return Indexer(
            self.source,
            engine,
            model,
            self.memories,
            changes=self.changes,
            waiting=self.waiting,
            rebuilds=rebuilds,
        )

    def _migration(self, models: Models) -> Migration:
        from commonplace.search.opensearch.generations import OpenSearchGenerations

        connection, stem = providers.open_search_connection(self.settings), self.settings.opensearch_index
        parameters = providers.index_parameters(self.settings)
        targets = [
            Target(OpenSearchGenerations(connection, stem, model, parameters), model, self.memories) for model in models
        ]
        return Migration(self.source, targets, changes=self.changes)
