"""Which words of a text are exact names."""

import pytest

from commonplace.search.identifiers import MOST_ASKED, MOST_KEPT, asked, identifiers, kept


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What about STORY-003 and src/auth/token.py?", ("story-003", "src/auth/token.py")),
        ("Story 006, #123 and WRKF-1021.", ("story-006", "#123", "wrkf-1021")),
        ("ECONNREFUSED, TS2345, SQLITE_BUSY: rate_limited", ("econnrefused", "ts2345", "sqlite_busy", "rate_limited")),
        (r"`KeyError` in C:\src\a.ts (./docs/b.md)", ("keyerror", "src/a.ts", "docs/b.md")),
        ("A Makefile, .env and __init__.py", ("makefile", ".env", "__init__.py")),
        ("and/or, e.g. v1.2.3 of the API: GitHub says HTTP 404 for a well-known route.", ()),
    ],
)
def test_names_are_told_from_words(text: str, names: tuple[str, ...]) -> None:
    assert identifiers(text) == names


def test_a_record_has_its_sources_and_each_end_of_a_path() -> None:
    assert kept("Sprint 12 / STORY-011", "docs/Lessons.md", "see src/a.ts") == (
        *("sprint 12 / story-011", "story-011", "docs/lessons.md", "lessons.md", "src/a.ts", "a.ts"),
    )


def test_names_of_a_text_are_bounded() -> None:
    many = " ".join(f"A-{number}" for number in range(1_000))
    assert (len(asked(many)), len(identifiers(many))) == (MOST_ASKED, MOST_KEPT)


@pytest.mark.parametrize(
    "query",
    ["econnrefused", "story-003 in auth/token.py", "ts2345 econnrefused", "every error at the equinox", "a.py fails"],
)
def test_a_query_asks_for_the_same_names_in_upper_and_in_lower_case(query: str) -> None:
    assert asked(query.upper()) == asked(query)
