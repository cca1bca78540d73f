"""Requests as bytes."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.adapters.opensearch import wire

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
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


def test_half_a_character_becomes_a_question_mark() -> None:
    assert wire.encode({"text": "a\ud800b"}) == b'{"text":"a?b"}'


def test_each_part_of_a_bulk_request_is_a_line() -> None:
    assert wire.lines([{"a": "x\ny"}, {}]) == b'{"a":"x\\ny"}\n{}\n'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_what_json_cannot_say_is_a_mistake_of_ours(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        wire.encode({"value": value})
