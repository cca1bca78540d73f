"""Requests as bytes."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opensearchpy.exceptions import SerializationError

from commonplace.search.opensearch import client
from tests.unit.search.opensearch.scripted import Scripted, scripted

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
    assert json.loads(client.encode(value)) == value


@given(st.lists(st.lists(floats, max_size=5), max_size=4))
def test_vectors_arrive_as_the_32_bit_numbers_they_were(vectors: list[list[float]]) -> None:
    told = json.loads(client.encode({"all": [client.Numbers(vector) for vector in vectors]}))

    def short(vector: list[float]) -> list[float]:
        return list(struct.unpack(f"{len(vector)}f", struct.pack(f"{len(vector)}f", *vector)))

    assert [short(vector) for vector in told["all"]] == vectors


def test_text_is_never_taken_for_a_vector() -> None:
    told = {"vector": client.Numbers([0.5]), "text": "numbers-0", "other": '"numbers-0"'}

    assert json.loads(client.encode(told)) == {"vector": [0.5], "text": "numbers-0", "other": '"numbers-0"'}


def test_half_a_character_becomes_a_question_mark_wherever_it_stands() -> None:
    told = {"text": "a\ud800b", "all": [("\udfff", client.Numbers([0.5]))], "\ud800": {"in": "\ud800"}}

    assert json.loads(client.encode(told)) == {"text": "a?b", "all": [["?", [0.5]]], "?": {"in": "?"}}


def test_what_is_read_is_what_was_sent_and_anything_else_is_an_error() -> None:
    serializer = client.OrjsonSerializer()

    assert serializer.loads(serializer.dumps({"a": [1, 0.5, "ß"]})) == {"a": [1, 0.5, "ß"]}
    with pytest.raises(SerializationError, match="not JSON"):
        serializer.loads("<html>")


def test_each_part_of_a_bulk_request_is_a_line() -> None:
    script = Scripted([(200, {"items": []})])

    scripted(script).bulk(body=[{"a": "x\ny"}, b'{"written":"before"}', {"vector": client.Numbers([0.5])}])

    assert script.asked[0].body == b'{"a":"x\\ny"}\n{"written":"before"}\n{"vector":[0.5]}\n'


def test_what_json_cannot_say_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError):
        client.encode({"value": object()})
