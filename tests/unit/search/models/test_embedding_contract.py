"""What every embedding provider and every reranker does, whatever computes its numbers."""

import math
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from commonplace.kernel import aws
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.model import EmbeddingProvider, RecordId, Reranker, Vector
from commonplace.search.models.bedrock import AMAZON, COHERE, BedrockReranker, CohereEmbeddings, TitanEmbeddings
from commonplace.search.models.guarded import GuardedEmbeddings, GuardedReranker
from commonplace.search.models.local import LocalEmbeddings
from commonplace.search.models.onnx import OnnxEmbeddings, OnnxReranker
from commonplace.search.models.openai import OpenAiEmbeddings
from tests.fakes import openai_server
from tests.fakes.bedrock import REGION, FakeBedrock, running
from tests.fakes.onnx_models import cross_encoder, encoder
from tests.fakes.openai_server import KEY, Standin

ODD = [
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 🦑🌊 and words",
    "lone \ud800 surrogate",
    "zero\0byte",
    "\u202eright to left\u202c عربى",
    "e\u0301\u0301\u0301 tide",
    "潮だまり tide",
    "tide\u200b\u200dpool",
    "\ufeffmark tide",
]


@pytest.fixture(scope="module")
def bedrock() -> Iterator[FakeBedrock]:
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def openai() -> Iterator[Standin]:
    with openai_server.running() as server:
        yield server


PROVIDERS = ["local", "onnx", "titan", "cohere", "openai", "cohere, guarded"]


@pytest.fixture(params=PROVIDERS)
def provider(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    session: boto3.session.Session,
    bedrock: FakeBedrock,
    openai: Standin,
) -> EmbeddingProvider:
    bedrock.complaints.clear()
    openai.complaints.clear()
    match request.param:
        case "local":
            return LocalEmbeddings()
        case "onnx":
            return OnnxEmbeddings(encoder(tmp_path))
        case "openai":
            return OpenAiEmbeddings(lambda: KEY, model="text-embedding-3-small", dimension=256, base_url=openai.url)
    client = session.client(
        "bedrock-runtime",
        region_name=REGION,
        endpoint_url=bedrock.url,
        config=aws.config(read_timeout_seconds=30, attempts=1),
    )
    titan = request.param == "titan"
    made: EmbeddingProvider = TitanEmbeddings(client, 256) if titan else CohereEmbeddings(client, 256)
    return GuardedEmbeddings(made) if request.param.endswith("guarded") else made


@pytest.fixture(params=["onnx", "cohere", "amazon", "cohere, guarded"])
def reranker(
    request: pytest.FixtureRequest, tmp_path: Path, session: boto3.session.Session, bedrock: FakeBedrock
) -> Reranker:
    bedrock.complaints.clear()
    if request.param == "onnx":
        return OnnxReranker(cross_encoder(tmp_path))
    client = session.client(
        "bedrock-agent-runtime",
        region_name=REGION,
        endpoint_url=bedrock.url,
        config=aws.config(read_timeout_seconds=30, attempts=1),
    )
    made = BedrockReranker(client, AMAZON if request.param == "amazon" else COHERE, region=REGION)
    return GuardedReranker(made) if request.param.endswith("guarded") else made


def length(vector: Vector) -> float:
    return math.hypot(*vector)


def similarity(one: Vector, other: Vector) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def test_a_model_says_what_it_is(provider: EmbeddingProvider) -> None:
    assert provider.name
    assert provider.revision
    assert provider.dimension > 0
    assert "\n" not in model_fingerprint(provider)


@pytest.mark.parametrize("count", [0, 1, 2, 97, 200])
def test_there_is_one_vector_for_each_text_in_order(provider: EmbeddingProvider, count: int) -> None:
    texts = [f"tide pool {number} of the council" for number in range(count)]

    vectors = provider.embed(texts)

    assert len(vectors) == count
    assert all(len(vector) == provider.dimension for vector in vectors)
    for number in range(0, count, 61):
        (alone,) = provider.embed([texts[number]])
        assert similarity(vectors[number], alone) == pytest.approx(1, abs=1e-5)


