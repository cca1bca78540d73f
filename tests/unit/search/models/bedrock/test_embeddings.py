import math
from typing import Any

import pytest

from commonplace.kernel import aws
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import Transient
from commonplace.search.models.bedrock import CohereEmbeddings, TitanEmbeddings, geography
from commonplace.search.models.guarded import GuardedEmbeddings
from tests.fakes.bedrock import FakeBedrock
from tests.fakes.model_server import Failure
from tests.unit.search.models.bedrock.conftest import IMPATIENT_SECONDS, Client

PASSING = [
    Failure(status=429, code="ThrottlingException"),
    Failure(status=429, code="ModelNotReadyException"),
    Failure(status=408, code="ModelTimeoutException"),
    Failure(status=424, code="ModelErrorException"),
    Failure(status=500, code="InternalServerException"),
    Failure(status=503, code="ServiceUnavailableException"),
    Failure(status=502, code="SomethingNew"),
    Failure("hang"),
    Failure("dropped"),
    Failure("malformed"),
    Failure("truncated"),
]
LASTING = [
    Failure(status=403, code="AccessDeniedException"),
    Failure(status=404, code="ResourceNotFoundException"),
    Failure(status=400, code="ValidationException"),
    Failure(status=400, code="ServiceQuotaExceededException"),
]


def patience(failure: Failure) -> float:
    return IMPATIENT_SECONDS if failure.kind == "hang" else 30


def by_name(failure: Failure) -> str:
    return failure.code if failure.kind == "error" else failure.kind


@pytest.fixture
def titan(client: Client) -> TitanEmbeddings:
    return TitanEmbeddings(client("bedrock-runtime"), 256)


@pytest.fixture
def cohere(client: Client) -> CohereEmbeddings:
    return CohereEmbeddings(client("bedrock-runtime"), 256)


def test_titan_is_asked_for_one_text_a_call_in_the_wanted_dimension(
    bedrock: FakeBedrock, titan: TitanEmbeddings
) -> None:
    titan.embed(["tide pools", "beach"], query=True)

    assert [request.model for request in bedrock.requests] == ["amazon.titan-embed-text-v2:0"] * 2
    assert [request.body for request in bedrock.requests] == [
        {"inputText": text, "dimensions": 256, "normalize": True} for text in ("tide pools", "beach")
    ]


@pytest.mark.parametrize("dimension", [256, 512, 1024])
def test_titan_answers_in_each_of_its_dimensions(client: Client, dimension: int) -> None:
    provider = TitanEmbeddings(client("bedrock-runtime"), dimension)
    assert [len(vector) for vector in provider.embed(["text"])] == [provider.dimension] == [dimension]


@pytest.mark.parametrize("dimension", [256, 512, 1024, 1536])
def test_cohere_answers_in_each_of_its_dimensions(client: Client, dimension: int) -> None:
    provider = CohereEmbeddings(client("bedrock-runtime"), dimension)
    assert [len(vector) for vector in provider.embed(["text"])] == [provider.dimension] == [dimension]


def test_cohere_is_told_what_is_a_query_and_what_a_document(bedrock: FakeBedrock, cohere: CohereEmbeddings) -> None:
    cohere.embed(["tide pools"], query=True)
    cohere.embed(["tide pools"])

    assert [request.body["input_type"] for request in bedrock.requests] == ["search_query", "search_document"]
    assert bedrock.requests[0].body == {
        "texts": ["tide pools"],
        "input_type": "search_query",
        "embedding_types": ["float"],
        "output_dimension": 256,
        "truncate": "RIGHT",
    }


def test_cohere_gets_ninety_six_texts_a_call(bedrock: FakeBedrock, cohere: CohereEmbeddings) -> None:
    vectors = cohere.embed([f"text {number}" for number in range(200)])

    assert len(vectors) == 200
    assert [len(request.body["texts"]) for request in bedrock.requests] == [96, 96, 8]


def test_long_texts_share_a_call_only_as_far_as_its_context_reaches(
    bedrock: FakeBedrock, cohere: CohereEmbeddings
) -> None:
    cohere.embed(["word " * 10_000] * 20)

    sizes = [sum(len(text.encode()) for text in request.body["texts"]) for request in bedrock.requests]
    assert len(sizes) > 1
    assert max(sizes) <= cohere.max_bytes_per_call


def test_cohere_is_asked_by_the_profile_of_its_geography(bedrock: FakeBedrock, client: Client) -> None:
    CohereEmbeddings(client("bedrock-runtime"), 256, geography=geography("eu-central-1")).embed(["text"])

    assert bedrock.requests[0].model == "eu.cohere.embed-v4:0"
    assert [geography(region) for region in ("us-east-1", "ap-northeast-1", "us-gov-west-1")] == ["us", None, None]


def test_the_geography_is_no_other_model(client: Client) -> None:
    near, far = CohereEmbeddings(client("bedrock-runtime"), 256, geography="eu"), CohereEmbeddings(None, 256)
    assert (near.name, near.revision) == (far.name, far.revision)


