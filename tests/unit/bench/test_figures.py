"""Percentiles, ratios, and whether a count is within its target."""

import pytest

from bench.serving import Cost
from bench.speed.sync import Figure, Target
from bench.table import percentile, ratio


def test_percentiles_lie_between_the_samples() -> None:
    assert percentile([1, 2, 3, 4, 5], 50) == 3
    assert percentile([0, 10], 95) == pytest.approx(9.5)
    assert percentile([7], 90) == 7


def test_no_samples_have_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)


def test_a_ratio_to_nothing_is_none() -> None:
    assert ratio(3, 2) == 1.5
    assert ratio(3, 0) is None


def figure(name: str, target: Target, calls: int, texts: int) -> Figure:
    cost = Cost(1.0, github_calls=calls, blobs=0, archives=0, embedding_calls=0, texts_embedded=texts, documents=0)
    return Figure(name, 0, [cost], 1.0, target)


def test_a_count_at_its_target_is_within_it() -> None:
    assert figure("nothing changed", (2, 0), calls=2, texts=0).missed == []


def test_every_missed_count_is_named_with_what_is_allowed() -> None:
    assert figure("nothing changed", (2, 0), calls=3, texts=1).missed == [
        "nothing changed: 3 calls to GitHub, at most 2 are allowed.",
        "nothing changed: 1 texts embedded, at most 0 are allowed.",
    ]


def test_what_has_no_target_is_never_missed() -> None:
    assert figure("push of one file", (6, None), calls=6, texts=1_000).missed == []
    assert figure("the large push", (None, None), calls=1_000, texts=1_000).missed == []
