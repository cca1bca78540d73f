from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.documents.content.paths import DEFAULT_EXCLUDES, Exclusions
from commonplace_local.github.git import git, git_environment, git_text
from tests.acceptance.truth import Expected, Gates, Truth, blob, is_content, tree_at, truth_at

OPEN, SHUT, BROKEN = b"---\npublish: true\n---\nOpen.\n", b"Shut.\n", b"---\npublish: true\na: b: c\n---\n"
Commit = Callable[[dict[str, bytes]], str]

EDITOR = {
    "GIT_AUTHOR_NAME": "Editor",
    "GIT_AUTHOR_EMAIL": "editor@example.org",
    "GIT_COMMITTER_NAME": "Editor",
    "GIT_COMMITTER_EMAIL": "editor@example.org",
}


@pytest.fixture
def commit(tmp_path: Path) -> Commit:
    environment = git_environment(EDITOR)
    git("init", "--quiet", directory=tmp_path, environment=environment)

    def write(files: dict[str, bytes]) -> str:
        for path, raw in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(raw)
        git("add", "--all", directory=tmp_path, environment=environment)
        git("commit", "--quiet", "-m", "Change", directory=tmp_path, environment=environment)
        return git_text("rev-parse", "HEAD", directory=tmp_path, environment=environment)

    return write


def test_published_are_open_markdown_files_outside_excluded_folders(commit: Commit, tmp_path: Path) -> None:
    files = {
        "a.md": OPEN,
        "ü/ä b.MD": OPEN,
        "shut.md": SHUT,
        "tmp/a.md": OPEN,
        "x/.git-notes/a.md": OPEN,
        "a.txt": OPEN,
    }
    (tmp_path / "link.md").symlink_to("a.md")
    truth: Truth = truth_at(tmp_path / ".git", commit(files), DEFAULT_EXCLUDES)
    assert set(truth.published) == {"a.md", "ü/ä b.MD"}
    assert set(truth.unpublished) == {"shut.md", "tmp/a.md", "x/.git-notes/a.md"}
    assert (truth.raw["a.md"], truth.absent) == (OPEN, frozenset())


def test_files_that_a_partial_clone_lacks_are_absent_and_not_expected(commit: Commit, tmp_path: Path) -> None:
    head = commit({"a.md": OPEN, "gone.md": OPEN + b"Gone.\n", "gone.png": b"x"})
    tree = tree_at(tmp_path / ".git", head)
    for path in ("gone.md", "gone.png"):
        name = tree.blobs[path]
        (tmp_path / ".git" / "objects" / name[:2] / name[2:]).unlink()
    truth = truth_at(tmp_path / ".git", head, DEFAULT_EXCLUDES)
    assert truth.absent == {"gone.md", "gone.png"}
    assert set(truth.published) == {"a.md"}
    assert blob(tmp_path / ".git", tree.blobs["gone.png"]) is None
    assert Gates(tmp_path / ".git", DEFAULT_EXCLUDES).at(tree).doubtful == {"gone.md"}


def test_what_cannot_be_read_is_doubtful(commit: Commit, tmp_path: Path) -> None:
    head = commit({"a.md": OPEN, "b.md": BROKEN, "c.md": SHUT})
    expected = Gates(tmp_path / ".git", DEFAULT_EXCLUDES).at(tree_at(tmp_path / ".git", head))
    assert (set(expected.published), expected.doubtful) == ({"a.md"}, {"b.md"})


def test_every_difference_from_what_is_expected_is_a_fault() -> None:
    expected = Expected({"a.md": "1", "b.md": "2", "c.md": "3"}, {"d.md", "e.md"})
    found = {"a.md": "1", "b.md": "9", "d.md": "4", "e.md": "5", "f.md": "6"}
    assert expected.faults(found, {"d.md": {"4"}}) == [
        "missing: c.md",
        "never published like that: e.md",
        "not published: f.md",
        "out of date: b.md",
    ]


@pytest.mark.parametrize(
    "path",
    ["a.md", "A.MARKDOWN", "tmp/a.md", "TMP/a.md", "tmpx/a.md", "docs/tmp/a.md", "docs/.trash/a.md", ".a.md", "a.txt"],
)
def test_exclusions_are_read_as_the_sync_reads_them(path: str) -> None:
    assert is_content(path, DEFAULT_EXCLUDES) == Exclusions(DEFAULT_EXCLUDES).is_content(path)


def test_an_exclusion_that_the_reader_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match=r"docs/\*\.md"):
        is_content("docs/a.md", ["docs/*.md"])
