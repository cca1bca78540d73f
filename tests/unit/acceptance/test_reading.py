from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.reader import Invalid, Published, Unpublished, judge
from tests.acceptance.reading import read

HARD_CASES = sorted((Path(__file__).parents[2] / "fixtures" / "hard_cases").glob("*.md"))


def agrees(raw: bytes) -> bool:
    """Whether both readers would serve the same. What cannot be read may be private to one of them."""
    gate = read(raw).gate
    match judge(raw):
        case Published(file):
            return gate == "published" and read(raw).body == file.body
        case Unpublished() | Invalid():
            return gate != "published"


def test_both_readers_agree_on_every_hard_case() -> None:
    for file in HARD_CASES:
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
