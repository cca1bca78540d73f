"""Brings the search index to what the store holds: for S3's notifications, on a schedule, and when an operator asks."""

import logging
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from commonplace.adapters import clients, wiring
from commonplace.adapters.dynamodb_changes import DynamoChanges
from commonplace.adapters.operations import document_operations
from commonplace.adapters.s3 import S3ObjectStore
from commonplace.search.indexing import Message
from commonplace.search.operations import stretch
from commonplace.settings import IndexSettings

logger = logging.getLogger(__name__)
logging.getLogger("commonplace").setLevel(logging.INFO)

SETTINGS = IndexSettings.from_environ(os.environ)
OBJECTS = S3ObjectStore(clients.s3(), SETTINGS.content_bucket)
MODELS = wiring.indexed_models(SETTINGS)
ENGINE = wiring.search_engine(SETTINGS, OBJECTS, MODELS[0], read_only=False)
CHANGES = DynamoChanges(clients.dynamodb(attempts=2), SETTINGS.activity_table) if SETTINGS.activity_table else None
OPERATIONS = document_operations(SETTINGS, OBJECTS, MODELS, ENGINE, changes=CHANGES)


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Answers a batch of the queue with the messages that failed, anything else with what was done."""
    if "Records" in event:
        messages = [Message(record["messageId"], record["body"]) for record in event["Records"]]
        failed = OPERATIONS.take(messages)
        return {"batchItemFailures": [{"itemIdentifier": message} for message in failed]}
    enough = stretch(remaining_seconds(context), event.get("seconds"))
    if event.get("source") == "commonplace.operator" and "step" in event:
        return OPERATIONS.step(event, enough)
    if event.get("source") == "commonplace.operator" and event.get("rebuild") is True:
        return asdict(OPERATIONS.rebuild())
    if event.get("source") in ("aws.events", "commonplace.operator"):
        return asdict(OPERATIONS.reconcile(enough))
    raise ValueError("the event is neither a batch of the queue, nor of the schedule, nor of an operator")


def remaining_seconds(context: Any) -> float | None:
    """What Lambda leaves for this call; None outside of it."""
    ask = getattr(context, "get_remaining_time_in_millis", None)
    return ask() / 1_000 if ask else None
