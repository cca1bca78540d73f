"""Queues of moto 5.2.5 that may hold some thousand messages.

moto asks for the time anew for each message that it looks at, and looks at all of them, several times over, for each
one that is sent or received: with a thousand messages waiting, everything else waits for it, too. Here the time is
asked for once, and the attributes of a queue are read once for an answer.
"""

from functools import cache
from typing import Any


@cache
def patch_queues() -> None:
    """Patch moto, once in this process."""
    from moto.core.utils import unix_time, unix_time_millis
    from moto.sqs.models import Queue, SQSBackend

    plain_attributes = SQSBackend.get_queue_attributes

    def messages(self: Queue) -> list[Any]:
        now = unix_time_millis()
        return [one for one in self._messages if now > one.visible_at and now >= one.delayed_until]

    def delayed(self: Queue) -> int:
        now = unix_time_millis()
        return sum(now < one.delayed_until for one in self._messages)

    def not_visible(self: Queue) -> int:
        now = unix_time_millis()
        return sum(now <= one.visible_at for one in self._messages)

    def get_queue_attributes(self: SQSBackend, queue_name: str, attribute_names: list[str]) -> dict[str, Any]:
        if not attribute_names or "All" in attribute_names:
            return plain_attributes(self, queue_name, attribute_names)
        plain_attributes(self, queue_name, [])  # raises where there is no such queue
        attributes = self.get_queue(queue_name).attributes
        known = {name: attributes[name] for name in attribute_names if attributes.get(name) is not None}
        missing = [name for name in attribute_names if name not in known]
        return known | (plain_attributes(self, queue_name, missing) if missing else {})

    def is_kept(self: SQSBackend, queue_name: str, message: Any) -> bool:
        kept: Any = self.get_queue(queue_name).message_retention_period  # type: ignore[attr-defined]
        return bool(kept + message.sent_timestamp / 1000 > unix_time())

    patched: Any = Queue
    patched.messages = property(messages)
    patched.approximate_number_of_messages_delayed = property(delayed)
    patched.approximate_number_of_messages_not_visible = property(not_visible)
    backend: Any = SQSBackend
    backend.get_queue_attributes = get_queue_attributes
    backend.is_message_valid_based_on_retention_period = is_kept
