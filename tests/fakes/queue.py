"""A queue of SQS on a clock that tests set: messages are hidden until they are due, and stay until they are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any


@dataclass
class Message:
    id: str
    body: str
    sent_at: float
    due_at: float
    receives: int = 0
    first_at: float = 0


@dataclass
class Queue:
    """`SQSClient`, as far as a function uses it for its own queue."""

    clock: Callable[[], float]
    hidden_seconds: float = 180
    messages: dict[str, Message] = field(default_factory=dict)
    numbers: Any = field(default_factory=lambda: count(1))

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> None:
        id, now = f"message-{next(self.numbers)}", self.clock()
        self.messages[id] = Message(id, MessageBody, now, now)

    def change_message_visibility(self, *, QueueUrl: str, ReceiptHandle: str, VisibilityTimeout: int) -> None:
        assert 0 <= VisibilityTimeout <= 43_200
        self.messages[ReceiptHandle].due_at = self.clock() + VisibilityTimeout

    def deliver(self, function: Callable[[Mapping[str, Any], Any], Mapping[str, Any]]) -> int:
        """Call a function with each message that is due, one at a time; return how many were."""
        due = [one for one in self.messages.values() if one.due_at <= self.clock()]
        for one in due:
            one.receives += 1
            one.first_at = one.first_at or self.clock()
            one.due_at = self.clock() + self.hidden_seconds
            attributes = {"SentTimestamp": str(int(one.sent_at * 1_000)), "ApproximateReceiveCount": str(one.receives)}
            attributes["ApproximateFirstReceiveTimestamp"] = str(int(one.first_at * 1_000))
            record = {"messageId": one.id, "receiptHandle": one.id, "body": one.body, "attributes": attributes}
            if not function({"Records": [record]}, None)["batchItemFailures"]:
                del self.messages[one.id]
        return len(due)

    @property
    def next_due(self) -> float | None:
        return min((one.due_at for one in self.messages.values()), default=None)
