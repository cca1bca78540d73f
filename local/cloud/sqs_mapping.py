"""The event source mapping from SQS to a function: batches, a batching window, partial failures.

Messages that are kept are left alone: their visibility timeout ends, and the queue's redrive policy counts.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from local.cloud.calls import Outcome

logger = logging.getLogger(__name__)

RECEIVE_LIMIT = 10  # messages a call of ReceiveMessage or DeleteMessageBatch
RECORDS_LIMIT_BYTES = 6_000_000  # leaves room for the envelope below Lambda's limit of 6,291,456 bytes
IDLE_SECONDS = 20.0
PAUSE_AFTER_ERROR_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class QueueMapping:
    queue_url: str
    queue_arn: str
    function: str
    batch_size: int = 10
    window_seconds: float = 0
    partial_failures: bool = False
    pollers: int = 1

    @property
    def queue_name(self) -> str:
        return self.queue_arn.rpartition(":")[2]


def record(message: dict[str, Any], queue_arn: str) -> dict[str, Any]:
    """A message as the function sees it (AWS Lambda developer guide, "Using Lambda with Amazon SQS")."""
    attributes = {
        name: {
            "stringValue": value.get("StringValue"),
            "dataType": value["DataType"],
            "stringListValues": [],
            "binaryListValues": [],
        }
        for name, value in message.get("MessageAttributes", {}).items()
    }
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "md5OfBody": message["MD5OfBody"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": attributes,
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": queue_arn.split(":")[3],
    }


def kept(outcome: Outcome, sent: set[str], *, partial: bool) -> set[str]:
    """The ids of messages that stay: all after an error, a malformed answer or an id that was not sent."""
    if outcome.failed:
        return sent
    if not partial:
        return set()
    try:
        failures = (json.loads(outcome.payload) or {}).get("batchItemFailures") or []
        named = {item["itemIdentifier"] for item in failures}
    except (ValueError, TypeError, AttributeError, KeyError):
        return sent
    return named if named <= sent else sent


class Poller:
    """One thread that receives, invokes and deletes."""

    def __init__(
        self,
        mapping: QueueMapping,
        sqs: Any,
        *,
        wait_for_message: Callable[[str, float], bool],
        invoke: Callable[[str, bytes], Outcome],
    ) -> None:
        self._mapping, self._sqs = mapping, sqs
        self._wait_for_message, self._invoke = wait_for_message, invoke
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"poll-{mapping.queue_name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask_to_stop(self) -> None:
        self._stopping.set()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._wait_for_message(self._mapping.queue_name, IDLE_SECONDS):
                    self._handle(self._gather())
            except (BotoCoreError, ClientError) as error:
                if not self._stopping.wait(PAUSE_AFTER_ERROR_SECONDS):
                    logger.warning("Polling %s failed: %s", self._mapping.queue_name, type(error).__name__)

    def _gather(self) -> list[dict[str, Any]]:
        """Messages until the batch is full or the window, which the first message opens, has closed."""
        mapping, batch, size = self._mapping, list[dict[str, Any]](), 0
        closes = time.monotonic() + mapping.window_seconds
        while len(batch) < mapping.batch_size and size < RECORDS_LIMIT_BYTES and not self._stopping.is_set():
            if batch and not self._wait_for_message(mapping.queue_name, closes - time.monotonic()):
                break
            received = self._receive(min(RECEIVE_LIMIT, mapping.batch_size - len(batch)))
            batch += received
            size += sum(len(message["Body"].encode()) for message in received)
            if not batch or (len(received) < RECEIVE_LIMIT and time.monotonic() >= closes):
                break
        return batch

    def _receive(self, count: int) -> list[dict[str, Any]]:
        answer = self._sqs.receive_message(
            QueueUrl=self._mapping.queue_url,
            MaxNumberOfMessages=count,
            WaitTimeSeconds=0,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        found: list[dict[str, Any]] = answer.get("Messages", [])
        return found

    def _handle(self, batch: list[dict[str, Any]]) -> None:
        if not batch:
            return
        mapping = self._mapping
        event = {"Records": [record(message, mapping.queue_arn) for message in batch]}
        outcome = self._invoke(mapping.function, json.dumps(event).encode())
        keep = kept(outcome, {message["MessageId"] for message in batch}, partial=mapping.partial_failures)
        self._delete(message for message in batch if message["MessageId"] not in keep)

    def _delete(self, messages: Iterable[dict[str, Any]]) -> None:
        entries = [{"Id": str(index), "ReceiptHandle": m["ReceiptHandle"]} for index, m in enumerate(messages)]
        for start in range(0, len(entries), RECEIVE_LIMIT):
            self._sqs.delete_message_batch(
                QueueUrl=self._mapping.queue_url, Entries=entries[start : start + RECEIVE_LIMIT]
            )
