import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from mypy_boto3_dynamodb import DynamoDBClient

from commonplace.adapters.dynamodb_cache import DynamoRerankCache, DynamoVectorMemory, MemoryBehind
from commonplace.search.model import RecordId, Reranked, Vector
from tests.unit.adapters.conftest import TABLE
from tests.unit.adapters.test_resilience import Clock, never

DAY = 24 * 3_600
ORDER = [Reranked(RecordId("note/a"), 0.875), Reranked(RecordId("note/b"), 1 / 3)]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(dynamodb: DynamoDBClient, clock: Clock) -> DynamoVectorMemory:
    return DynamoVectorMemory(dynamodb, TABLE, clock=clock, sleep=never)


@pytest.fixture
def cache(dynamodb: DynamoDBClient, clock: Clock) -> DynamoRerankCache:
    return DynamoRerankCache(dynamodb, TABLE, clock=clock)


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
        def fail(**arguments: Any) -> Any:
            raise self._error

        return fail


FAILURES = [
    ClientError({"Error": {"Code": "ProvisionedThroughputExceededException", "Message": "busy"}}, "BatchGetItem"),
    ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "BatchGetItem"),
    EndpointConnectionError(endpoint_url="https://dynamodb.example"),
]


def test_vectors_come_back_as_they_were_kept_and_unknown_keys_are_left_out(memory: DynamoVectorMemory) -> None:
    vectors = {"one": array("f", [0.6, -0.8]), "two": array("f", [1 / 3, math.pi])}
    memory.remember(vectors)
    assert memory.known(["two", "three", "one", "two"]) == vectors


def test_more_vectors_than_one_request_takes_are_kept_and_found(memory: DynamoVectorMemory) -> None:
    vectors = {f"{number:064x}": array("f", [number / 7] * 1024) for number in range(260)}
    memory.remember(vectors)
    assert memory.known(list(vectors)) == vectors
    assert memory.known([]) == {}


def test_what_the_table_leaves_undone_is_asked_for_again(dynamodb: DynamoDBClient, clock: Clock) -> None:
    unfinished, waits = Unfinished(dynamodb), list[float]()
    memory = DynamoVectorMemory(unfinished, TABLE, clock=clock, sleep=waits.append)  # type: ignore[arg-type]
    vectors = {name: array("f", [0.5]) for name in "abcd"}

    memory.remember(vectors)
    assert memory.known(list(vectors)) == vectors

    assert (unfinished.calls, waits) == (8, [0.05, 0.1, 0.2] * 2)


def test_a_table_that_is_never_done_is_left_with_what_it_did(dynamodb: DynamoDBClient, clock: Clock) -> None:
    memory = DynamoVectorMemory(Unfinished(dynamodb), TABLE, clock=clock, sleep=lambda _: None)  # type: ignore[arg-type]
    memory.remember({f"{number}": array("f", [0.5]) for number in range(20)})
    assert len(memory.known([f"{number}" for number in range(20)])) == 5


def test_a_vector_is_known_for_ninety_days(dynamodb: DynamoDBClient, memory: DynamoVectorMemory, clock: Clock) -> None:
    memory.remember({"one": array("f", [1.0])})
    clock.now += 90 * DAY - 1
    assert memory.known(["one"]).keys() == {"one"}
    clock.now += 1
    assert memory.known(["one"]) == {}

    (item,) = dynamodb.scan(TableName=TABLE)["Items"]
    assert item["expiresAt"] == {"N": str(100 + 90 * DAY)}
    assert (item["pk"], item["sk"]) == ({"S": "vector#one"}, {"S": "vector"})


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_a_memory_that_does_not_answer_knows_nothing_and_fails_nobody(error: Exception) -> None:
    memory = DynamoVectorMemory(Failing(error), TABLE)  # type: ignore[arg-type]
    memory.remember({"one": array("f", [1.0])})
    assert memory.known(["one"]) == {}


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


def test_an_order_is_kept_for_an_hour_and_not_for_as_long_as_the_table_has_it(
    dynamodb: DynamoDBClient, cache: DynamoRerankCache, clock: Clock
) -> None:
    assert cache.get("key") is None
    cache.put("key", ORDER)
    clock.now += 3_599
    assert cache.get("key") == ORDER
    clock.now += 1
    assert cache.get("key") is None

    (item,) = dynamodb.scan(TableName=TABLE)["Items"]
    assert (item["pk"], item["expiresAt"]) == ({"S": "rerank#key"}, {"N": "3700"})


def test_a_newer_order_takes_the_place_of_the_older(cache: DynamoRerankCache) -> None:
    cache.put("key", ORDER)
    cache.put("key", ORDER[:1])
    assert (cache.get("key"), cache.get("another key")) == (ORDER[:1], None)


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_a_cache_that_does_not_answer_is_an_empty_one(error: Exception) -> None:
    cache = DynamoRerankCache(Failing(error), TABLE)  # type: ignore[arg-type]
    cache.put("key", ORDER)
    assert cache.get("key") is None