def test_a_long_text_is_cut_between_words(bedrock: FakeBedrock, titan: TitanEmbeddings) -> None:
    titan.embed(["abcd " * 20_000])

    first = bedrock.requests[0].body["inputText"]
    assert 49_900 < len(first) <= 50_000
    assert first.endswith(" abcd")


def test_a_text_of_too_many_tokens_is_cut_to_what_cannot_have_too_many(
    bedrock: FakeBedrock, titan: TitanEmbeddings
) -> None:
    (vector,) = titan.embed(["! " * 20_000])

    assert len(vector) == 256
    assert bedrock.complaints == ["400 Bad Request: Too many input tokens."]
    assert len(bedrock.requests[-1].body["inputText"].encode()) <= 8_192


@pytest.mark.parametrize("failure", PASSING, ids=by_name)
def test_what_may_pass_is_told_apart(bedrock: FakeBedrock, client: Client, failure: Failure) -> None:
    titan = TitanEmbeddings(client("bedrock-runtime", patience(failure)), 256)
    bedrock.fail(failure)
    with pytest.raises(Transient) as raised:
        titan.embed(["text"])
    assert "sentence of the service" not in raised.value.message


@pytest.mark.parametrize("failure", LASTING, ids=by_name)
def test_what_will_not_pass_is_told_apart(bedrock: FakeBedrock, cohere: CohereEmbeddings, failure: Failure) -> None:
    bedrock.fail(failure)
    with pytest.raises(Unavailable) as raised:
        cohere.embed(["text"])
    assert not isinstance(raised.value, Transient)
    assert "sentence of the service" not in raised.value.message


def test_a_refusal_for_want_of_permission_says_what_to_allow(bedrock: FakeBedrock, titan: TitanEmbeddings) -> None:
    bedrock.fail(Failure(status=403, code="AccessDeniedException"))
    with pytest.raises(Unavailable) as raised:
        titan.embed(["text"])
    assert "bedrock:InvokeModel" in str(raised.value.hint)


@pytest.mark.parametrize("failure", PASSING, ids=by_name)
def test_the_client_never_tries_by_itself_and_the_guard_does(
    bedrock: FakeBedrock, client: Client, failure: Failure
) -> None:
    titan = TitanEmbeddings(client("bedrock-runtime", patience(failure)), 256)
    waits: list[float] = []
    bedrock.fail(failure, failure)

    (vector,) = GuardedEmbeddings(titan, sleep=waits.append).embed(["text"])

    assert (len(vector), len(bedrock.requests), waits) == (256, 3, [1, 2])


def test_during_an_outage_the_service_sees_one_schedule(bedrock: FakeBedrock, titan: TitanEmbeddings) -> None:
    bedrock.always = Failure(status=503, code="ServiceUnavailableException")
    guarded = GuardedEmbeddings(titan, sleep=lambda _: None)

    for _ in range(20):
        with pytest.raises(Unavailable):
            guarded.embed(["text"], query=True)

    assert len(bedrock.requests) == 4


def test_no_service_at_all_is_no_answer(session: Any) -> None:
    client = session.client(
        "bedrock-runtime",
        region_name="us-west-2",
        endpoint_url="http://127.0.0.1:1",
        config=aws.config(read_timeout_seconds=30, attempts=1),
    )
    with pytest.raises(Transient, match="out of reach"):
        TitanEmbeddings(client).embed(["text"])


@pytest.mark.parametrize(
    "vector",
    [
        [0.0] * 256,
        [0.5] * 255,
        [0.5] * 255 + [math.nan],
        [0.5] * 255 + [math.inf],
        [0.5] * 255 + ["0.5"],
        "0.5",
        None,
        {"0": 0.5},
    ],
    ids=["zero", "short", "nan", "infinite", "text in it", "text", "nothing", "object"],
)
def test_an_answer_that_is_no_vector_is_refused(bedrock: FakeBedrock, titan: TitanEmbeddings, vector: Any) -> None:
    bedrock.answer = {"embedding": vector, "inputTextTokenCount": 1}
    with pytest.raises(Unavailable, match="The embedding model answered with"):
        titan.embed(["text"])


@pytest.mark.parametrize("vectors", [None, [], [[1.0] * 256] * 2, "x"])
def test_another_number_of_vectors_than_texts_is_refused(
    bedrock: FakeBedrock, cohere: CohereEmbeddings, vectors: Any
) -> None:
    bedrock.answer = {"response_type": "embeddings_by_type", "embeddings": {"float": vectors}}
    with pytest.raises(Unavailable, match="one vector per text"):
        cohere.embed(["text"])


def test_vectors_are_brought_to_length_one(bedrock: FakeBedrock, cohere: CohereEmbeddings) -> None:
    bedrock.answer = {"embeddings": [[3.0, 4.0] + [0.0] * 254]}
    (vector,) = cohere.embed(["text"])
    assert list(vector[:3]) == pytest.approx([0.6, 0.8, 0])
