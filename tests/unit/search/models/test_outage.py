"""A whole search while Bedrock is away, slow or refusing: it answers all the same, and Bedrock is left alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.kernel.retry import CircuitBreaker
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embed_records
from commonplace.search.model import SearchRequest
from commonplace.search.models.bedrock import COHERE, BedrockReranker, TitanEmbeddings
from commonplace.search.models.guarded import GuardedEmbeddings, GuardedReranker
from commonplace.search.service import SearchService
from tests.fakes.bedrock import REGION, FakeBedrock
from tests.fakes.model_server import Failure
from tests.unit.kernel.test_resilience import Clock
from tests.unit.search.models.bedrock.conftest import Client, bedrock, client
from tests.unit.search.records import record

__all__ = ["bedrock", "client"]

AWAY = Failure(status=503, code="ServiceUnavailableException")
RECORDS = [
    record("note/pools", "The sea leaves pools among the rocks."),
    record("note/council", "The council votes on the budget in spring."),
]


class Deployment:
    """Engine, models and service as they are wired, with a clock and waits of our own."""

    def __init__(self, folder: Path, client: Client) -> None:
        self.clock = Clock()
        self.waits: list[float] = []
        self.model = GuardedEmbeddings(
            TitanEmbeddings(client("bedrock-runtime"), 256),
            CircuitBreaker("titan", failures=1, clock=self.clock),
            sleep=self.waits.append,
        )
        judge = GuardedReranker(
            BedrockReranker(client("bedrock-agent-runtime"), COHERE, region=REGION),
            CircuitBreaker("judge", failures=1, clock=self.clock),
            sleep=self.waits.append,
        )
        self.engine = EmbeddedEngine(folder / "documents.sqlite", self.model)
        self.service = SearchService(self.engine, self.model, judge)

    def index(self) -> None:
        self.engine.write(embed_records(RECORDS, self.model, self.engine), ())


@pytest.fixture
def deployed(tmp_path: Path, client: Client) -> Iterator[Deployment]:
    made = Deployment(tmp_path, client)
    yield made
    made.engine.close()


def calls(bedrock: FakeBedrock, operation: str) -> int:
    return sum(request.operation == operation for request in bedrock.requests)


def test_with_bedrock_at_hand_a_search_is_hybrid_and_reranked(deployed: Deployment) -> None:
    deployed.index()
    found = deployed.service.search(SearchRequest("pools among the rocks"))
    assert (found.results[0].id, found.fallback, found.reranked) == ("pools", False, True)


def test_without_bedrock_every_search_answers_by_words_and_one_schedule_is_spent(
    deployed: Deployment, bedrock: FakeBedrock
) -> None:
    deployed.index()
    bedrock.requests.clear()
    bedrock.always = AWAY

    answers = [deployed.service.search(SearchRequest(f"pools rocks {number}")) for number in range(30)]

    assert {(answer.results[0].id, answer.fallback, answer.reranked) for answer in answers} == {("pools", True, False)}
    assert (calls(bedrock, "InvokeModel"), calls(bedrock, "Rerank")) == (4, 2)
    assert deployed.waits == [1, 2, 4, 0.5]


def test_when_bedrock_is_back_searches_are_whole_again(deployed: Deployment, bedrock: FakeBedrock) -> None:
    deployed.index()
    bedrock.always = AWAY
    deployed.service.search(SearchRequest("pools"))
    bedrock.always = None
    assert deployed.service.search(SearchRequest("pools")).fallback

    deployed.clock.now += 30

    found = deployed.service.search(SearchRequest("pools"))
    assert (found.fallback, found.reranked) == (False, True)


def test_what_is_indexed_during_an_outage_is_found_by_words_and_completed_later(
    deployed: Deployment, bedrock: FakeBedrock
) -> None:
    bedrock.always = AWAY
    deployed.index()
    assert sorted(deployed.engine.incomplete()) == ["note/council", "note/pools"]
    assert deployed.service.search(SearchRequest("council budget")).results[0].id == "council"

    bedrock.always = None
    deployed.clock.now += 30
    deployed.index()

    assert list(deployed.engine.incomplete()) == []
