"""The line of `dev` that says how many files are shown, and why not the others."""

from datetime import UTC, datetime
from typing import Any

import pytest

from commonplace.documents.content.document import SHOWS_EVERYTHING, Manifest
from commonplace.documents.content.reader import Invalid, Unpublished, judge
from commonplace.documents.sync.report import Counts, Report, SkippedFile
from commonplace_local.dev.screen import Outcome

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SILENT, PRIVATE, DRAFT = "Text.\n", "---\npublish: false\n---\n", "---\npublish: true\ndraft: true\n---\n"
MALFORMED, EMPTY, MISSPELT = "---\ntitle: a: b\n---\n", "", "---\npublished: yes\n---\n"
QUIET_DRAFT = "---\ndraft: true\n---\n"


def skipped(number: int, text: str) -> SkippedFile:
    match judge(text.encode()):
        case Unpublished(reason, problem):
            return SkippedFile(path=f"{number}.md", reason=reason, problem=problem)
        case Invalid(problem):
            return SkippedFile(path=f"{number}.md", reason=problem.message, problem=problem)
        case other:
            raise AssertionError(other)


def outcome(shown: int, *texts: str, everything: bool = False, **more: Any) -> Outcome:
    told: dict[str, Any] = {"commit_sha": "a", "generation": 1}
    report = Report(
        run="r",
        started_at=NOW,
        finished_at=NOW,
        counts=Counts(documents=shown),
        skipped=[skipped(number, text) for number, text in enumerate(texts)],
        **told,
    )
    manifest = Manifest(pipeline="", repository="", branch="", synced_at=NOW, everything=everything, **told)
    return Outcome(manifest, report, (), why="commonplace why FILE", place="/home/ada/My notes", **more)


def test_each_reason_is_counted_in_one_line() -> None:
    line = outcome(5, SILENT, SILENT, PRIVATE, MISSPELT, DRAFT, DRAFT, MALFORMED, large=("big.md",)).shown
    reasons = (
        "2 have no `publish: true`, 2 are drafts, 1 says `publish: false`, 1 says something else than `publish: true`, "
        "1 has malformed frontmatter, 1 is over 5 MB"
    )
    assert line == f"Shows 5 of 13 files: {reasons}; `commonplace why FILE` says more"
    assert outcome(2).shown == "Shows 2 of 2 files"


@pytest.mark.parametrize(
    ("texts", "reasons"),
    [
        ([SILENT, SILENT], "2 files: none says `publish: true`"),
        ([SILENT, EMPTY], "2 files: 1 has no `publish: true`, 1 is empty"),
        ([SILENT, MALFORMED], "2 files: 1 has no `publish: true`, 1 has malformed frontmatter"),
    ],
)
def test_everything_is_offered_where_no_file_says_anything_about_publishing(texts: list[str], reasons: str) -> None:
    offer = "To read all of them here: commonplace dev '/home/ada/My notes' --everything"
    assert outcome(0, *texts).shown == f"Shows 0 of {reasons}. {offer}"


@pytest.mark.parametrize("text", [PRIVATE, DRAFT, QUIET_DRAFT, MISSPELT])
def test_it_is_not_offered_where_a_file_does_nor_where_something_is_shown(text: str) -> None:
    assert "--everything" not in outcome(0, SILENT, text).shown
    assert "--everything" not in outcome(1, SILENT).shown
    assert "--everything" not in outcome(0).shown


def test_where_everything_is_shown_the_other_files_are_named_with_their_reason() -> None:
    others = ["---\npublish: yes\n---\n", '---\npublish: "true"\n---\n', "---\nPublish: true\n---\n"]
    shown, note, *files = outcome(3, PRIVATE, QUIET_DRAFT, *others, everything=True).shown_lines(files=True)
    reasons = "3 say something else than `publish: true`, 1 says `publish: false`, 1 is a draft"
    assert shown.startswith(f"Shows 3 of 8 files: {reasons};")
    assert len(files) == 2, "what is a finding is listed once, among the findings"
    assert note == SHOWS_EVERYTHING
    assert files[0].startswith("  0.md: it says `publish: false`")
    assert files[1].startswith("  1.md: ")
