"""The caches of vectors: what the table's and the fake one's have in common, and what is the table's own."""

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from mypy_boto3_dynamodb import DynamoDBClient

from commonplace.kernel.errors import Unavailable
from commonplace.search.embeddings import vector_key
from commonplace.search.model import Vector
from commonplace.search.store import DynamoVectorCaches, DynamoVectorMemory, MemoryBehind
from tests.aws_fixture import TABLE
from tests.contracts.memory_costs import Metered
from tests.fakes.memory_vectors import FakeVectorCaches
from tests.unit.kernel.test_resilience import Clock, never

DAY = 24 * 3_600


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def table(dynamodb: DynamoDBClient, clock: Clock) -> DynamoVectorCaches:
    return DynamoVectorCaches(dynamodb, TABLE, clock=clock, sleep=never)


@pytest.fixture(params=["table", "fake"])
def caches(request: pytest.FixtureRequest) -> DynamoVectorCaches:
    found: DynamoVectorCaches = FakeVectorCaches() if request.param == "fake" else request.getfixturevalue("table")
    return found


@pytest.fixture
def memory(table: DynamoVectorCaches) -> DynamoVectorMemory:
    return table.of("acme")


def named(text: str) -> str:
    return vector_key("model@1/2", text)


class Unfinished:
    """Does of every batch only the first item, and leaves the rest to be asked for again."""

    def __init__(self, client: DynamoDBClient) -> None:
        self._client: Any = client
        self.calls = 0

    def batch_get_item(self, RequestItems: Any) -> Any:
        self.calls += 1
        first, *rest = RequestItems[TABLE]["Keys"]
        answer = self._client.batch_get_item(RequestItems={TABLE: {"Keys": [first]}})
        return answer | {"UnprocessedKeys": {TABLE: {"Keys": rest}} if rest else {}}

    def query(self, **request: Any) -> Any:
        return self._client.query(**request)

    def update_item(self, **request: Any) -> Any:
        return self._client.update_item(**request)

    def batch_write_item(self, RequestItems: Any) -> Any:
        self.calls += 1
        first, *rest = RequestItems[TABLE]
        answer = self._client.batch_write_item(RequestItems={TABLE: [first]})
        return answer | {"UnprocessedItems": {TABLE: rest} if rest else {}}


