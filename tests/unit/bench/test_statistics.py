"""Intervals of paired differences: the same every time, and right where the answer is known."""

import pytest

from bench.table import Difference, paired, ratio_of_medians

SYSTEM = [0.9, 0.4, 0.8, 0.7, 0.2, 1.0, 0.6, 0.5]
BASELINE = [0.5, 0.4, 0.9, 0.3, 0.1, 0.7, 0.6, 0.2]


def test_the_same_values_have_the_same_interval() -> None:
    assert paired(SYSTEM, BASELINE) == paired(SYSTEM, BASELINE)


def test_the_mean_lies_in_the_interval_and_is_that_of_the_differences() -> None:
    difference = paired(SYSTEM, BASELINE)
    assert difference.mean == pytest.approx((sum(SYSTEM) - sum(BASELINE)) / 8)
    assert difference.low < difference.mean < difference.high


def test_a_difference_that_is_always_the_same_has_no_width() -> None:
    difference = paired([0.75, 0.5, 0.25], [0.5, 0.25, 0.0])
    assert [difference.low, difference.high] == pytest.approx([0.25, 0.25])
    assert difference.verdict == "better"


def test_systems_that_win_by_turns_do_not_differ() -> None:
    assert paired([1.0, 0.0] * 20, [0.0, 1.0] * 20).verdict == ""


def test_who_is_worse_throughout_is_worse() -> None:
    assert paired(BASELINE, [value + 0.5 for value in BASELINE]).verdict == "worse"


def test_the_interval_of_a_mean_is_about_two_standard_errors_to_each_side() -> None:
    values = [float(number % 10) for number in range(400)]
    error = 2.8723 / 20  # of 0 to 9, equally often, over the root of 400
    difference = paired(values, [0.0] * 400)
    assert difference.high - difference.low == pytest.approx(2 * 1.96 * error, rel=0.05)


@pytest.mark.parametrize(("system", "baseline"), [([], []), ([1.0], [1.0, 2.0])])
def test_what_cannot_be_paired_is_refused(system: list[float], baseline: list[float]) -> None:
    with pytest.raises(ValueError, match="paired"):
        paired(system, baseline)
    with pytest.raises(ValueError, match="paired"):
        ratio_of_medians(system, baseline)


def test_a_ratio_of_medians_lies_in_its_interval_and_stays_what_it_is() -> None:
    ours, theirs = [12.0, 11.0, 13.0, 12.5, 30.0] * 10, [10.0, 9.0, 11.0, 10.5, 8.0] * 10
    ratio, low, high = ratio_of_medians(ours, theirs)
    assert (ratio, low, high) == ratio_of_medians(ours, theirs)
    assert ratio == pytest.approx(12.5 / 10)
    assert low <= ratio <= high


def test_a_difference_reads_as_a_figure_with_its_interval() -> None:
    assert str(Difference(0.0371, -0.0049, 0.08)) == "+0.037 [-0.005, +0.080]"
