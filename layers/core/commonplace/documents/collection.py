"""The collection of documents, as the index function maintains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.documents.index_source import StoredDocuments
from commonplace.kernel.events import keys_of
from commonplace.search import providers
from commonplace.search.collections import PlainCollection, collection_operations
from commonplace.search.indexer import nobody_waits

if TYPE_CHECKING:
    from commonplace.search.collections import IndexContext


def collection(context: IndexContext) -> PlainCollection:
    """Notifications of the store name objects; readers receive the documents that changed."""
    note = context.note("documents")
    engine = providers.search_engine(context.settings, context.objects, context.models[0], read_only=False)
    operations = collection_operations(
        "documents",
        context.settings,
        StoredDocuments(context.objects),
        context.models,
        engine,
        changes=context.changes,
        waiting=note.put if note else nobody_waits,
    )
    return PlainCollection(operations, note, _is_notification)


def _is_notification(body: str) -> bool:
    try:
        keys_of(body)
    except ValueError:
        return False
    return True
