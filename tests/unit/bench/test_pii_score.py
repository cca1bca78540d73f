"""How the redaction's findings are counted."""

import pytest

from bench.pii.__main__ import Masked, masked_in, score
from bench.pii.cases import Case, Mark
from bench.table import Share

TEXT = "Ask Ngozi Okonjo about 4f1c9e2b7a60, not Jane."
CASE = Case("c", "tuned", TEXT, (Mark(4, 16, "NAME"), Mark(23, 35, "not", "hash"), Mark(41, 45, "kept", "NAME")))


def test_a_span_counts_as_found_when_all_of_it_is_masked() -> None:
    result = score(lambda _: [Masked(4, 9, "NAME"), Masked(9, 16, "NAME")], [CASE])
    assert (result.recall(), result.precision()) == (Share(1, 1), Share(2, 2))


def test_a_span_that_is_masked_in_part_is_missed_and_reported() -> None:
    result = score(lambda _: [Masked(4, 9, "NAME")], [CASE])
    assert (result.recall(), result.partly["NAME"], len(result.missed)) == (Share(0, 1), 1, 1)
    assert result.precision() == Share(1, 1)


def test_a_masked_look_alike_is_wrong_and_what_is_kept_on_purpose_is_neither() -> None:
    result = score(lambda _: [Masked(23, 35, "API_KEY"), Masked(41, 45, "NAME")], [CASE])
    assert result.precision() == Share(0, 1)
    assert result.hit["hash"] == 1


def test_what_was_masked_is_read_from_the_placeholders() -> None:
    assert masked_in(TEXT, "Ask [NAME] about 4f1c9e2b7a60, not [NAME].") == [
        Masked(4, 16, "NAME"),
        Masked(41, 45, "NAME"),
    ]


def test_a_text_that_differs_otherwise_is_refused() -> None:
    with pytest.raises(ValueError, match="more than its placeholders"):
        masked_in(TEXT, "Tell [NAME].")


def test_an_interval_of_few_is_wide() -> None:
    low, high = Share(9, 10).interval
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)