def test_vectors_have_length_one(provider: EmbeddingProvider) -> None:
    for vector in [*provider.embed(["tide", "a day at the beach " * 50]), *provider.embed(["what?"], query=True)]:
        assert length(vector) == pytest.approx(1, abs=1e-5)
        assert all(math.isfinite(value) for value in vector)


def test_equal_texts_have_equal_vectors(provider: EmbeddingProvider) -> None:
    one, other, again = provider.embed(["tide pools", "council", "tide pools"])
    assert list(one) == pytest.approx(list(again), abs=1e-6)
    assert similarity(one, other) < 0.9


def test_texts_that_share_words_are_nearer_than_texts_that_share_none(provider: EmbeddingProvider) -> None:
    (query,) = provider.embed(["pools left by the tide"], query=True)
    near, far = provider.embed(["the tide left pools", "council vote, treasury budget"])
    assert similarity(query, near) > similarity(query, far)


def test_a_text_over_the_limit_is_cut_and_not_refused(provider: EmbeddingProvider, bedrock: FakeBedrock) -> None:
    long, spaceless = provider.embed(["tide pools of the sea " * 5_000, "tidepool" * 10_000])
    assert length(long) == pytest.approx(1, abs=1e-5)
    assert length(spaceless) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ODD)
def test_odd_characters_are_embedded_like_any_others(
    provider: EmbeddingProvider, bedrock: FakeBedrock, openai: Standin, text: str
) -> None:
    (vector,) = provider.embed([text])
    assert length(vector) == pytest.approx(1, abs=1e-5)
    assert bedrock.complaints == openai.complaints == []


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b", "\ud800"])
def test_text_with_nothing_to_see_has_a_vector_of_length_one_or_none_at_all(
    provider: EmbeddingProvider, bedrock: FakeBedrock, openai: Standin, text: str
) -> None:
    nothing, something = provider.embed([text, "tide"])
    assert round(length(nothing), 5) in (0, 1)
    assert length(something) == pytest.approx(1, abs=1e-5)
    assert bedrock.complaints == openai.complaints == []


PASSAGES = [
    (RecordId("note/beach"), "a day at the beach"),
    (RecordId("note/pools"), "the pools that the tide left"),
    (RecordId("note/blank"), ""),
    (RecordId("note/tide"), "the tide"),
]


def test_a_reranker_has_a_name(reranker: Reranker) -> None:
    assert reranker.name


def test_what_answers_the_query_best_has_the_best_score(reranker: Reranker) -> None:
    scores = {item.id: item.score for item in reranker.rerank("tide pools", PASSAGES)}

    assert scores.keys() == {record for record, _ in PASSAGES}
    assert scores[RecordId("note/pools")] > scores[RecordId("note/tide")] > scores[RecordId("note/beach")]
    assert all(0 <= score <= 1 for score in scores.values())


@pytest.mark.parametrize("count", [0, 1, 200])
def test_any_number_of_passages_is_scored(reranker: Reranker, count: int) -> None:
    passages = [(RecordId(f"note/{number}"), f"tide {number} " * (1 + number % 9)) for number in range(count)]
    ranked = reranker.rerank("tide", passages)
    assert sorted(item.id for item in ranked) == sorted(record for record, _ in passages)


def test_long_and_odd_queries_and_passages_are_scored(reranker: Reranker, bedrock: FakeBedrock) -> None:
    passages = [(RecordId(f"note/{number}"), text) for number, text in enumerate([*ODD, "tide " * 20_000])]
    for query in ("tide " * 20_000, *ODD):
        assert len(reranker.rerank(query, passages)) == len(passages)
    assert bedrock.complaints == []


def test_the_same_question_gets_the_same_scores(reranker: Reranker) -> None:
    first = {item.id: item.score for item in reranker.rerank("tide pools", PASSAGES)}
    second = {item.id: item.score for item in reranker.rerank("tide pools", PASSAGES)}
    assert first == pytest.approx(second)
