"""Streams of moto 5.2.5 that forget what was read.

moto keeps every change of a table for ever. A stream here has one reader, its pipe, which asks for where it wants to go
on: what lies before that has been read. AWS forgets after a day.
"""

from functools import cache
from typing import Any


@cache
def patch_streams() -> None:
    """Patch moto, once in this process."""
    from moto.dynamodbstreams.models import DynamoDBStreamsBackend

    plain = DynamoDBStreamsBackend.get_shard_iterator

    def get_shard_iterator(
        self: Any, arn: str, shard_id: str, shard_iterator_type: str, sequence_number: Any = None
    ) -> Any:
        shard = self._get_table_from_arn(arn).stream_shard
        if shard_iterator_type == "AT_SEQUENCE_NUMBER":
            read = int(sequence_number) - shard.starting_sequence_number
            # Raised first: whoever looks in between takes the stream for longer than it is, and looks again.
            shard.starting_sequence_number += read
            del shard.items[:read]
        self.shard_iterators.clear()  # those of former reads
        return plain(self, arn, shard_id, shard_iterator_type, sequence_number)

    DynamoDBStreamsBackend.get_shard_iterator = get_shard_iterator  # type: ignore[method-assign]
