"""YAML that is written is read back as it was, whatever it holds."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory.entry_files import document, read, write

TEXTS = st.text(
    alphabet=st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), max_size=60
) | st.sampled_from(
    [
        "2026-01-24",
        "0755",
        "yes",
        "no",
        "~",
        "null",
        "1.0",
        "1e3",
        "- a",
        "a: b",
        "#x",
        "'",
        '"',
        "{}",
        "\u2028a",
        "é\n\n b\n",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    TEXTS | st.booleans() | st.none() | st.integers(-(10**9), 10**9) | st.sampled_from([0.0, 0.5, 0.8, 1.0]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.sampled_from(["content", "tags", "metadata"]), VALUES, max_size=3), max_size=4))
def test_what_is_written_is_read_back(entries: list[Any]) -> None:
    assert read(write(entries)) == entries


def test_it_is_written_for_people() -> None:
    told = write([{"content": "One:\n```sh\nrun\n```", "roles": ["dev", "qa"], "tags": ["a", "b"], "confidence": 0.8}])
    assert told == (
        "- content: |-\n    One:\n    ```sh\n    run\n    ```\n  roles: [dev, qa]\n  tags: [a, b]\n  confidence: 0.8\n"
    )


def test_the_same_value_twice_is_written_twice() -> None:
    roles = ["dev"]
    assert document(write([roles, roles])) == [["dev"], ["dev"]]
