"""What every list of gaps does: DynamoDB and the fake that stands for it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import EndpointConnectionError

from commonplace.kernel.errors import Unavailable
from commonplace.reference.model import GAP_SECONDS, Gap
from commonplace.reference.store import DynamoGaps
from tests.dynamodb_fixture import new_table
from tests.fakes.failing import Failing
from tests.fakes.gaps import MemoryGaps
from tests.fakes.identity_stores import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

START = 1_800_000_000
AT = "2027-01-15T08:00:00Z"
MOST = 5
Make = Callable[[Clock], DynamoGaps]


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture(params=["DynamoDB", "fake", pytest.param("DynamoDB Local", marks=pytest.mark.real)])
def store(request: pytest.FixtureRequest, clock: Clock) -> DynamoGaps:
    if request.param == "fake":
        return MemoryGaps(clock, MOST)
    name = "dynamodb" if request.param == "DynamoDB" else "dynamodb_local"
    client = request.getfixturevalue(name)
    return DynamoGaps(client, new_table(client, "records"), most=MOST, clock=clock, sleep=lambda _: None)


def queries(store: DynamoGaps, organisation: str = "acme", limit: int = 100) -> list[tuple[str, int]]:
    return [(gap.query, gap.count) for gap in store.gaps(organisation, limit)]


def test_a_gap_is_counted_with_its_first_and_last_time(store: DynamoGaps, clock: Clock) -> None:
    assert store.gaps("acme", 10) == []
    assert store.count("acme", "archive users", "command", "asked by support") == 1
    clock.forward(3_600)
    assert store.count("acme", "archive users", "command", None) == 2
    assert store.gaps("acme", 10) == [
        Gap("archive users", 2, AT, "2027-01-15T09:00:00Z", "command", "asked by support")
    ]


def test_the_last_note_stays(store: DynamoGaps) -> None:
    for note in ("first", None, "second"):
        store.count("acme", "archive users", None, note)
    assert [gap.note for gap in store.gaps("acme", 10)] == ["second"]


def test_case_and_spaces_make_no_other_gap_and_a_type_does(store: DynamoGaps) -> None:
    assert [store.count("acme", text, None, None) for text in ("Archive Users", "archive  users ")] == [1, 2]
    assert store.count("acme", "archive users", "api", None) == 1
    assert queries(store) == [("Archive Users", 2), ("archive users", 1)]


def test_the_most_reported_come_first_and_of_equals_the_latest(store: DynamoGaps, clock: Clock) -> None:
    for query in ("b", "a", "c", "a"):
        store.count("acme", query, None, None)
        clock.forward(1)
    assert queries(store) == [("a", 2), ("c", 1), ("b", 1)]
    assert queries(store, limit=1) == [("a", 2)]


def test_no_organisation_sees_anothers(store: DynamoGaps) -> None:
    store.count("acme", "archive users", None, None)
    assert store.gaps("globex", 10) == []
    assert store.count("globex", "archive users", None, None) == 1


def test_a_full_list_counts_what_it_has_and_keeps_nothing_new(store: DynamoGaps) -> None:
    for number in range(MOST):
        assert store.count("acme", f"gap {number}", None, None) == 1
    assert store.count("acme", "one more", None, None) is None
    assert store.count("acme", "gap 0", None, None) == 2
    assert store.count("globex", "one more", None, None) == 1
    assert len(store.gaps("acme", 100)) == MOST


def test_a_gap_ends_ninety_days_after_it_was_reported_last(store: DynamoGaps, clock: Clock) -> None:
    store.count("acme", "archive users", "command", "old")
    clock.forward(GAP_SECONDS - 1)
    assert store.count("acme", "archive users", "command", None) == 2
    clock.forward(GAP_SECONDS)
    assert store.gaps("acme", 10) == []
    assert store.count("acme", "Archive users", "command", None) == 1
    (gap,) = store.gaps("acme", 10)
    assert (gap.query, gap.note) == ("Archive users", None)


@pytest.mark.parametrize("odd", ["", "a#b", "\n", "x" * 2_000, "潮"])
def test_any_query_is_a_gap_of_its_own(store: DynamoGaps, odd: str) -> None:
    assert store.count("acme", odd, None, None) == 1
    assert queries(store) == [(odd, 1)]


def test_what_is_no_organisation_has_no_list(dynamodb: "DynamoDBClient") -> None:
    store = DynamoGaps(dynamodb, "records")
    with pytest.raises(ValueError, match="no organisation"):
        store.count("acme#memory", "x", None, None)


def test_a_store_that_is_away_is_said_to_be(dynamodb: "DynamoDBClient", clock: Clock) -> None:
    client: Any = Failing(dynamodb, EndpointConnectionError(endpoint_url="http://127.0.0.1:9"))
    store = DynamoGaps(client, "records", clock=clock, sleep=lambda _: None)
    with pytest.raises(Unavailable):
        store.count("acme", "x", None, None)
    with pytest.raises(Unavailable):
        store.gaps("acme", 10)
