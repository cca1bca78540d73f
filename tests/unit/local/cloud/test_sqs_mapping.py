"""Batches from a queue: which messages go, which stay, and how a batch is gathered."""

import json
from typing import Any

import pytest

from commonplace_local.cloud.event_sources import Poller, QueueMapping, kept, record
from commonplace_local.cloud.runtime import Outcome

ARN = "arn:aws:sqs:us-east-1:123456789012:queue"
SENT = {"a", "b"}


def answer(value: object) -> Outcome:
    return Outcome(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("outcome", "partial", "stay"),
    [
        (answer(None), True, set()),
        (answer({}), True, set()),
        (answer({"batchItemFailures": []}), True, set()),
        (answer({"batchItemFailures": None}), True, set()),
        (answer({"batchItemFailures": [{"itemIdentifier": "a"}]}), True, {"a"}),
        (answer({"batchItemFailures": [{"itemIdentifier": "a"}]}), False, set()),
        (answer({"batchItemFailures": [{"itemIdentifier": "unknown"}]}), True, SENT),
        (answer({"batchItemFailures": [{"itemIdentifier": ""}]}), True, SENT),
        (answer({"batchItemFailures": [{}]}), True, SENT),
        (answer({"batchItemFailures": "a"}), True, SENT),
        (answer("text"), True, SENT),
        (Outcome(b"not json"), True, SENT),
        (Outcome(b"{}", failed=True), True, SENT),
        (Outcome(b"{}", failed=True), False, SENT),
    ],
)
def test_messages_stay_when_the_answer_says_so_or_cannot_be_trusted(
    outcome: Outcome, partial: bool, stay: set[str]
) -> None:
    assert kept(outcome, SENT, partial=partial) == stay


class FakeQueue:
    """Hands out messages in order and remembers what was deleted."""

    def __init__(self, count: int) -> None:
        self.waiting = [
            {"MessageId": str(n), "ReceiptHandle": f"r{n}", "Body": "{}", "MD5OfBody": ""} for n in range(count)
        ]
        self.deleted: list[str] = []

    def receive_message(self, *, MaxNumberOfMessages: int, **_: Any) -> dict[str, Any]:
        given, self.waiting = self.waiting[:MaxNumberOfMessages], self.waiting[MaxNumberOfMessages:]
        return {"Messages": given} if given else {}

    def delete_message_batch(self, *, Entries: list[dict[str, str]], **_: Any) -> None:
        assert len(Entries) <= 10
        self.deleted += [entry["ReceiptHandle"] for entry in Entries]


def run(queue: FakeQueue, mapping: QueueMapping) -> list[int]:
    """Poll until the queue is empty; the size of each batch."""
    sizes: list[int] = []

    def invoke(name: str, payload: bytes) -> Outcome:
        sizes.append(len(json.loads(payload)["Records"]))
        return Outcome(b"null")

    def wait(name: str, seconds: float) -> bool:
        if not queue.waiting:
            poller.ask_to_stop()
        return bool(queue.waiting)

    poller = Poller(mapping, queue, wait_for_message=wait, invoke=invoke)
    poller.start()
    poller.join(30)
    return sizes


def test_a_batch_is_gathered_by_several_receives_and_deleted_in_tens() -> None:
    queue = FakeQueue(120)
    assert run(queue, QueueMapping("url", ARN, "f", batch_size=100, window_seconds=5)) == [100, 20]
    assert sorted(queue.deleted) == sorted(f"r{n}" for n in range(120))


def test_without_a_window_what_is_there_goes_at_once() -> None:
    assert run(FakeQueue(7), QueueMapping("url", ARN, "f", batch_size=5)) == [5, 2]


def test_a_record_has_the_shape_of_the_service() -> None:
    message = {
        "MessageId": "m", "ReceiptHandle": "r", "Body": "b", "MD5OfBody": "x", "Attributes": {"SentTimestamp": "1"},
        "MessageAttributes": {"colour": {"StringValue": "red", "DataType": "String"}},
    }  # fmt: skip
    made = record(message, ARN)
    assert (made["eventSource"], made["eventSourceARN"], made["awsRegion"]) == ("aws:sqs", ARN, "us-east-1")
    assert made["messageAttributes"]["colour"]["stringValue"] == "red"
