import json

import pytest

from tests.acceptance.reading import Traces, texts_in

SECRET = "The harbour council meets on the ninth of every month to count its unpaid mooring fees.\n"
PUBLIC = "The harbour council meets on the ninth of every month.\n"


def traces() -> Traces:
    names = {"Mooring debts": "docs/debts.md", "docs/debts.md": "docs/debts.md", "Harbour": "docs/harbour.md"}
    return Traces({"docs/debts.md": SECRET, "docs/note.md": "Ask Una\nabout red keels\n"}, names, [PUBLIC])


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        json.dumps({"content": [SECRET.upper()]}),
        "ninth of **every** month\nto [count](x.md) its unpaid mooring fees".replace("[count](x.md)", "count"),
        "of%20every%20month%20to%20count%20its%20unpaid%20mooring",
        "seen: about   red\nKEELS.",
    ],
)
def test_a_piece_of_a_secret_is_found_however_it_is_written(text: str) -> None:
    told, _ = traces().in_texts(texts_in(text.encode()))
    assert told


@pytest.mark.parametrize(
    "text", [PUBLIC, "unpaid mooring fees", "count its\n---\nunpaid mooring fees of the ninth month"]
)
def test_what_is_public_or_too_short_to_tell_is_not(text: str) -> None:
    assert traces().in_texts([text]) == (set(), set())


@pytest.mark.parametrize("text", ["See mooring  debts.", "raw/docs/debts.md", "docs%2Fdebts.md"])
def test_a_title_or_path_is_found(text: str) -> None:
    assert traces().in_texts([text])[1] == {"docs/debts.md"}


def test_a_title_that_published_text_says_too_is_no_trace() -> None:
    assert traces().in_texts(["The Harbour"]) == (set(), set())
    assert traces().name_count == 2


def test_the_texts_of_json_are_its_strings_and_names() -> None:
    assert list(texts_in(b'{"a": ["b\\n", 1, null, {"c": true}]}')) == ["a", "b\n", "c"]
    assert list(texts_in(b"not JSON")) == ["not JSON"]
