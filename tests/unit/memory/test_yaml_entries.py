"""Entries written as YAML: what is read, and what is refused before it is built."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace.memory import entry_files
from commonplace.memory.model import MAX_IMPORT

SEED = """\
- content: "Route ordering in vercel.json: specific routes must come before parameterized routes."
  entry_type: fact
  roles: [dev]
  tags: [vercel, routing, api, pattern]
  source_story: STORY-007
  confidence: 1.0

- content: |
    Second entry
    in two lines
  entry_type: summary
  roles: [pm, dev, qa]
  tags: [story-sizing]
  metadata: {gate: PASS, tries: 3, validated: true, at: 2026-01-24, nothing: ~}
"""


def test_entries_of_the_seed_are_read() -> None:
    first, second = entry_files.read(SEED)
    assert first["tags"] == ["vercel", "routing", "api", "pattern"]
    assert first["confidence"] == 1.0
    assert second["content"] == "Second entry\nin two lines\n"
    assert second["metadata"] == {"gate": "PASS", "tries": 3, "validated": True, "at": "2026-01-24", "nothing": None}


def test_list_may_stand_under_entries() -> None:
    assert entry_files.read("entries:\n- content: a\n")[0] == {"content": "a"}


def test_words_that_some_readers_take_for_something_else_stay_words() -> None:
    [entry] = entry_files.read("- tags: [yes, on, 0755, 1e3, .inf, 1_000, 12:30:45, =, <<, 0x1f]")
    assert entry["tags"] == ["yes", "on", "0755", "1e3", ".inf", "1_000", "12:30:45", "=", "<<", "0x1f"]


def test_quoted_number_is_text() -> None:
    assert entry_files.read("- a: '7'\n  b: 7") == [{"a": "7", "b": 7}]


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "- &a x\n- *a",
        "- *nothing",
        "- !!python/object/apply:os.system [id]",
        "- !own x",
        "- {a: 1, a: 2}",
        "- ? [a]\n  : b",
        "- ? {a: b}\n  : b",
        "[" * 50_000,
        "{a: " * 50_000,
        "- " * 30_000,
        "",
        "text",
        "7",
        "entries: {}",
        "a: []",
        "--- []\n--- []",
        "- 'open",
        "- a: b: c",
        "\t- a",
        "- \x01",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_what_is_no_plain_list_of_entries_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        entry_files.read(text)
    assert refused.value.hint
    assert len(refused.value.message) < 120


def test_refusal_names_the_line_and_no_text() -> None:
    with pytest.raises(InvalidInput) as refused:
        entry_files.read("- content: a\n- content: 'secret\n")
    assert "line" in refused.value.message
    assert "secret" not in str(refused.value.envelope())


def test_text_too_large_is_refused_unread() -> None:
    with pytest.raises(TooLarge):
        entry_files.read("- a\n" * (entry_files.MAX_BYTES // 4 + 1))


def test_too_many_values_are_refused() -> None:
    with pytest.raises(TooLarge):
        entry_files.read("- [" + "a," * entry_files.MAX_VALUES + "a]")


def test_too_many_entries_are_refused() -> None:
    with pytest.raises(TooLarge):
        entry_files.read("- a\n" * (MAX_IMPORT + 1))


FOLDED = "\x85\u2028\u2029"
"""Line ends of YAML 1.1 that PyYAML's own writer puts between quotes as they are, where every reader folds them."""

VALUES: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**50), 2**50)
    | st.text(st.characters(codec="utf-8", exclude_characters=FOLDED), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text("abcd", min_size=1, max_size=4), VALUES, max_size=4), max_size=4))
def test_what_a_writer_of_yaml_writes_is_read_as_it_was(entries: list[dict[str, Any]]) -> None:
    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    assert entry_files.read(yaml.dump(entries, Dumper=Plain, allow_unicode=True)) == entries


@given(st.text(max_size=200))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        entry_files.read(text)
    except CommonplaceError as refused:
        assert refused.hint
