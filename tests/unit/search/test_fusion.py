"""Fusion is arithmetic: what holds for every pair of rankings."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.search.fusion import (
    FLOOR,
    LEAST_WIDTH,
    RELEVANCE_SHARE,
    Fusion,
    fuse,
    reciprocal_rank,
)
from commonplace.search.model import Candidates, LegHit, RecordId
from commonplace.search.names import GRADES as NAME_GRADES
from commonplace.search.names import SUBJECT_SHARE

SCORES = st.floats(-1e6, 1e6, allow_nan=False)
WHOLE = (*NAME_GRADES["t"], *NAME_GRADES["a"])
GRADES = st.sampled_from([share * grade for share in (1, SUBJECT_SHARE) for grade in WHOLE])
FUSIONS = st.builds(
    Fusion,
    method=st.sampled_from(["min-max", "rrf"]),
    lexical_weight=st.floats(0.01, 10),
    vector_weight=st.floats(0.01, 10),
    rank_constant=st.integers(1, 1_000),
)


def legs(scores: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[LegHit, ...]]:
    ranked = st.dictionaries(st.sampled_from([f"note/{letter}" for letter in "abcdefgh"]), scores)
    return ranked.map(
        lambda found: tuple(
            LegHit(RecordId(name), score) for name, score in sorted(found.items(), key=lambda hit: (-hit[1], hit[0]))
        )
    )


CANDIDATES = st.builds(Candidates, lexical=legs(SCORES), vector=legs(SCORES), total=st.just(8), named=legs(GRADES))


@given(CANDIDATES, FUSIONS)
def test_everything_found_is_ranked_once_and_scores_lie_between_0_and_1(found: Candidates, fusion: Fusion) -> None:
    ranking = fuse(found, fusion)

    assert {name for name, _ in ranking} == {
        hit.id for leg in (found.lexical, found.vector, found.named) for hit in leg
    }
    assert len(dict(ranking)) == len(ranking)
    assert all(0 < score <= 1 for _, score in ranking)
    assert ranking == sorted(ranking, key=lambda hit: (-hit[1], hit[0]))


@given(CANDIDATES, FUSIONS)
def test_what_the_query_names_stands_above_what_is_merely_relevant(found: Candidates, fusion: Fusion) -> None:
    grades = {hit.id: hit.score for hit in found.named}

    ranking = fuse(found, fusion)

    order = [grades.get(name, 0.0) for name, _ in ranking]
    assert order == sorted(order, reverse=True)
    assert all((score > RELEVANCE_SHARE) == (name in grades) for name, score in ranking)


@given(legs(SCORES), FUSIONS)
def test_one_leg_alone_keeps_its_order_where_scores_differ(leg: tuple[LegHit, ...], fusion: Fusion) -> None:
    ranking = dict(fuse(Candidates(lexical=leg, vector=(), total=0), fusion))

    for better, worse in pairwise(leg):
        assert ranking[better.id] >= ranking[worse.id]


@given(legs(st.integers(1, 1_000).map(float)), st.integers(1, 9))
def test_shares_of_words_do_not_depend_on_the_scale_of_an_engine(leg: tuple[LegHit, ...], factor: int) -> None:
    scaled = [LegHit(hit.id, hit.score * factor) for hit in leg]

    assert Fusion().lexical_shares(scaled) == pytest.approx(Fusion().lexical_shares(leg))


@given(legs(SCORES))
def test_shares_of_meaning_lie_between_the_worst_and_the_best_of_the_leg(leg: tuple[LegHit, ...]) -> None:
    shares = Fusion().vector_shares(leg)

    assert all(FLOOR <= share <= 1 for share in shares.values())
    assert all(shares[better.id] >= shares[worse.id] for better, worse in pairwise(leg))
    if leg and leg[0].score - leg[-1].score >= LEAST_WIDTH:
        assert (shares[leg[0].id], shares[leg[-1].id]) == (1, FLOOR)


def test_a_word_score_is_measured_from_zero() -> None:
    leg = [LegHit(RecordId("best"), 15.1), LegHit(RecordId("last"), 13.9)]

    assert Fusion().lexical_shares(leg) == pytest.approx({"best": 1.0, "last": 0.9205}, abs=1e-4)


def test_meaning_is_measured_from_the_worst_that_was_found() -> None:
    leg = [LegHit(RecordId(name), score) for name, score in (("near", 0.7), ("middle", 0.5), ("far", 0.3))]

    assert Fusion().vector_shares(leg) == pytest.approx({"near": 1.0, "middle": 0.5, "far": FLOOR})


def test_small_differences_are_not_stretched_to_large_ones() -> None:
    leg = [LegHit(RecordId("near"), 0.32), LegHit(RecordId("far"), 0.30)]

    assert Fusion().vector_shares(leg) == pytest.approx({"near": 0.02 / LEAST_WIDTH, "far": FLOOR})


def test_reciprocal_ranks_fall_by_rank_alone() -> None:
    leg = [LegHit(RecordId(name), score) for name, score in (("a", 9.0), ("b", 8.9), ("c", 0.1))]

    assert reciprocal_rank(leg, constant=1) == pytest.approx({"a": 1.0, "b": 2 / 3, "c": 0.5})


def test_weights_shift_the_balance_between_words_and_meaning() -> None:
    word, sense = LegHit(RecordId("word"), 2.0), LegHit(RecordId("sense"), 2.0)
    last = LegHit(RecordId("last"), 1.0)
    found = Candidates(lexical=(word, last), vector=(sense, last), total=3)

    by_words = fuse(found, Fusion(lexical_weight=0.7, vector_weight=0.3))
    by_meaning = fuse(found, Fusion(lexical_weight=0.3, vector_weight=0.7))

    assert (by_words[0][0], by_meaning[0][0]) == ("word", "sense")


def test_ties_are_broken_by_id() -> None:
    leg = tuple(LegHit(RecordId(name), 1.0) for name in ("c", "a", "b"))

    assert [name for name, _ in fuse(Candidates(lexical=leg, vector=(), total=3), Fusion())] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "weights", [{"lexical_weight": -1.0}, {"lexical_weight": 0.0, "vector_weight": 0.0}, {"rank_constant": 0}]
)
def test_weights_that_mean_nothing_are_refused_at_once(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"weights|constant"):
        Fusion(**weights)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "fusion"),
    [
        ("min-max", Fusion()),
        ("rrf", Fusion("rrf")),
        (" rrf:0.3,0.7 ", Fusion("rrf", 0.3, 0.7)),
        ("min-max:1,0", Fusion("min-max", 1.0, 0.0)),
        ("min-max: 2 , 3.5", Fusion("min-max", 2.0, 3.5)),
    ],
)
def test_a_fusion_is_read_from_its_name_and_weights(text: str, fusion: Fusion) -> None:
    assert Fusion.parse(text) == fusion


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "min-max and rrf"),
        ("max", "min-max and rrf"),
        ("RRF", "min-max and rrf"),
        ("rrf:", "two weights"),
        ("rrf:1", "two weights"),
        ("rrf:1,2,3", "two weights"),
        ("min-max:a,b", r"as in min-max:\d"),
        ("rrf:nan,1", "finite"),
        ("rrf:inf,1", "finite"),
        ("rrf:-1,2", "negative"),
        ("rrf:0,0", "above zero"),
    ],
)
def test_what_is_no_fusion_is_refused_with_the_form_that_is_expected(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Fusion.parse(text)


def test_a_fusion_says_in_words_what_it_does() -> None:
    assert str(Fusion.parse("min-max:0.5,1")) == "min-max; words 0.5, meaning 1"
    assert str(Fusion.parse("rrf:0.3,0.7")) == "reciprocal ranks, constant 60; words 0.3, meaning 0.7"


@pytest.mark.parametrize("method", ["min-max", "rrf"])
def test_a_leg_without_weight_counts_when_it_is_all_there_is(method: str) -> None:
    leg = (LegHit(RecordId("a"), 2.0), LegHit(RecordId("b"), 1.0))
    meaning_alone = Fusion.parse(f"{method}:0,1")

    assert [name for name, _ in fuse(Candidates(lexical=leg, vector=(), total=2), meaning_alone)] == ["a", "b"]
    both = Candidates(lexical=leg, vector=(LegHit(RecordId("c"), 1.0),), total=2)
    assert [name for name, _ in fuse(both, meaning_alone)] == ["c"]
