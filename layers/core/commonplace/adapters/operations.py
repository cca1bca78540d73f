"""From settings to what the index function does: an indexer for each model in use, and the change of generations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonplace.adapters import wiring
from commonplace.search.indexing import Indexer
from commonplace.search.migration import Migration, Target
from commonplace.search.model import EmbeddingProvider, Engine
from commonplace.search.operations import Operations
from commonplace.settings import RetrievalSettings

if TYPE_CHECKING:
    from commonplace.content.store import ObjectStore
    from commonplace.search.changes import ChangeLog


def index_operations(
    settings: RetrievalSettings,
    objects: ObjectStore,
    models: Sequence[EmbeddingProvider | None],
    engine: Engine,
    changes: ChangeLog | None = None,
) -> Operations:
    """`models` are those of the settings, the one to come last; `engine` is opened for writing with the first.

    `changes` is told what searches find from now on; two indexes that are kept up tell it twice.
    """
    memory = wiring.vector_memory(settings, engine)
    if settings.search_engine == "embedded":
        return Operations([Indexer(objects, engine, models[0], memory, changes=changes)], None)
    from commonplace.adapters.opensearch.generations import OpenSearchGenerations

    connection, stem = wiring.open_search_connection(settings), settings.opensearch_index
    parameters = wiring.index_parameters(settings)
    engines = [engine, *(wiring.search_engine(settings, objects, model, read_only=False) for model in models[1:])]
    indexers = [
        Indexer(objects, each, model, memory, changes=changes, rebuilds=False)
        for each, model in zip(engines, models, strict=True)
    ]
    targets = [Target(OpenSearchGenerations(connection, stem, model, parameters), model, memory) for model in models]
    return Operations(indexers, Migration(objects, targets, changes=changes))
