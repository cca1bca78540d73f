"""Brings the search index to what the store holds: for S3's notifications, on a schedule, and when an operator asks."""

import logging
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from commonplace.adapters import clients, wiring
from commonplace.adapters.s3 import S3ObjectStore
from commonplace.search.indexing import Indexer, Message
from commonplace.settings import IndexSettings

logger = logging.getLogger(__name__)
logging.getLogger("commonplace").setLevel(logging.INFO)

SETTINGS = IndexSettings.from_environ(os.environ)
OBJECTS = S3ObjectStore(clients.s3(), SETTINGS.content_bucket)
EMBEDDINGS = wiring.indexed_models(SETTINGS)[0]
ENGINE = wiring.search_engine(SETTINGS, OBJECTS, EMBEDDINGS, read_only=False)
INDEXER = Indexer(OBJECTS, ENGINE, EMBEDDINGS, wiring.vector_memory(SETTINGS, ENGINE))


def handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Answers a batch of the queue with the messages that failed, anything else with what was done."""
    if "Records" in event:
        messages = [Message(record["messageId"], record["body"]) for record in event["Records"]]
        failed = INDEXER.take(messages)
        return {"batchItemFailures": [{"itemIdentifier": message} for message in failed]}
    if event.get("source") == "commonplace.operator" and event.get("rebuild") is True:
        return asdict(INDEXER.rebuild())
    if event.get("source") in ("aws.events", "commonplace.operator"):
        return asdict(INDEXER.reconcile())
    raise ValueError("the event is neither a batch of the queue, nor of the schedule, nor of an operator")
