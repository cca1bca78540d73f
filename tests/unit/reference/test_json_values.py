"""JSON with lines: the values are those of any other reader, the lines those that an editor shows."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.reference.source.values import JsonError, read

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=30,
)


@given(values, st.sampled_from([None, 1, "\t"]), st.integers(0, 5))
def test_what_is_read_is_what_was_written(value: Any, indent: Any, depth: int) -> None:
    assert read(json.dumps(value, indent=indent), lines_to_depth=depth).value == value


@given(st.text(alphabet='[]{}",:0123truefalsn\\u \n', max_size=30))
def test_a_text_is_read_just_as_any_other_reader_does_or_refused(text: str) -> None:
    try:
        expected = json.loads(text, object_pairs_hook=_unique)
    except ValueError:
        with pytest.raises(JsonError):
            read(text)
    else:
        assert read(text).value == expected


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError
    return dict(pairs)


def test_lines_are_kept_as_deep_as_is_asked() -> None:
    text = '{\n "entries": [\n  {"a": 1,\n   "b": [\n1]},\n  {}]}'
    assert read(text, lines_to_depth=3).lines == {
        ("entries",): 2,
        ("entries", 0): 3,
        ("entries", 0, "a"): 3,
        ("entries", 0, "b"): 4,
        ("entries", 1): 6,
    }
