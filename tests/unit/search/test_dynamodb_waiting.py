"""The note that records wait for vectors."""

from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import ClientError

from commonplace.kernel.errors import Unavailable
from commonplace.search.store import DynamoNote

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def test_a_note_is_there_from_when_it_is_put_until_it_is_cleared(dynamodb: "DynamoDBClient") -> None:
    note = DynamoNote(dynamodb, "activity", "memory", clock=lambda: 1_000.0625)
    assert note.read() is None

    note.put()
    noted = note.read()

    assert noted == pytest.approx(1_000.0625, abs=1e-3)
    note.clear(noted or 0.0)
    assert note.read() is None


def test_a_later_note_outlives_the_clearing_of_an_earlier_one(dynamodb: "DynamoDBClient") -> None:
    moments = iter([1_000.0, 1_001.5])
    note = DynamoNote(dynamodb, "activity", "memory", clock=lambda: next(moments))
    note.put()
    first = note.read()
    note.put()

    assert first is not None
    note.clear(first)

    assert note.read() == 1_001.5


def test_collections_have_notes_of_their_own(dynamodb: "DynamoDBClient") -> None:
    DynamoNote(dynamodb, "activity", "documents").put()

    assert DynamoNote(dynamodb, "activity", "memory").read() is None


def test_a_table_that_fails_costs_no_write_of_the_index_and_is_said_to_whoever_reads(
    dynamodb: "DynamoDBClient",
) -> None:
    note = DynamoNote(dynamodb, "nowhere", "memory")

    note.put()

    with pytest.raises(Unavailable):
        note.read()
    with pytest.raises(Unavailable) as raised:
        note.clear(1.0)
    assert isinstance(raised.value.__cause__, ClientError)
