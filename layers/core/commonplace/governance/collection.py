"""The collection of messages, as the index function maintains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.governance.index_source import COLLECTION, StoredMessages, message_of
from commonplace.governance.settings import GovernanceTables
from commonplace.governance.store import Store
from commonplace.search import providers
from commonplace.search.collections import PlainCollection, collection_operations
from commonplace.search.embeddings import no_memories
from commonplace.search.indexer import nobody_waits

if TYPE_CHECKING:
    from commonplace.search.collections import IndexContext


def collection(context: IndexContext) -> PlainCollection | None:
    """Return the collection; None without governance. Changes are not announced: watches follow the store.

    No cache remembers vectors of messages: what a failed import takes back is to leave nothing behind.
    """
    own = GovernanceTables.where_governed(context.environ)
    if own is None:
        return None
    settings, note = context.settings.collection(COLLECTION), context.note(COLLECTION)
    operations = collection_operations(
        COLLECTION,
        settings,
        StoredMessages(Store(context.dynamodb(), own.records_table, own.activity_table)),
        context.models,
        providers.search_engine(settings, context.objects, context.models[0], read_only=False),
        memories=no_memories,
        waiting=note.put if note else nobody_waits,
    )
    return PlainCollection(operations, note, lambda body: message_of(body) is not None)
