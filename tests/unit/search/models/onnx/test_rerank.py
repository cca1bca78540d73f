import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from commonplace.search.model import RecordId, Reranked
from commonplace.search.models.onnx import OnnxReranker
from tests.fakes.onnx_models import cross_encoder, options

PASSAGES = [
    (RecordId("note/beach"), "a day at the beach"),
    (RecordId("note/pools"), "the pools that the tide left"),
    (RecordId("note/tide"), "the tide"),
]


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def test_scores_are_the_sigmoid_of_what_the_graph_says(tmp_path: Path) -> None:
    ranked = OnnxReranker(cross_encoder(tmp_path)).rerank("tide pools", PASSAGES)

    assert [item.id for item in ranked] == [record for record, _ in PASSAGES]
    assert [item.score for item in ranked] == pytest.approx([sigmoid(-4), sigmoid(4), sigmoid(0)], abs=1e-6)


def test_of_two_labels_the_second_is_the_score(tmp_path: Path) -> None:
    ranked = OnnxReranker(cross_encoder(tmp_path, labels=2)).rerank("tide pools", PASSAGES)
    assert [item.score for item in ranked] == pytest.approx([sigmoid(-4), sigmoid(4), sigmoid(0)], abs=1e-6)


def test_only_the_passage_is_cut(tmp_path: Path) -> None:
    model = OnnxReranker(options(cross_encoder(tmp_path), maxTokens=24))
    filler = "council " * 100
    passages = [(RecordId("note/early"), "tide pools " + filler), (RecordId("note/late"), filler + "tide pools")]

    early, late = model.rerank("tide pools", passages)

    assert (early.score, late.score) == pytest.approx((sigmoid(4), sigmoid(-4)), abs=1e-6)


def test_a_query_of_half_the_tokens_is_left_whole(tmp_path: Path) -> None:
    model = OnnxReranker(options(cross_encoder(tmp_path), maxTokens=24))
    query = "the of tide pool pools sea beach day otter kelp council vote"
    (ranked,) = model.rerank(query, [(RecordId("note/vote"), "vote council " + "harbour " * 100)])
    assert ranked.score == pytest.approx(sigmoid(8 * 2 / 12 - 4), abs=1e-6)


def test_a_query_longer_than_the_model_leaves_half_of_it_to_the_passage(tmp_path: Path) -> None:
    model = OnnxReranker(options(cross_encoder(tmp_path), maxTokens=16))
    (ranked,) = model.rerank("tide " * 200, [(RecordId("note/tide"), "the tide")])
    assert ranked.score == pytest.approx(sigmoid(4), abs=1e-6)


def test_many_passages_of_all_lengths_keep_their_scores(tmp_path: Path) -> None:
    passages = [(RecordId(f"note/{n}"), "council " * (n % 37) + ("tide" if n % 2 else "")) for n in range(100)]

    ranked = OnnxReranker(cross_encoder(tmp_path)).rerank("tide", passages)

    assert [item.id for item in ranked] == [record for record, _ in passages]
    assert [item.score > 0.5 for item in ranked] == [bool(n % 2) for n in range(100)]


def test_nothing_to_order_is_in_order(tmp_path: Path) -> None:
    assert OnnxReranker(cross_encoder(tmp_path)).rerank("tide", []) == list[Reranked]()


def test_the_name_tells_one_state_of_the_folder_from_another(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path / "judge")
    before = OnnxReranker(folder).name
    assert before.startswith("judge@")
    assert OnnxReranker(options(folder, maxTokens=64)).name != before


def test_threads_do_not_get_into_each_others_way(tmp_path: Path) -> None:
    model = OnnxReranker(options(cross_encoder(tmp_path), maxTokens=32))
    queries = ["tide pools", "tide " * 300, "council vote", "beach day"] * 10

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda query: model.rerank(query, PASSAGES), queries))

    assert together == [model.rerank(query, PASSAGES) for query in queries]
