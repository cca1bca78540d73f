"""YAML that others wrote: plain values, their lines, and no more than was asked for."""

import pytest

from commonplace.kernel.yaml import Reason, YamlError, read


def test_only_null_booleans_and_plain_numbers_are_more_than_text() -> None:
    text = "[null, true, 7, -1.5, '7', yes, 0755, 2026-03-01, 1e3, .inf, 0x1f]"
    assert read(text, max_depth=3, max_values=50).value == [
        *(None, True, 7, -1.5, "7"),
        *("yes", "0755", "2026-03-01", "1e3", ".inf", "0x1f"),
    ]


def test_lines_are_those_of_keys_and_members() -> None:
    text = "a: 1\nb:\n  - x\n  - c:\n      d\n"
    parsed = read(text, max_depth=5, max_values=50, lines_to_depth=3)
    assert parsed.value == {"a": 1, "b": ["x", {"c": "d"}]}
    assert parsed.lines == {("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 1): 4, ("b", 1, "c"): 4}


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("a: [\n", "syntax", 2),
        ("\ud800", "half-character", None),
        ("a\n---\nb\n", "documents", 2),
        ("[1, 2, 3, 4, 5, 6]", "values", 1),
        ("- &x a\n- *x\n", "reference", 1),
        ("- !!set {a}\n", "reference", 1),
        ("- \n  - \n    - [a]\n", "depth", 3),
        ("a: 1\na: 2\n", "duplicate", 2),
        ("? [a]\n: b\n", "key", 1),
    ],
)
def test_what_is_refused_is_named_with_its_line(text: str, reason: Reason, line: int | None) -> None:
    with pytest.raises(YamlError) as raised:
        read(text, max_depth=3, max_values=6)
    assert (raised.value.reason, raised.value.line) == (reason, line)
