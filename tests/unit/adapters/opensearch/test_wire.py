"""Requests as bytes."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.search.opensearch import wire

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=10,
)
floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(values)
def test_what_is_sent_is_json_of_what_was_said(value: object) -> None:
    assert json.loads(wire.encode(value)) == value


@given(st.lists(st.lists(floats, max_size=5), max_size=4))
def test_vectors_arrive_as_the_32_bit_numbers_they_were(vectors: list[list[float]]) -> None:
    told = json.loads(wire.encode({"all": [wire.Numbers(vector) for vector in vectors]}))

    def short(vector: list[float]) -> list[float]:
        return list(struct.unpack(f"{len(vector)}f", struct.pack(f"{len(vector)}f", *vector)))

    assert [short(vector) for vector in told["all"]] == vectors


def test_text_is_never_taken_for_a_vector() -> None:
    told = {"vector": wire.Numbers([0.5]), "text": "numbers-0", "other": '"numbers-0"'}

    assert json.loads(wire.encode(told)) == {"vector": [0.5], "text": "numbers-0", "other": '"numbers-0"'}


def test_half_a_character_becomes_a_question_mark_wherever_it_stands() -> None:
    told = {"text": "a\ud800b", "all": [("\udfff", wire.Numbers([0.5]))], "\ud800": {"in": "\ud800"}}

    assert json.loads(wire.encode(told)) == {"text": "a?b", "all": [["?", [0.5]]], "?": {"in": "?"}}


def test_what_is_read_is_what_was_sent_and_anything_else_is_an_error() -> None:
    assert wire.decode(wire.encode({"a": [1, 0.5, "ß"]})) == {"a": [1, 0.5, "ß"]}
    with pytest.raises(ValueError, match=r"unexpected|expected"):
        wire.decode(b"<html>")


def test_each_part_of_a_bulk_request_is_a_line() -> None:
    assert wire.lines([{"a": "x\ny"}, {}]) == b'{"a":"x\\ny"}\n{}\n'


def test_what_json_cannot_say_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError):
        wire.encode({"value": object()})
