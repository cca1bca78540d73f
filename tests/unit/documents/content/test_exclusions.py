"""Which paths hold content."""

import pytest

from commonplace.documents.content.paths import DEFAULT_EXCLUDES, Exclusions


@pytest.mark.parametrize(
    ("pattern", "path", "excluded"),
    [
        ("tmp/", "tmp/a.md", True),
        ("tmp/", "TMP/deep/a.md", True),
        ("/tmp/", "tmp/a.md", True),
        ("tmp/", "docs/tmp/a.md", False),
        ("tmp/", "tmp.md", False),
        ("tmp/", "tmpx/a.md", False),
        ("**/tmp/", "docs/tmp/a.md", True),
        ("**/tmp/", "tmp/a.md", True),
        ("**/.*/", "docs/.hidden/a.md", True),
        ("**/.*/", "docs/a.b/.md", False),
        ("docs/*/raw/", "docs/a/raw/b.md", True),
        ("docs/*/raw/", "docs/a/b/raw/b.md", False),
        ("docs/**/raw/", "docs/a/b/raw/b.md", True),
        ("**/.*", "docs/.hidden.md", True),
        ("**/.*", ".hidden.md", True),
        ("**/.*", "docs/a.b.md", False),
        ("README.md", "readme.md", True),
        ("README.md", "docs/readme.md", False),
        ("**/readme.md", "docs/README.md", True),
        ("note-?.md", "note-1.md", True),
        ("a+b (c)/", "a+b (c)/x.md", True),
    ],
)
def test_patterns_mean_folders_and_files(pattern: str, path: str, excluded: bool) -> None:
    assert Exclusions([pattern]).excludes(path) is excluded


def test_content_is_markdown_in_any_letter_case() -> None:
    exclusions = Exclusions()
    assert [exclusions.is_content(path) for path in ("a.md", "a.MD", "a.markdown", "a.md.png", "md", "a.mdx")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("pattern", ["", "/", "*", "**/", "**/*"])
def test_a_pattern_that_leaves_out_everything_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="everything"):
        Exclusions([pattern])


def test_no_patterns_leave_nothing_out() -> None:
    assert Exclusions([]).is_content("tmp/a.md")


def test_the_fingerprint_follows_the_patterns_and_not_their_order() -> None:
    assert Exclusions(DEFAULT_EXCLUDES).fingerprint == Exclusions(reversed(DEFAULT_EXCLUDES)).fingerprint
    assert Exclusions(["a/"]).fingerprint != Exclusions(["b/"]).fingerprint
