"""The local model: windows, what its words come to, and the model itself on sentences that it was not trained on."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.kernel.environment import SettingsError
from commonplace.redaction.model import Span
from commonplace.redaction.rampart import OVERLAP, WINDOW, Rampart, Word, spans, windows

PROSE = st.text(alphabet=st.sampled_from("abcdefgh ÄÖ\n.,"), max_size=3_000)


@given(PROSE)
def test_windows_cover_every_character_and_are_no_longer_than_the_model_reads_well(text: str) -> None:
    found = list(windows(text))
    assert {place for start, end in found for place in range(start, end)} == set(range(len(text)))
    assert all(0 < end - start <= WINDOW for start, end in found)
    assert all(former[1] > latter[0] for former, latter in pairwise(found)), "they overlap"


def test_windows_are_cut_between_words() -> None:
    text = "shore " * 400
    for start, end in windows(text):
        assert text[start:end].split() == ["shore"] * len(text[start:end].split())


def words(text: str, *labelled: tuple[str, str, float]) -> list[Word]:
    return [Word(at := text.index(word), at + len(word), part, score) for word, part, score in labelled]


def found(text: str, *labelled: tuple[str, str, float]) -> list[str]:
    return [text[span.start : span.end] for span in spans(text, words(text, *labelled))]


def test_names_side_by_side_are_one_span() -> None:
    text = "Ask Anne-Marie D'Arcy or J. Doe."
    parts = [(each, "name", 0.9) for each in ("Anne", "Marie", "D", "Arcy", "J", "Doe")]
    assert found(text, *parts) == ["Anne-Marie D'Arcy", "J. Doe"]


def test_initials_and_what_is_hyphenated_belong_to_the_name_beside_them() -> None:
    assert found("ask J. R. Doe now", ("Doe", "name", 0.9)) == ["J. R. Doe"]
    assert found("ask Seo Min-ji now", ("Seo", "name", 0.9), ("Min", "name", 0.9)) == ["Seo Min-ji"]
    assert found("Use it. Doe left", ("Doe", "name", 0.9)) == ["Doe"]


@pytest.mark.parametrize(
    ("word", "score", "counts"),
    [("Anne", 0.75, True), ("Anne", 0.65, False), ("anne", 0.95, True), ("anne", 0.85, False), ("X", 0.99, False)],
)
def test_a_word_alone_has_to_be_surer_than_two(word: str, score: float, counts: bool) -> None:
    assert bool(found(f"ask {word} now", (word, "name", score))) is counts


@pytest.mark.parametrize("identifier", ["AsyncIO", "user_anne", "anne2"])
def test_what_is_written_as_an_identifier_is_no_name(identifier: str) -> None:
    assert found(f"see {identifier} there", (identifier, "name", 0.99)) == []


def test_a_part_of_an_identifier_is_no_name() -> None:
    assert found("see anne_index there", ("anne", "name", 0.99)) == []


def test_a_place_counts_beside_a_number_alone() -> None:
    assert found("runs in Berlin today", ("Berlin", "place", 0.99)) == []
    assert found("to 10115 Berlin today", ("10115", "number", 0.99), ("Berlin", "place", 0.99)) == ["10115 Berlin"]


def test_a_street_or_a_number_alone_is_no_address() -> None:
    assert found("the project Wall Street", ("Wall", "street", 0.99), ("Street", "street", 0.99)) == []
    assert found("see RFC 7519", ("7519", "number", 0.99)) == []


def test_an_address_reaches_over_abbreviations_and_to_its_postal_code() -> None:
    text = "Send it to Jalan Ayu No. 9, Ocean City, WV 45334 by noon."
    parts = [("Jalan", "street"), ("Ayu", "street"), ("9", "number"), ("Ocean", "place"), ("City", "place")]
    assert found(text, *((word, part, 0.9) for word, part in parts)) == ["Jalan Ayu No. 9, Ocean City, WV 45334"]


def test_a_telephone_number_has_seven_digits() -> None:
    assert found("call 030 12", ("030", "phone", 0.99), ("12", "phone", 0.99)) == []
    assert found("call 030 123456", ("030", "phone", 0.99), ("123456", "phone", 0.99)) == ["030 123456"]


@pytest.fixture(scope="module")
def model(rampart_folder: Path) -> Rampart:
    return Rampart(rampart_folder)


NAMES = [
    "Maria Okonkwo-Petrova",
    "Nguyễn Văn An",
    "Siobhán O'Brien",
    "Muhammad ibn Yusuf",
    "Yuki Tanaka",
    "Olufemi Adeyemi",
]


@pytest.mark.parametrize("name", NAMES)
def test_the_model_finds_names_of_many_cultures(model: Rampart, name: str) -> None:
    text = f"The retry budget was halved after {name} saw the bill."
    (only,) = model.detect([text])[0]
    assert (text[only.start : only.end], only.kind, only.origin) == (name, "NAME", "model")


def test_the_model_leaves_hashes_versions_identifiers_and_places_that_are_no_address(model: Rampart) -> None:
    texts = [
        "Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke pnpm 9.1.2 on node 20.11.1.",
        "Request 550e8400-e29b-41d4-a716-446655440000 follows RFC 7519 and ISO 8601.",
        "The bucket lies in Frankfurt, the table in Virginia.",
    ]
    assert model.detect(texts) == [[], [], []]


def test_a_name_anywhere_in_a_long_text_is_found_where_it_stands(model: Rampart) -> None:
    filler = "The queue grows when the consumer is slower than the producer. " * 12
    text = f"{filler}Ask Maria Okonkwo first. {filler}"
    for shift in range(0, OVERLAP, 7):
        moved = "x " * shift + text
        names = {moved[span.start : span.end] for span in model.detect([moved])[0]}
        assert "Maria Okonkwo" in names, shift


def test_what_is_longer_in_tokens_than_in_characters_is_read_to_its_end(model: Rampart) -> None:
    """A Korean syllable becomes three pieces, so a window of them has twice the tokens that the model takes."""
    text = "한글" * 210 + " and Maria Okonkwo saw it"
    assert "Maria Okonkwo" in {text[span.start : span.end] for span in model.detect([text])[0]}


def test_texts_without_words_have_nothing(model: Rampart) -> None:
    assert model.detect(["", " ", "\ud800", "…"]) == [[], [], [], []]
    assert model.detect([]) == []


def test_a_folder_without_labels_is_refused(rampart_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "rampart"
    shutil.copytree(rampart_folder, folder)
    (folder / "config.json").unlink()
    with pytest.raises(SettingsError, match="id2label"):
        Rampart(folder)
    (folder / "config.json").write_text(json.dumps({"id2label": {"0": "O"}}))
    with pytest.raises(SettingsError, match="has 35 labels"):
        Rampart(folder)


def test_spans_say_how_sure_they_are(model: Rampart) -> None:
    spans = model.detect(["Yuki Tanaka lives at 221B Baker Street, London NW1 6XE."])[0]
    assert [(span.kind, span.label) for span in spans] == [("NAME", "NAME"), ("LOCATION", "ADDRESS")]
    assert all(isinstance(span, Span) and 0.7 <= span.score <= 1 for span in spans)
