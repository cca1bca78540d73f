"""From settings to what the index function does: an indexer for each model in use, and the change of generations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonplace.kernel.settings import RetrievalSettings
from commonplace.search import providers
from commonplace.search.indexer import Indexer, nobody_waits
from commonplace.search.migration import Migration, Target
from commonplace.search.model import EmbeddingProvider, Engine, VectorMemories
from commonplace.search.operations import Operations

if TYPE_CHECKING:
    from commonplace.search.source import ChangeLog, Collection, Source

Models = Sequence[EmbeddingProvider | None]


def collection_operations(
    collection: Collection,
    settings: RetrievalSettings,
    source: Source,
    models: Models,
    engine: Engine,
    *,
    memories: VectorMemories | None = None,
    changes: ChangeLog | None = None,
    waiting: Callable[[], None] = nobody_waits,
) -> Operations:
    """Those of one collection. `engine` is opened for writing with the first of the `models`, the one to come is last.

    `settings` are the collection's own. Without `memories` there is one memory of vectors for all that is in it.
    `changes` is told what searches find from now on; two indexes that are kept up tell it twice.
    """
    if memories is None:
        own = providers.vector_memory(settings, engine)
        memories = lambda _organisation: own  # noqa: E731 - a memory for everybody
    return _Making(settings, source, memories, changes, waiting, collection).operations(models, engine)


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
