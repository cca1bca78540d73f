"""What the queue of the memory brings."""

import json

import pytest

from commonplace.memory.index_source import EntryEvent, JobEvent, event_of, is_of_memory
from commonplace.memory.model import EntryId
from tests.unit.search.records import TEST_EVENT, body_of, notification


def body(pk: str, sk: str = "1", table: str = "records") -> str:
    return json.dumps({"table": table, "pk": pk, "sk": sk})


def test_an_entry_and_a_job_are_told_apart_by_their_partition() -> None:
    assert event_of(body("acme#memory#entries", "e1")) == EntryEvent("acme", EntryId("e1"))
    assert event_of(body("acme#memory#jobs", "j1")) == JobEvent("acme", "j1")


@pytest.mark.parametrize(
    "told",
    [
        body("acme#memory#cards"),
        body("#memory#entries"),
        body("a#b#memory#entries"),
        body("acme#memory#entries#memory#entries"),
        body("acme#memory#entries", ""),
        body("acme#memory#entries", table="identity"),
        body("memory#entries"),
        "{}",
        "[]",
        "not JSON",
        TEST_EVENT,
    ],
)
def test_what_names_no_entry_and_no_job_is_refused(told: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        event_of(told)


def test_a_message_of_the_bucket_or_of_another_room_is_not_of_the_memory() -> None:
    assert is_of_memory(body("acme#memory#entries"))
    assert not is_of_memory(body("acme#hive#items"))
    assert not is_of_memory(body_of(notification("content/note/a.json")))
    assert not is_of_memory(TEST_EVENT)