class Failing:
    """A client whose every operation fails with the error it was given."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, operation: str) -> Any:
        def fail(*_: Any, **__: Any) -> Any:
            raise self._error

        return fail


FAILURES = [
    ClientError({"Error": {"Code": "ProvisionedThroughputExceededException", "Message": "busy"}}, "BatchGetItem"),
    ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "BatchGetItem"),
    EndpointConnectionError(endpoint_url="https://dynamodb.example"),
]


def test_vectors_come_back_as_they_were_kept_and_unknown_keys_are_left_out(caches: DynamoVectorCaches) -> None:
    vectors = {named("one"): array("f", [0.6, -0.8]), named("two"): array("f", [1 / 3, math.pi])}
    caches.of("acme").remember(vectors)
    assert caches.of("acme").known([named("two"), named("three"), *vectors, named("two")]) == vectors
    assert caches.of("acme").known([]) == {}


def test_more_vectors_than_one_request_takes_are_kept_found_counted_and_cleared(caches: DynamoVectorCaches) -> None:
    vectors = {named(f"{number}"): array("f", [number / 7] * 1024) for number in range(260)}
    caches.of("acme").remember(vectors)
    assert caches.of("acme").known(list(vectors)) == vectors
    assert caches.size("acme") == 260
    assert caches.clear("acme") == 260
    assert (caches.size("acme"), caches.of("acme").known(list(vectors))) == (0, {})


def test_organisations_neither_find_nor_count_nor_clear_each_others_vectors(caches: DynamoVectorCaches) -> None:
    mine, theirs = {named("one"): array("f", [1.0])}, {named("one"): array("f", [2.0]), named("two"): array("f", [3.0])}
    caches.of("acme").remember(mine)
    caches.of("acme-east").remember(theirs)

    assert caches.of("acme").known([named("one"), named("two")]) == mine
    assert (caches.size("acme"), caches.size("acme-east"), caches.size("nobody")) == (1, 2, 0)
    assert caches.clear("acme") == 1
    assert (caches.of("acme").known([named("one")]), caches.of("acme-east").known(list(theirs))) == ({}, theirs)
    assert caches.clear("nobody") == 0


def test_a_vector_that_is_kept_again_is_one_vector(caches: DynamoVectorCaches) -> None:
    for _ in range(2):
        caches.of("acme").remember({named("one"): array("f", [1.0])})
    assert caches.size("acme") == 1


def test_vectors_of_many_days_are_counted_without_reading_one(
    dynamodb: DynamoDBClient, table: DynamoVectorCaches, clock: Clock
) -> None:
    for day in range(4):
        table.of("acme").remember({named(f"{day} {number}"): array("f", [1.0]) for number in range(day + 1)})
        clock.now += 31 * DAY
    read = Metered(dynamodb)
    found = DynamoVectorCaches(read, TABLE, clock=clock, sleep=never)  # type: ignore[arg-type]
    assert found.size("acme") == 3 + 4, "those of the first two days have expired"
    assert read.items == 4
    assert (table.clear("acme"), table.size("acme")) == (7, 0)


def test_keys_of_every_beginning_are_counted(caches: DynamoVectorCaches) -> None:
    keys = [digit * 64 for digit in "0123456789abcdef"]
    caches.of("acme").remember({key: array("f", [1.0]) for key in keys})
    assert (caches.size("acme"), caches.clear("acme"), caches.size("acme")) == (16, 16, 0)


def test_a_partition_of_many_pages_is_counted_and_cleared_whole(
    table: DynamoVectorCaches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.search.store.KEYS_PER_PAGE", 7)
    table.of("acme").remember({named(f"{number}"): array("f", [1.0]) for number in range(60)})
    assert (table.size("acme"), table.clear("acme"), table.size("acme")) == (60, 60, 0)


def test_what_the_table_leaves_undone_is_asked_for_again(dynamodb: DynamoDBClient, clock: Clock) -> None:
    unfinished, waits = Unfinished(dynamodb), list[float]()
    memory = DynamoVectorMemory(unfinished, TABLE, "acme", clock=clock, sleep=waits.append)  # type: ignore[arg-type]
    vectors = {name: array("f", [0.5]) for name in "abcd"}

    memory.remember(vectors)
    assert memory.known(list(vectors)) == vectors

    assert (unfinished.calls, waits) == (12, [0.05, 0.1, 0.2] * 3)


def test_a_table_that_is_never_done_is_left_with_what_it_did(dynamodb: DynamoDBClient, clock: Clock) -> None:
    lazy: Any = Unfinished(dynamodb)
    caches = DynamoVectorCaches(lazy, TABLE, clock=clock, sleep=lambda _: None)
    caches.of("acme").remember({f"{number:02x}" * 32: array("f", [0.5]) for number in range(20)})
    assert len(caches.of("acme").known([f"{number:02x}" * 32 for number in range(20)])) == 5
    assert caches.size("acme") == 5


def test_a_clearing_that_the_table_leaves_undone_says_so(table: DynamoVectorCaches, dynamodb: DynamoDBClient) -> None:
    table.of("acme").remember({f"a{number:063x}": array("f", [0.5]) for number in range(20)})
    lazy: Any = Unfinished(dynamodb)
    caches = DynamoVectorCaches(lazy, TABLE, clock=Clock(), sleep=lambda _: None)
    with pytest.raises(Unavailable, match="busy"):
        caches.clear("acme")
    assert 0 < table.size("acme") < 20


def test_a_vector_is_known_for_ninety_days(
    dynamodb: DynamoDBClient, table: DynamoVectorCaches, memory: DynamoVectorMemory, clock: Clock
) -> None:
    memory.remember({named("one"): array("f", [1.0])})
    clock.now += 90 * DAY - 1
    assert (len(memory.known([named("one")])), table.size("acme")) == (1, 1)
    clock.now += 1
    assert memory.known([named("one")]) == {}
    clock.now += DAY
    assert table.size("acme") == 0

    _, item = sorted(dynamodb.scan(TableName=TABLE)["Items"], key=lambda one: one["sk"]["S"])
    assert item["expiresAt"] == {"N": str(100 + 90 * DAY)}
    assert (item["pk"], item["sk"]) == ({"S": "acme#vectors"}, {"S": named("one")})


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_a_memory_that_does_not_answer_knows_nothing_and_fails_nobody(error: Exception) -> None:
    caches = DynamoVectorCaches(Failing(error), TABLE)  # type: ignore[arg-type]
    caches.of("acme").remember({named("one"): array("f", [1.0])})
    assert caches.of("acme").known([named("one")]) == {}


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_counting_and_clearing_a_cache_that_does_not_answer_fails(error: Exception) -> None:
    caches = DynamoVectorCaches(Failing(error), TABLE)  # type: ignore[arg-type]
    for asked in (caches.size, caches.clear):
        with pytest.raises(Unavailable, match=r"^The cache of embeddings does not answer now\.$"):
            asked("acme")


def test_the_fake_one_can_be_away_as_well() -> None:
    caches = FakeVectorCaches()
    caches.down = True
    caches.of("acme").remember({named("one"): array("f", [1.0])})
    assert caches.of("acme").known([named("one")]) == {}
    with pytest.raises(Unavailable):
        caches.size("acme")


class Kept:
    """A memory in a dictionary that says what it was asked for."""

    def __init__(self, **vectors: "array[float]") -> None:
        self.vectors = dict(vectors)
        self.asked: list[str] = []

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        self.asked += keys
        return {key: self.vectors[key] for key in keys if key in self.vectors}

    def remember(self, vectors: Mapping[str, Vector]) -> None:
        self.vectors |= {key: array("f", vector) for key, vector in vectors.items()}


def test_a_second_memory_is_asked_for_what_the_first_does_not_know() -> None:
    one, two, three = (array("f", [value]) for value in (1.0, 2.0, 3.0))
    first, second = Kept(one=one, two=two), Kept(two=three, three=three)
    both = MemoryBehind(first, second)

    assert both.known(["one", "two", "three", "four"]) == {"one": one, "two": two, "three": three}
    assert second.asked == ["three", "four"]
    assert (both.known(["one"]), second.asked) == ({"one": one}, ["three", "four"])

    both.remember({"five": one})
    assert (first.vectors["five"], second.vectors["five"]) == (one, one)
