"""Brings the indexes to what their sources hold: for events of bucket and table, on schedules, for an operator."""

import logging
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from commonplace.kernel import aws
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.settings import IndexSettings
from commonplace.memory.index_source import is_of_memory
from commonplace.memory.settings import MemorySettings
from commonplace.reference.index_source import is_of_catalogues
from commonplace.reference.settings import catalogue_sources
from commonplace.search import providers
from commonplace.search.index_wiring import document_operations
from commonplace.search.indexer import Message, Report, complete, nobody_waits
from commonplace.search.operations import Operations, stretch
from commonplace.search.source import Collection
from commonplace.search.store import DynamoChanges, DynamoNote

logger = logging.getLogger(__name__)
logging.getLogger("commonplace").setLevel(logging.INFO)

SETTINGS = IndexSettings.from_environ(os.environ)
MEMORY_SETTINGS = MemorySettings.from_environ(os.environ)
CATALOGUES = catalogue_sources(os.environ)
OBJECTS = S3ObjectStore(aws.s3(), SETTINGS.content_bucket)
MODELS = providers.indexed_models(SETTINGS)
ACTIVITY = aws.dynamodb(attempts=2) if SETTINGS.activity_table else None
NOTES = {
    name: DynamoNote(ACTIVITY, SETTINGS.activity_table, name)
    for name in get_args(Collection)
    if ACTIVITY and SETTINGS.activity_table
}
WAITING = {name: note.put for name, note in NOTES.items()}

ENGINE = providers.search_engine(SETTINGS, OBJECTS, MODELS[0], read_only=False)
CHANGES = DynamoChanges(ACTIVITY, SETTINGS.activity_table) if ACTIVITY and SETTINGS.activity_table else None
OPERATIONS = document_operations(
    SETTINGS, OBJECTS, MODELS, ENGINE, changes=CHANGES, waiting=WAITING.get("documents", nobody_waits)
)
COLLECTIONS: dict[str, Operations] = {"documents": OPERATIONS}
MEMORY = None
if MEMORY_SETTINGS:
    from commonplace.memory.upkeep_wiring import upkeep

    MEMORY = upkeep(MEMORY_SETTINGS, SETTINGS, OBJECTS, MODELS, WAITING.get("memory", nobody_waits))
    COLLECTIONS["memory"] = MEMORY.operations
REFERENCE = None
if CATALOGUES:
    from commonplace.reference.upkeep_wiring import upkeep as catalogues_upkeep

    REFERENCE = catalogues_upkeep(CATALOGUES, SETTINGS, OBJECTS, MODELS, NOTES.get("reference"))
    COLLECTIONS["reference"] = REFERENCE.operations


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Answers a batch of a queue with the messages that failed, anything else with what was done."""
    if "Records" in event:
        failed = take([Message(record["messageId"], record["body"]) for record in event["Records"]], context)
        return {"batchItemFailures": [{"itemIdentifier": message} for message in failed]}
    if event.get("source") == "aws.events" and event.get("complete") is True:
        return finish(context)
    if event.get("source") == "commonplace.operator" and ("step" in event or event.get("rebuild") is True):
        return operate(event, context)
    if event.get("source") in ("aws.events", "commonplace.operator"):
        return reconcile(event, context)
    raise ValueError("the event is neither a batch of a queue, nor of a schedule, nor of an operator")


def take(messages: list[Message], context: object) -> list[str]:
    """Does what the messages ask for; answers those that failed. They are told apart by what they say."""
    remembered = [message for message in messages if MEMORY and is_of_memory(message.body)]
    notified = [message for message in messages if message not in remembered]
    published = [message for message in notified if REFERENCE and is_of_catalogues(message.body)]
    failed = OPERATIONS.take(notified) if notified else []
    if MEMORY and remembered:
        failed += MEMORY.take(remembered, stretch(remaining_seconds(context), None))
    if REFERENCE and published:
        failed += REFERENCE.take(published, stretch(remaining_seconds(context), None))
    return list(dict.fromkeys(failed))


def reconcile(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Compares each index with its source. What fails for one is raised when the others are done."""
    wanted = event.get("collection")
    answers: dict[str, dict[str, Any]] = {}
    failures: list[Exception] = []
    looks = {name: operations.reconcile for name, operations in COLLECTIONS.items()}
    if MEMORY:
        looks["memory"] = MEMORY.reconcile
    for name, look in looks.items():
        if wanted in (None, name):
            try:
                answers[name] = asdict(look(stretch(remaining_seconds(context), event.get("seconds"))))
            except Exception as failure:
                logger.exception("an index was not compared with its source", extra={"collection": name})
                failures.append(failure)
    if failures:
        raise failures[0]
    return answers.pop("documents", {}) | answers


def finish(context: object) -> dict[str, Any]:
    """Does what is left for those that wait; an index that has nothing noted is not asked."""
    answers: dict[str, Any] = {}
    for name, operations in COLLECTIONS.items():
        enough = stretch(remaining_seconds(context), None)
        if REFERENCE and name == "reference":
            report = REFERENCE.finish(enough)
        else:
            report = complete(operations.complete, NOTES[name], enough) if name in NOTES else None
        answers[name] = asdict(report or Report())
    return answers


def operate(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """A step of a migration, or the rebuilding of a small index. Without a collection it concerns the documents."""
    given = event.get("input")
    name = event.get("collection") or (given.get("collection") if isinstance(given, dict) else None) or "documents"
    operations = COLLECTIONS.get(name) if isinstance(name, str) else None
    if operations is None:
        hint = f"Collections here: {', '.join(COLLECTIONS)}."
        return {"action": "refused", "message": f"There is no collection {name!r}.", "hint": hint, "collection": name}
    if event.get("rebuild") is True:
        return asdict(operations.rebuild())
    return operations.step(event, stretch(remaining_seconds(context), event.get("seconds")))


def remaining_seconds(context: Any) -> float | None:
    """What Lambda leaves for this call; None outside of it."""
    ask = getattr(context, "get_remaining_time_in_millis", None)
    return ask() / 1_000 if ask else None
