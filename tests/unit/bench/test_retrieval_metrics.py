"""The measures of a ranking, against values worked out by hand and against published examples."""

from math import log2

import pytest

from bench.table import best_first, ndcg, recall, reciprocal_rank

GRADES = {"a": 3, "b": 2, "c": 1, "d": 0}


def test_the_best_order_has_an_ndcg_of_one() -> None:
    assert ndcg(["a", "b", "c", "x", "d"], GRADES) == pytest.approx(1.0)


def test_ndcg_discounts_each_grade_by_the_logarithm_of_its_rank() -> None:
    ideal = 3 + 2 / log2(3) + 1 / 2
    assert ndcg(["c", "x", "a"], GRADES) == pytest.approx((1 + 3 / 2) / ideal)


def test_ndcg_agrees_with_the_example_of_its_textbook() -> None:
    # Grades 3 2 3 0 1 2 in this order: DCG 6.861 of at most 7.141 (Wikipedia, "Discounted cumulative gain", 6 judged).
    grades = {"1": 3, "2": 2, "3": 3, "4": 0, "5": 1, "6": 2}
    assert ndcg(list("123456"), grades, depth=6) == pytest.approx(6.861 / 7.141, abs=1e-4)


def test_ndcg_does_not_see_what_is_below_its_depth() -> None:
    assert ndcg(["x", "a"], GRADES, depth=1) == 0.0
    assert ndcg(["a"], GRADES, depth=1) == 1.0


def test_a_document_that_nobody_judged_counts_as_not_relevant() -> None:
    assert ndcg(["x", "y"], GRADES) == recall(["x"], GRADES) == reciprocal_rank(["x"], GRADES) == 0.0


def test_a_topic_without_anything_relevant_scores_nothing() -> None:
    assert ndcg(["d"], {"d": 0}) == recall(["d"], {"d": 0}) == reciprocal_rank(["d"], {"d": -1}) == 0.0


def test_recall_is_the_share_of_the_relevant_that_is_found() -> None:
    assert recall(["x", "a", "d"], GRADES) == pytest.approx(1 / 3)
    assert recall(["x", "a", "b", "c"], GRADES, depth=3) == pytest.approx(2 / 3)


def test_reciprocal_rank_is_that_of_the_first_relevant_one() -> None:
    assert reciprocal_rank(["x", "d", "c", "a"], GRADES) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x"] * 20 + ["a"], GRADES) == 0.0


def test_best_first_wants_the_best_grade_and_not_just_any() -> None:
    assert best_first(["a"], GRADES) == 1.0
    assert best_first(["b", "a"], GRADES) == 0.0
    assert best_first([], GRADES) == 0.0
