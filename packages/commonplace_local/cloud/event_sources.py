"""Event sources of functions: mappings from SQS, and EventBridge Pipes from table streams to queues.

The mapping from SQS to a function knows batches, a batching window and partial failures. Messages that are kept are
left alone: their visibility timeout ends, and the queue's redrive policy counts. A pipe takes what a table's stream
tells within the request that wrote it, so that both are kept or neither. Source of filters and templates: EventBridge
user guide, "Event filtering in EventBridge Pipes" and "EventBridge Pipes input transformation".
"""

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace_local.cloud import moto_patches
from commonplace_local.cloud.runtime import Outcome

logger = logging.getLogger(__name__)

RECEIVE_LIMIT = 10  # messages a call of ReceiveMessage or DeleteMessageBatch
RECORDS_LIMIT_BYTES = 6_000_000  # leaves room for the envelope below Lambda's limit of 6,291,456 bytes
IDLE_SECONDS = 20.0
PAUSE_AFTER_ERROR_SECONDS = 0.5

_VARIABLE = re.compile(r"<([^<>]*)>")
_PATH = re.compile(r"\$(?:\.[A-Za-z0-9_-]+)+")
_RULES = ("prefix", "suffix")


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
    """One thread that receives, invokes and deletes; what fails is tried again, as long as it takes."""

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
        if self._thread.is_alive():
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
            received = self._sqs.receive_message(
                QueueUrl=mapping.queue_url,
                MaxNumberOfMessages=min(RECEIVE_LIMIT, mapping.batch_size - len(batch)),
                WaitTimeSeconds=0,
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
            ).get("Messages", [])
            batch += received
            size += sum(len(message["Body"].encode()) for message in received)
            if not batch or (len(received) < RECEIVE_LIMIT and time.monotonic() >= closes):
                break
        return batch

    def _handle(self, batch: list[dict[str, Any]]) -> None:
        if not batch:
            return
        mapping = self._mapping
        event = {"Records": [record(message, mapping.queue_arn) for message in batch]}
        outcome = self._invoke(mapping.function, json.dumps(event).encode())
        keep = kept(outcome, {message["MessageId"] for message in batch}, partial=mapping.partial_failures)
        done = [message["ReceiptHandle"] for message in batch if message["MessageId"] not in keep]
        entries = [{"Id": str(index), "ReceiptHandle": handle} for index, handle in enumerate(done)]
        for start in range(0, len(entries), RECEIVE_LIMIT):
            self._sqs.delete_message_batch(QueueUrl=mapping.queue_url, Entries=entries[start : start + RECEIVE_LIMIT])


@dataclass(frozen=True, slots=True)
class Pipe:
    """From a table to a queue, by their names. A record passes when it fits one of the filters, or there is none."""

    table: str
    queue: str
    filters: tuple[Mapping[str, Any], ...] = ()
    message: Mapping[str, str] | None = None
    """Values are texts with variables such as `<$.dynamodb.Keys.pk.S>`; None sends the record as it is."""

    def send(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Send on those of a table's changes that pass."""
        for record in records:
            if self.passes(record):
                moto_patches.send_message(self.queue, self.body(record))

    def passes(self, record: Mapping[str, Any]) -> bool:
        return not self.filters or any(fits(pattern, record) for pattern in self.filters)

    def body(self, record: Mapping[str, Any]) -> str:
        if self.message is None:
            return json.dumps(record, default=str)
        return json.dumps({name: filled(text, record) for name, text in self.message.items()})


def parse_filter(text: str) -> Mapping[str, Any]:
    """Raises ValueError for what is no pattern, or asks for more than equal texts, beginnings and ends."""
    pattern = json.loads(text)
    _check(pattern)
    return dict(pattern)


def _check(pattern: Any) -> None:
    if not isinstance(pattern, dict):
        raise ValueError(f"{pattern!r} is not a pattern of a filter.")
    for wanted in pattern.values():
        if isinstance(wanted, list):
            for rule in wanted:
                known = isinstance(rule, dict) and [name for name in rule if name in _RULES] == list(rule)
                if not isinstance(rule, str) and not (known and [*map(type, rule.values())] == [str]):
                    raise ValueError(f"the filter's rule {rule!r} is neither a text nor one of {', '.join(_RULES)}.")
        else:
            _check(wanted)


def fits(pattern: Mapping[str, Any], found: Any) -> bool:
    """Whether what was found has every field of the pattern, each with one of the values that are listed for it."""
    if not isinstance(found, Mapping):
        return False
    return all(
        any(_matches(rule, found.get(name)) for rule in wanted)
        if isinstance(wanted, list)
        else fits(wanted, found.get(name))
        for name, wanted in pattern.items()
    )


def _matches(rule: Any, value: Any) -> bool:
    if isinstance(rule, str) or not isinstance(value, str):
        return bool(rule == value)
    return value.startswith(rule["prefix"]) if "prefix" in rule else value.endswith(rule["suffix"])


def parse_template(text: str) -> Mapping[str, str]:
    """Raises ValueError for anything but an object of texts, whose variables are plain paths into the record."""
    template = json.loads(text)
    if not isinstance(template, dict) or not all(isinstance(value, str) for value in template.values()):
        raise ValueError("the input template is not a JSON object of texts.")
    for value in template.values():
        for variable in _VARIABLE.findall(value):
            if not _PATH.fullmatch(variable):
                raise ValueError(f"the input template has the variable <{variable}>, which is no plain path.")
    return dict(template)


def filled(text: str, record: Mapping[str, Any]) -> str:
    """The text with each variable replaced; what the record does not have is an empty text."""

    def value(match: re.Match[str]) -> str:
        found: Any = record
        for name in match[1].split(".")[1:]:
            found = found.get(name) if isinstance(found, Mapping) else None
        return "" if found is None else str(found)

    return _VARIABLE.sub(value, text)
