"""The collection of what is contributed, as the index function maintains it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from commonplace.hive.deployment import NO_MODEL, DeploymentConfiguration
from commonplace.hive.index_source import StoredItems, of_item
from commonplace.hive.service import stamp
from commonplace.hive.settings import HiveTables
from commonplace.hive.store import DynamoContributions
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.telemetry import count
from commonplace.search import providers
from commonplace.search.collections import collection_operations
from commonplace.search.embeddings import model_fingerprint, no_memories
from commonplace.search.indexer import Enough, Message, Note, Report, complete, never, nobody_waits

if TYPE_CHECKING:
    from commonplace.hive.store import DynamoContributions
    from commonplace.search.collections import IndexContext
    from commonplace.search.operations import Operations

logger = logging.getLogger(__name__)

COLLECTION = "contributions"


def collection(context: IndexContext) -> Upkeep | None:
    """None for a deployment without a table of records. Changes of the hive are not announced.

    No cache remembers vectors of contributions: what is deleted is to leave nothing behind.
    """
    told = HiveTables.where_contributed(context.environ)
    if told is None:
        return None
    settings, note = context.settings.collection(COLLECTION), context.note(COLLECTION)
    client = context.dynamodb()
    store = DynamoContributions(client, told.records_table, told.activity_table)
    engine = providers.search_engine(settings, context.objects, context.models[0], read_only=False)
    operations = collection_operations(
        COLLECTION,
        settings,
        StoredItems(store),
        context.models,
        engine,
        memories=no_memories,
        waiting=note.put if note else nobody_waits,
    )
    model = context.models[0]
    return Upkeep(
        operations,
        store,
        DeploymentConfiguration(client, told.records_table, lambda: stamp(datetime.now(UTC))),
        model_fingerprint(model) if model else NO_MODEL,
        note=note,
    )


class Upkeep:
    """Items into the index; at the first start and with every comparison a look at the model; the age of the queue.

    `clock` tells the time with its zone.
    """

    def __init__(
        self,
        operations: Operations,
        store: DynamoContributions,
        configuration: DeploymentConfiguration,
        configured: str,
        *,
        note: Note | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.operations = operations
        self._store = store
        self._configuration = configuration
        self._configured = configured
        self._note = note
        self.clock = clock
        self._started = False

    def claims(self, body: str) -> bool:
        return of_item(body) is not None

    def take(self, messages: Sequence[Message], enough: Enough = never) -> list[str]:
        """Raises Unavailable when the index takes no writes."""
        if not self._started:
            self._compare_model()
        return self.operations.take(messages, enough)

    def reconcile(self, enough: Enough = never) -> Report:
        """Says for how long the oldest contribution waits, and compares the index with the store."""
        count("HiveQueueAgeDays", self._queue_age_days())
        self._compare_model()
        report = self.operations.reconcile(enough)
        self._compare_model()  # an index in one file is of the new model now
        return report

    def finish(self, enough: Enough = never) -> Report | None:
        return complete(self.operations.complete, self._note, enough) if self._note else None

    def _compare_model(self) -> None:
        """Whatever comes of it, the index is kept up."""
        try:
            searched = self.operations.indexers[0].engine.model() or NO_MODEL
            self._configuration.compare(self._configured, searched)
            self._started = True
        except Unavailable as error:
            logger.warning("the model was not compared with the one that is kept", extra={"reason": error.message})

    def _queue_age_days(self) -> float:
        """Of the contribution that waits longest, whosever it is; 0 where none waits."""
        oldest = [
            one.contributed_at
            for organisation in self._store.organisations()
            for one in islice(self._store.pending(organisation, page=1), 1)
        ]
        if not oldest:
            return 0.0
        return max(0.0, (self.clock() - datetime.fromisoformat(min(oldest))).total_seconds() / 86_400)
