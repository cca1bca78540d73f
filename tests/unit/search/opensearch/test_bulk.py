"""What becomes of the items of bulk requests, which answer 200 whatever happens to them."""

from typing import Any

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import RetryBudget
from commonplace.search.model import RecordId
from commonplace.search.opensearch import bulk
from commonplace.search.opensearch.bulk import Vanished, Write
from tests.unit.search.opensearch.scripted import Answer, Asked, Scripted, scripted


def write(number: int, size: int = 10) -> Write:
    return Write(RecordId(f"note/{number}"), 4 * number + 1, b'{"x":"' + b"x" * size + b'"}')


def item(status: int, kind: str = "", reason: str = "") -> dict[str, Any]:
    error = {"error": {"type": kind, "reason": reason}} if kind else {}
    return {"index": {"status": status, **error}}


def answer(*items: dict[str, Any]) -> Answer:
    return 200, {"errors": True, "items": list(items)}


def all_stored(asked: Asked) -> Answer:
    return answer(*(item(201) for _ in asked.lines[::2]))


def test_each_write_carries_its_version_and_makes_no_index() -> None:
    script = Scripted(otherwise=all_stored)

    bulk.send(scripted(script), "docs-1", [write(7)], "false")

    action, source = script.asked[0].lines
    assert action == {
        "index": {
            "_index": "docs-1-writes",
            "_id": "note/7",
            "version": 29,
            "version_type": "external",
            "require_alias": True,
        }
    }
    assert source == {"x": "x" * 10}
    assert script.asked[0].params == {}


def test_a_write_that_is_older_than_what_is_there_is_done() -> None:
    script = Scripted([answer(item(201), item(409, "version_conflict_engine_exception"))])

    outcome = bulk.send(scripted(script), "docs-1", [write(1), write(2)], "true")

    assert (outcome.stored, outcome.stale) == (1, 1)
    assert script.asked[0].params == {"refresh": "true"}


@pytest.mark.parametrize("status", [429, 503])
def test_only_what_was_too_much_is_written_again(status: int) -> None:
    waits: list[float] = []
    script = Scripted([answer(item(201), item(status, "rejected"), item(201)), answer(item(201))])

    outcome = bulk.send(scripted(script, waits=waits), "docs-1", [write(n) for n in range(3)], "false")

    assert outcome.stored == 3
    assert [asked.lines[0]["index"]["_id"] for asked in script.asked[1:]] == ["note/1"]
    assert waits == [bulk.RETRY_DELAYS[0]]


def test_what_stays_too_much_is_given_back() -> None:
    script = Scripted(otherwise=lambda asked: answer(item(429, "rejected")))

    with pytest.raises(Unavailable, match="too busy for 1 writes"):
        bulk.send(scripted(script), "docs-1", [write(1)], "false")

    assert len(script.asked) == 1 + len(bulk.RETRY_DELAYS)


def test_retries_of_writes_come_out_of_the_budget() -> None:
    script = Scripted(otherwise=lambda asked: answer(item(429, "rejected")))

    with pytest.raises(Unavailable):
        bulk.send(scripted(script, budget=RetryBudget(ratio=0, burst=1)), "docs-1", [write(1)], "false")

    assert len(script.asked) == 2


def test_a_refused_record_keeps_no_other_one_out_and_is_told() -> None:
    big = bulk.REQUEST_BYTES - 1_000
    script = Scripted([answer(item(400, "mapper_parsing_exception", "bad field"))], otherwise=all_stored)

    with pytest.raises(Unavailable, match="did not take 1 of 2 records: 400 mapper_parsing_exception: bad field"):
        bulk.send(scripted(script), "docs-1", [write(1, big), write(2, big)], "false")

    assert [asked.lines[0]["index"]["_id"] for asked in script.asked] == ["note/1", "note/2"]


def test_an_index_that_is_gone_is_told_apart() -> None:
    script = Scripted([answer(item(201), item(404, "index_not_found_exception", "no such index"))])

    with pytest.raises(Vanished):
        bulk.send(scripted(script), "docs-1", [write(1), write(2)], "false")


def test_requests_stay_small() -> None:
    script = Scripted(otherwise=all_stored)
    third = bulk.REQUEST_BYTES // 3

    outcome = bulk.send(scripted(script), "docs-1", [write(n, third) for n in range(7)], "false")

    sizes = [len(asked.body or b"") for asked in script.asked]
    assert outcome.stored == 7
    assert len(sizes) == 4
    assert max(sizes) <= bulk.REQUEST_BYTES


def test_a_record_larger_than_a_request_goes_alone() -> None:
    script = Scripted(otherwise=all_stored)

    bulk.send(scripted(script), "docs-1", [write(1), write(2, bulk.REQUEST_BYTES), write(3)], "false")

    assert [len(asked.lines) // 2 for asked in script.asked] == [1, 1, 1]


def test_nothing_to_write_asks_nothing() -> None:
    script = Scripted()

    bulk.send(scripted(script), "docs-1", [], "false")

    assert script.asked == []
