from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.reader import Invalid, Published, Unpublished, judge
from tests.acceptance.reading import read

HARD_CASES = sorted((Path(__file__).parents[2] / "fixtures" / "hard_cases").glob("*.md"))


def page(*lines: str, body: str = "Text.\n") -> bytes:
    return ("---\n" + "".join(f"{line}\n" for line in lines) + "---\n" + body).encode()


@pytest.mark.parametrize("value", ["true", "True", "TRUE"])
def test_an_unquoted_true_publishes(value: str) -> None:
    assert read(page(f"publish: {value}")).gate == "published"


@pytest.mark.parametrize("value", ['"true"', "'true'", "yes", "on", "1", "", "null", "false", "[true]", "truely"])
def test_nothing_else_publishes(value: str) -> None:
    assert read(page(f"publish: {value}")).gate == "private"


@pytest.mark.parametrize(("draft", "gate"), [("false", "published"), ("", "published"), ("~", "published")])
def test_a_draft_that_is_none_does_not_block(draft: str, gate: str) -> None:
    assert read(page("publish: true", f"draft: {draft}")).gate == gate


@pytest.mark.parametrize("draft", ["true", '"false"', "no", "0", "[]", "later"])
def test_any_other_draft_blocks(draft: str) -> None:
    assert read(page("publish: true", f"draft: {draft}")).gate == "private"


def test_other_spellings_shut_the_gate_and_never_open_it() -> None:
    assert read(page("Publish: true")).gate == "private"
    assert read(page("publish: true", "Draft: true")).gate == "private"
    assert read(page("publish: true", "PUBLISH: false")).gate == "private"


@pytest.mark.parametrize(
    "line", ["title: A: B", "a: &x 1", "a: *x", "a: !!str b", "publish: true", "a: [1", "? [a]\n: b", "\tx: y"]
)
def test_what_is_not_plain_yaml_is_unreadable(line: str) -> None:
    assert read(page("publish: true", line)).gate == "unreadable"


def test_what_is_unreadable_and_says_it_is_private_is_private() -> None:
    assert read(page("title: A: B", "publish: false")).gate == "private"


def test_frontmatter_that_is_never_closed_is_unreadable() -> None:
    assert read(b"---\npublish: true\n\nText.\n").gate == "unreadable"


def test_the_first_rule_ends_the_frontmatter_and_the_body_is_kept_to_the_byte() -> None:
    body = "One\r\n---\r\ntwo\u2028three\x0b\n\n"
    assert read(page("publish: true", body=body)).body == body
    assert read(b"---\r\npublish: true\r\n---\r\n" + body.encode()).body == body


@pytest.mark.parametrize("raw", [b"", b"Text\n", b"\n---\npublish: true\n---\n", b"text\n---\npublish: true\n---\n"])
def test_a_file_without_frontmatter_is_private(raw: bytes) -> None:
    assert read(raw).gate == "private"


def test_titles_and_tags_are_taken_as_written() -> None:
    found = read(page("publish: true", "title:  1.10", "tags: [Shared Care, '#tide', tide, null, 2024]"))
    assert (found.title, found.tags) == ("1.10", ("shared-care", "tide", "2024"))
    assert read(page("publish: true", "tags: one, two")).tags == ("one", "two")
    assert read(page("publish: true", "title:", "tags:")).title is None


def test_the_title_of_a_file_that_cannot_be_read_is_known() -> None:
    assert read(page("title: Secret: plan", "publish: true")).title == "Secret: plan"


def agrees(raw: bytes) -> bool:
    """Whether both readers would serve the same. What cannot be read may be private to one of them."""
    gate = read(raw).gate
    match judge(raw):
        case Published(file):
            return gate == "published" and read(raw).body == file.body
        case Unpublished() | Invalid():
            return gate != "published"


@pytest.mark.parametrize("file", HARD_CASES, ids=lambda file: file.stem)
def test_both_readers_agree_on_every_hard_case(file: Path) -> None:
    assert agrees(file.read_bytes())


LINES = st.sampled_from(
    [
        "---",
        "publish: true",
        "publish: 'true'",
        "draft: false",
        "draft: maybe",
        "title: A",
        "title: A: B",
        "tags: [a, b]",
        "a: {b: [c]}",
        "- item",
        "",
        "Text.",
        "...",
        "# heading",
        "  indented: x",
        "---  ",
        "--- x",
    ]
)


@given(st.lists(LINES, max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_both_readers_agree_on_files_of_odd_lines(lines: list[str], ending: str) -> None:
    assert agrees(ending.join(["---", *lines]).encode())
