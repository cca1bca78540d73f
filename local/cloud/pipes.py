"""EventBridge Pipes from the stream of a table to a queue: which records pass, and what is sent of each.

A pump reads the stream through the service's own API, from where the stream ends when the pump is made, and goes on
only when the queue has taken what it read. Source of filters and templates: EventBridge user guide, "Event filtering in
EventBridge Pipes" and "EventBridge Pipes input transformation".
"""

import json
import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from local.cloud import moto_view

logger = logging.getLogger(__name__)

IDLE_SECONDS = 20.0
PAUSE_AFTER_ERROR_SECONDS = 0.5
PER_SEND = 10  # messages a call of SendMessageBatch
RECORDS_PER_READ = 1_000

_VARIABLE = re.compile(r"<([^<>]*)>")
_PATH = re.compile(r"\$(?:\.[A-Za-z0-9_-]+)+")
_RULES = ("prefix", "suffix")


@dataclass(frozen=True, slots=True)
class Pipe:
    """`table` is a name. A record passes when it fits one of the filters, or when there is none."""

    name: str
    table: str
    stream_arn: str
    queue_url: str
    filters: tuple[Mapping[str, Any], ...] = ()
    message: Mapping[str, str] | None = None
    """Values are texts with variables such as `<$.dynamodb.Keys.pk.S>`; None sends the record as it is."""

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
        raise ValueError(f"{pattern!r} is no pattern of a filter.")
    for wanted in pattern.values():
        if isinstance(wanted, list):
            for rule in wanted:
                if not isinstance(rule, str) and not (isinstance(rule, dict) and len(rule) == 1 and _known(rule)):
                    raise ValueError(f"the filter's rule {rule!r} is neither a text nor one of {', '.join(_RULES)}.")
        else:
            _check(wanted)


def _known(rule: Mapping[str, Any]) -> bool:
    return all(name in _RULES and isinstance(value, str) for name, value in rule.items())


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


class Pump:
    """One thread that reads, filters and sends. What cannot be sent is tried again, as long as it takes."""

    def __init__(
        self, pipe: Pipe, *, streams: Any, sqs: Any, wait_until: Callable[[Callable[[], bool], float], bool]
    ) -> None:
        """`wait_until(look, seconds)` waits until `look` is true after some write, and tells whether it is."""
        self._pipe, self._streams, self._sqs, self._wait_until = pipe, streams, sqs, wait_until
        self._next = moto_view.stream_end(pipe.table)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"pipe-{pipe.name}", daemon=True)

    @property
    def waiting(self) -> int:
        """Records of the stream that have not gone through."""
        return max(0, moto_view.stream_end(self._pipe.table) - self._next)

    @property
    def name(self) -> str:
        return self._pipe.name

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
                if self._wait_until(lambda: self.waiting > 0, IDLE_SECONDS):
                    records = self._read()
                    self._send([self._pipe.body(record) for record in records if self._pipe.passes(record)])
                    self._next += len(records)
            except (BotoCoreError, ClientError) as error:
                if not self._stopping.wait(PAUSE_AFTER_ERROR_SECONDS):
                    logger.warning("The pipe %s failed: %s", self._pipe.name, type(error).__name__)

    def _read(self) -> list[dict[str, Any]]:
        arn = self._pipe.stream_arn
        (shard,) = self._streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        iterator = self._streams.get_shard_iterator(
            StreamArn=arn,
            ShardId=shard["ShardId"],
            ShardIteratorType="AT_SEQUENCE_NUMBER",
            SequenceNumber=str(self._next),
        )["ShardIterator"]
        answer = self._streams.get_records(ShardIterator=iterator, Limit=RECORDS_PER_READ)
        found: list[dict[str, Any]] = answer["Records"]
        return found

    def _send(self, bodies: Sequence[str]) -> None:
        for start in range(0, len(bodies), PER_SEND):
            part = bodies[start : start + PER_SEND]
            entries = [{"Id": str(number), "MessageBody": body} for number, body in enumerate(part)]
            self._sqs.send_message_batch(QueueUrl=self._pipe.queue_url, Entries=entries)
