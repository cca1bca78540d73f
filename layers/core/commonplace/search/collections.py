"""The index function over all collections: events of queues, schedules, and an operator's commands.

Each collection has its own source and its own index; capabilities declare which there are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from commonplace.search import providers
from commonplace.search.indexer import Enough, Indexer, Message, Note, Report, complete, never, nobody_waits
from commonplace.search.migration import Migration, Target
from commonplace.search.model import EmbeddingProvider
from commonplace.search.operations import Operations, stretch

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.objects import ObjectStore
    from commonplace.search.model import Engine, VectorMemories
    from commonplace.search.settings import RetrievalSettings
    from commonplace.search.source import ChangeLog, Collection, Source

logger = logging.getLogger(__name__)

Models = Sequence[EmbeddingProvider | None]


@dataclass(frozen=True, slots=True)
class IndexContext:
    """The parts that the index function hands to each capability that has a collection."""

    environ: Mapping[str, str]
    settings: RetrievalSettings
    objects: ObjectStore
    dynamodb: Callable[[], DynamoDBClient]
    models: Models
    """Those of the settings, the one to come last."""
    note: Callable[[str], Note | None]
    """The note of a collection whose records wait for vectors; None where a deployment has no table for it."""
    changes: ChangeLog | None
    """Receives the changes for readers who wait for them."""


class IndexedCollection(Protocol):
    """A collection as the index function keeps it up."""

    @property
    def operations(self) -> Operations: ...

    def claims(self, body: str) -> bool:
        """Return whether a message of the queue is of this collection. Never raises."""
        ...

    def take(self, messages: Sequence[Message], enough: Enough = never) -> list[str]:
        """Does what the messages ask for; returns the ids of those that failed."""
        ...

    def reconcile(self, enough: Enough = never) -> Report:
        """Compares the index with its source."""
        ...

    def finish(self, enough: Enough = never) -> Report | None:
        """Does what is left for records that wait; None when none is noted."""
        ...


class PlainCollection:
    """A collection whose messages name records, and of which nothing but the index is to be kept up."""

    def __init__(self, operations: Operations, note: Note | None, claims: Callable[[str], bool]) -> None:
        self.operations = operations
        self._note = note
        self.claims = claims

    def take(self, messages: Sequence[Message], enough: Enough = never) -> list[str]:
        return self.operations.take(messages, enough)

    def reconcile(self, enough: Enough = never) -> Report:
        return self.operations.reconcile(enough)

    def finish(self, enough: Enough = never) -> Report | None:
        return complete(self.operations.complete, self._note, enough) if self._note else None


class IndexFunction:
    """Answers every event of the index function. The first collection is the one an operator means who names none."""

    def __init__(self, collections: Sequence[IndexedCollection]) -> None:
        self.collections = {each.operations.collection: each for each in collections}
        self._first = collections[0]

    def __call__(self, event: Mapping[str, Any], context: object) -> dict[str, Any]:
        """Returns the messages that failed of a batch, else what was done. Raises ValueError for any other event."""
        if "Records" in event:
            failed = self._take([Message(record["messageId"], record["body"]) for record in event["Records"]], context)
            return {"batchItemFailures": [{"itemIdentifier": message} for message in failed]}
        source = event.get("source")
        if source == "aws.events" and event.get("complete") is True:
            return {name: asdict(each.finish(_time(context)) or Report()) for name, each in self.collections.items()}
        if source == "commonplace.operator" and ("step" in event or event.get("rebuild") is True):
            given = event.get("input")
            name = event.get("collection") or (given.get("collection") if isinstance(given, dict) else None)
            chosen = self.collections.get(name) if name else self._first
            if chosen is None:
                message, hint = f"There is no collection {name!r}.", f"Collections here: {', '.join(self.collections)}."
                return {"action": "refused", "message": message, "hint": hint, "collection": name}
            if event.get("rebuild") is True:
                return asdict(chosen.operations.rebuild())
            return chosen.operations.step(event, _time(context, event.get("seconds")))
        if source in ("aws.events", "commonplace.operator"):
            return self._reconcile(event, context)
        raise ValueError("the event is neither a batch of a queue, nor of a schedule, nor of an operator")

    def _take(self, messages: Sequence[Message], context: object) -> list[str]:
        """A message that no collection claims is the first one's, which says what is wrong with it."""
        claimed: dict[Collection, list[Message]] = {name: [] for name in self.collections}
        for message in messages:
            owners = [name for name, each in self.collections.items() if each.claims(message.body)]
            for name in owners or [self._first.operations.collection]:
                claimed[name].append(message)
        failed = [
            message
            for name, found in claimed.items()
            if found
            for message in self.collections[name].take(found, _time(context))
        ]
        return list(dict.fromkeys(failed))

    def _reconcile(self, event: Mapping[str, Any], context: object) -> dict[str, Any]:
        """Compares each index with its source. What fails for one is raised when the others are done."""
        wanted = event.get("collection")
        answers: dict[str, dict[str, Any]] = {}
        failures: list[Exception] = []
        for name, each in self.collections.items():
            if wanted in (None, name):
                try:
                    answers[name] = asdict(each.reconcile(_time(context, event.get("seconds"))))
                except Exception as failure:
                    logger.exception("an index was not compared with its source", extra={"collection": name})
                    failures.append(failure)
        if failures:
            raise failures[0]
        return answers.pop(self._first.operations.collection, {}) | answers


def _time(context: Any, seconds: object = None) -> Enough:
    """Return what Lambda leaves for this call, or the requested time."""
    ask = getattr(context, "get_remaining_time_in_millis", None)
    return stretch(ask() / 1_000 if ask else None, seconds)


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
    """An indexer for each model in use, and the change of generations, of one collection.

    `engine` is opened for writing with the first of the `models`, the one to come is last. `settings` are the
    collection's own. Without `memories` there is one memory of vectors for all that is in it. `changes` is told what
    searches find from now on; two indexes that are kept up tell it twice.
    """
    own = providers.vector_memory(settings, engine) if memories is None else None
    remembered = memories or (lambda _organisation: own)
    embedded = settings.search_engine == "embedded"

    def indexer(engine: Engine, model: EmbeddingProvider | None) -> Indexer:
        return Indexer(source, engine, model, remembered, changes=changes, waiting=waiting, rebuilds=embedded)

    if embedded:
        return Operations([indexer(engine, models[0])], None, collection)
    from commonplace.search.opensearch.engine import OpenSearchGenerations

    engines = [engine, *(providers.search_engine(settings, None, model, read_only=False) for model in models[1:])]
    connection, parameters = providers.open_search_connection(settings), providers.index_parameters(settings)
    targets = [
        Target(OpenSearchGenerations(connection, settings.opensearch_index, model, parameters), model, remembered)
        for model in models
    ]
    indexers = [indexer(each, model) for each, model in zip(engines, models, strict=True)]
    return Operations(indexers, Migration(source, targets, changes=changes), collection)
