from typing import Any

import pytest
from botocore.validate import ParamValidator

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import Transient
from commonplace.search.model import RecordId, Reranked
from commonplace.search.models.bedrock import AMAZON, COHERE, PASSAGE_CHARACTERS, QUERY_CHARACTERS, BedrockReranker
from commonplace.search.models.guarded import GuardedReranker
from tests.fakes.bedrock import REGION, FakeBedrock, operation
from tests.fakes.model_server import Failure
from tests.unit.search.models.bedrock.conftest import Client
from tests.unit.search.models.bedrock.test_embeddings import LASTING, PASSING, by_name, patience

PASSAGES = [
    (RecordId("note/beach"), "a day at the beach"),
    (RecordId("note/pools"), "tide pools are left by the sea"),
    (RecordId("note/tide"), "the tide"),
]


@pytest.fixture
def reranker(client: Client) -> BedrockReranker:
    return BedrockReranker(client("bedrock-agent-runtime"), COHERE, region=REGION)


@pytest.mark.parametrize("model", [COHERE, AMAZON])
def test_passages_are_scored_in_one_call_and_come_back_by_id(bedrock: FakeBedrock, client: Client, model: str) -> None:
    reranker = BedrockReranker(client("bedrock-agent-runtime"), model, region=REGION)

    ranked = reranker.rerank("tide pools", PASSAGES)

    assert ranked == [
        Reranked(RecordId("note/pools"), 1.0),
        Reranked(RecordId("note/tide"), 0.5),
        Reranked(RecordId("note/beach"), 0.0),
    ]
    assert [request.model for request in bedrock.requests] == [f"arn:aws:bedrock:{REGION}::foundation-model/{model}"]
    assert reranker.name == model


def test_the_request_is_one_that_the_service_model_knows(reranker: BedrockReranker, bedrock: FakeBedrock) -> None:
    reranker.rerank("tide pools", PASSAGES)

    shape = operation("bedrock-agent-runtime", "Rerank").input_shape
    assert shape is not None
    report = ParamValidator().validate(bedrock.requests[0].body, shape)
    assert not report.has_errors(), report.generate_report()
    assert bedrock.requests[0].body["rerankingConfiguration"]["bedrockRerankingConfiguration"]["numberOfResults"] == 3


def test_long_queries_and_passages_are_cut_and_blank_ones_replaced(
    reranker: BedrockReranker, bedrock: FakeBedrock
) -> None:
    ranked = reranker.rerank("tide " * 10_000, [(RecordId("note/long"), "tide " * 20_000), (RecordId("note/no"), " ")])

    body = bedrock.requests[0].body
    texts = [source["inlineDocumentSource"]["textDocument"]["text"] for source in body["sources"]]
    assert len(body["queries"][0]["textQuery"]["text"]) <= QUERY_CHARACTERS
    assert len(texts[0]) <= PASSAGE_CHARACTERS
    assert [item.id for item in ranked] == ["note/long", "note/no"]


def test_more_passages_than_a_call_takes_are_scored_in_several(reranker: BedrockReranker, bedrock: FakeBedrock) -> None:
    passages = [(RecordId(f"note/{number}"), f"tide {number}") for number in range(1_200)]

    ranked = reranker.rerank("tide 1100", passages)

    assert [len(request.body["sources"]) for request in bedrock.requests] == [1_000, 200]
    assert (len(ranked), ranked[0].id) == (1_200, "note/1100")


def test_results_on_further_pages_are_asked_for(reranker: BedrockReranker, bedrock: FakeBedrock) -> None:
    bedrock.page_size = 2

    assert len(reranker.rerank("tide pools", PASSAGES)) == 3
    assert [request.body.get("nextToken") for request in bedrock.requests] == [None, "2"]


def test_a_service_that_never_stops_paging_is_left(reranker: BedrockReranker, bedrock: FakeBedrock) -> None:
    bedrock.answer = {"results": [{"index": 0, "relevanceScore": 0.5}], "nextToken": "1"}

    assert reranker.rerank("tide", PASSAGES) == [Reranked(RecordId("note/beach"), 0.5)]
    assert len(bedrock.requests) == 20


def test_no_passages_need_no_call(reranker: BedrockReranker, bedrock: FakeBedrock) -> None:
    assert (reranker.rerank("tide", []), bedrock.requests) == ([], [])


def test_what_the_model_leaves_out_or_makes_up_is_left_out(reranker: BedrockReranker, bedrock: FakeBedrock) -> None:
    bedrock.answer = {
        "results": [
            {"index": 1, "relevanceScore": 0.75},
            {"index": 1, "relevanceScore": 0.1},
            {"index": 7, "relevanceScore": 0.8},
        ]
    }
    assert reranker.rerank("tide", PASSAGES) == [Reranked(RecordId("note/pools"), 0.75)]


@pytest.mark.parametrize("answer", [{}, {"results": [{}]}, {"results": [{"index": 0}]}, {"results": 3}])
def test_an_answer_of_another_shape_is_no_order(reranker: BedrockReranker, bedrock: FakeBedrock, answer: Any) -> None:
    bedrock.answer = answer
    with pytest.raises(Transient, match="cannot be read"):
        reranker.rerank("tide", PASSAGES)


@pytest.mark.parametrize("failure", [*PASSING, Failure(status=502, code="BadGatewayException")], ids=by_name)
def test_what_may_pass_is_told_apart(bedrock: FakeBedrock, client: Client, failure: Failure) -> None:
    reranker = BedrockReranker(client("bedrock-agent-runtime", patience(failure)), COHERE, region=REGION)
    bedrock.fail(failure)
    with pytest.raises(Transient):
        reranker.rerank("tide", PASSAGES)
    assert len(bedrock.requests) == 1


@pytest.mark.parametrize("failure", LASTING, ids=by_name)
def test_what_will_not_pass_is_told_apart(bedrock: FakeBedrock, reranker: BedrockReranker, failure: Failure) -> None:
    bedrock.fail(failure)
    with pytest.raises(Unavailable) as raised:
        reranker.rerank("tide", PASSAGES)
    assert not isinstance(raised.value, Transient)


def test_during_an_outage_the_service_sees_two_calls(bedrock: FakeBedrock, reranker: BedrockReranker) -> None:
    bedrock.always = Failure(status=429, code="ThrottlingException")
    guarded = GuardedReranker(reranker, sleep=lambda _: None)

    for _ in range(20):
        with pytest.raises(Unavailable):
            guarded.rerank("tide", PASSAGES)

    assert len(bedrock.requests) == 2
