"""What every change feed does, and what the one on DynamoDB does about clocks, numbers and failures."""

from typing import Any, Protocol

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from mypy_boto3_dynamodb import DynamoDBClient

from commonplace.kernel.errors import Unavailable
from commonplace.search import store
from commonplace.search.model import RecordId
from commonplace.search.source import CHANGES_PER_NOTE, Change, ChangeFeed, ChangeLog
from commonplace.search.store import DynamoChanges
from tests.aws_fixture import TABLE
from tests.fakes.changes import FakeChanges
from tests.unit.kernel.test_resilience import Clock


class Feed(ChangeLog, ChangeFeed, Protocol):
    """Both ends of a feed."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def dynamo(dynamodb: DynamoDBClient, clock: Clock) -> DynamoChanges:
    return DynamoChanges(dynamodb, TABLE, clock=clock)


@pytest.fixture(params=["DynamoDB", "fake"])
def feed(request: pytest.FixtureRequest, dynamo: DynamoChanges) -> Feed:
    return FakeChanges() if request.param == "fake" else dynamo


def written(name: str, version: int = 1, *, added: bool | None = False) -> Change:
    return Change(RecordId(f"note/{name}"), "written", version, added)


def test_a_new_feed_tells_nothing(feed: Feed) -> None:
    assert feed.since(feed.position())[0] == []


def test_a_change_is_heard_as_it_was_told(feed: Feed) -> None:
    told = [
        written("a", 7, added=True),
        written("b", 7, added=False),
        Change(RecordId("note/ü#1"), "removed", 2**40, None),
    ]
    position = feed.position()

    feed.append(told)

    assert feed.since(position)[0] == told


def test_what_was_told_before_the_position_is_not_heard(feed: Feed) -> None:
    feed.append([written("a")])
    position = feed.position()
    feed.append([written("b")])

    assert feed.since(position)[0] == [written("b")]


def test_each_change_is_heard_once(feed: Feed) -> None:
    position = feed.position()
    for number in range(3):
        feed.append([written("a", number)])
        heard, position = feed.since(position)
        assert heard == [written("a", number)]
    assert feed.since(position)[0] == []


def test_readers_do_not_take_changes_from_each_other(feed: Feed) -> None:
    first, second = feed.position(), feed.position()
    feed.append([written("a")])

    assert feed.since(first)[0] == feed.since(second)[0] == [written("a")]


def test_nothing_told_is_nothing_heard(feed: Feed) -> None:
    position = feed.position()
    feed.append([])

    assert feed.since(position)[0] == []


def test_a_writer_whose_clock_is_behind_is_heard(dynamo: DynamoChanges, dynamodb: DynamoDBClient, clock: Clock) -> None:
    late = DynamoChanges(dynamodb, TABLE, clock=lambda: clock.now - 1.5)
    position = dynamo.position()

    late.append([written("before-any")])
    heard, position = dynamo.since(position)
    dynamo.append([written("in-time")])
    more, position = dynamo.since(position)
    late.append([written("late")])
    last, position = dynamo.since(position)

    assert heard + more + last == [written("before-any"), written("in-time"), written("late")]
    assert dynamo.since(position)[0] == []


def test_a_position_does_not_grow_with_what_was_heard(dynamo: DynamoChanges, clock: Clock) -> None:
    position = dynamo.position()
    for _ in range(30):
        clock.now += 1
        dynamo.append([written("a")])
        _, position = dynamo.since(position)

    assert len(position) < 200


def test_changes_that_come_together_are_one_item(dynamo: DynamoChanges, dynamodb: DynamoDBClient) -> None:
    position = dynamo.position()
    told = [written(str(number)) for number in range(20_000)]

    dynamo.append(told)

    assert dynamodb.scan(TableName=TABLE, Select="COUNT")["Count"] == 20_000 / CHANGES_PER_NOTE
    heard, _ = dynamo.since(position)
    assert {change.record for change in heard} == {change.record for change in told}


def test_an_item_stays_within_what_a_table_takes_however_long_the_ids_are(
    dynamo: DynamoChanges, dynamodb: DynamoDBClient
) -> None:
    dynamo.append([written(f"{number:03d}" + "ü" * 98, 10**9) for number in range(CHANGES_PER_NOTE)])

    (item,) = dynamodb.scan(TableName=TABLE)["Items"]
    assert len(item["changes"]["S"].encode()) < 400 * 1_024


def test_very_many_items_are_heard_in_stretches_and_none_is_left_out(
    dynamo: DynamoChanges, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "NOTES_PER_ANSWER", 4)
    position = dynamo.position()
    for number in range(10):
        clock.now += 0.4
        dynamo.append([written(str(number))])

    stretches = []
    for _ in range(4):
        heard, position = dynamo.since(position)
        stretches.append(len(heard))

    assert stretches == [4, 4, 2, 0]


def test_pages_of_the_table_are_followed(dynamodb: DynamoDBClient, clock: Clock) -> None:
    changes = DynamoChanges(OnePerPage(dynamodb), TABLE, clock=clock)  # type: ignore[arg-type]
    position = changes.position()
    for number in range(5):
        changes.append([written(str(number))])

    assert len(changes.since(position)[0]) == 5


class OnePerPage:
    """A table whose answers hold one item each, as answers above a megabyte are cut."""

    def __init__(self, client: DynamoDBClient) -> None:
        self._client: Any = client

    def query(self, **asked: Any) -> Any:
        return self._client.query(**asked, Limit=1)

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._client, operation)


def test_the_table_forgets_a_change_after_a_day(dynamo: DynamoChanges, dynamodb: DynamoDBClient) -> None:
    dynamo.append([written("a")])

    (item,) = dynamodb.scan(TableName=TABLE)["Items"]
    assert (item["pk"], item["expiresAt"]) == ({"S": "change#documents"}, {"N": str(100 + 86_400)})


@pytest.mark.parametrize("text", ["", "now", "000000000100000#", "000000000100000,x", "1" * 16, "0" * 15 + ","])
def test_a_text_that_is_no_position_is_refused(dynamo: DynamoChanges, text: str) -> None:
    with pytest.raises(ValueError, match="position"):
        dynamo.since(text)


@pytest.mark.parametrize(
    "error",
    [
        EndpointConnectionError(endpoint_url="http://127.0.0.1:9"),
        ClientError({"Error": {"Code": "ProvisionedThroughputExceededException", "Message": ""}}, "Query"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_table_that_does_not_answer_is_unavailable_to_who_listens(error: Exception) -> None:
    class Down:
        def query(self, **_: Any) -> Any:
            raise error

    changes = DynamoChanges(Down(), TABLE)  # type: ignore[arg-type]
    with pytest.raises(Unavailable):
        changes.position()
    with pytest.raises(Unavailable):
        changes.since("0" * 15)


def test_a_fake_that_is_unreachable_says_so_at_both_ends() -> None:
    feed = FakeChanges()
    feed.unreachable = True
    for call in (feed.position, lambda: feed.since("0"), lambda: feed.append([])):
        with pytest.raises(Unavailable):
            call()
