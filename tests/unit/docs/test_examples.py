"""The answers that pages print are read as abridged, and as nothing more lenient than that."""

import pytest

from tests.unit.docs.examples import Example, differences, examples
from tests.unit.docs.pages import ROOT


@pytest.mark.parametrize(("page", "number"), [("start/tutorial.md", 5), ("agents/rest-api.md", 5)])
def test_a_page_prints_answers(page: str, number: int) -> None:
    assert len(examples(ROOT / "docs" / page)) >= number


def test_what_is_left_out_is_no_difference() -> None:
    example = Example(("curl",), "json", '{"entries": [{"id": "a"}], "total": 2}')
    assert differences(example, '{"entries": [{"id": "a", "title": "A"}, {"id": "b"}], "total": 2, "limit": 1}') == []


@pytest.mark.parametrize("answer", ['{"total": 3}', "{}", '{"total": [2]}', '{"total": null}'])
def test_another_value_is_a_difference(answer: str) -> None:
    assert differences(Example(("curl",), "json", '{"total": 2}'), answer) != []


@pytest.mark.parametrize("answer", ['{"ids": []}', '{"ids": ["b"]}', '{"ids": ["b", "a"]}'])
def test_a_missing_or_moved_item_is_a_difference(answer: str) -> None:
    assert differences(Example(("curl",), "json", '{"ids": ["a"]}'), answer) != []


def test_text_must_be_in_the_answer_as_printed() -> None:
    example = Example(("curl",), "markdown", "two\nlines\n")
    assert differences(example, "---\ntitle: A\n---\ntwo\nlines\nmore\n") == []
    assert differences(example, "two lines") != []
