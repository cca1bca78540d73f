import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from commonplace.search.model import RecordId, Reranked
from commonplace.search.store import DynamoRerankCache
from tests.aws_fixture import TABLE
from tests.unit.kernel.test_resilience import Clock
from tests.unit.search.test_dynamodb_vectors import FAILURES, Failing

ORDER = [Reranked(RecordId("note/a"), 0.875), Reranked(RecordId("note/b"), 1 / 3)]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(dynamodb: DynamoDBClient, clock: Clock) -> DynamoRerankCache:
    return DynamoRerankCache(dynamodb, TABLE, clock=clock)


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
