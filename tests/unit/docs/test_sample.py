"""The sample shows every kind of document, and is sound where it does not mean to be broken."""

import pytest

from commonplace.documents.content.graph import Broken, LinkResolver, ToFile
from commonplace.documents.content.normalise import Normalised, normalise
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.content.paths import DEFAULT_EXCLUDES, Exclusions
from commonplace.documents.content.reader import Invalid, Published, Unpublished, Verdict, contents_of, judge
from commonplace.documents.content.validate import validate_tree
from commonplace.repository.markdown import ParsedFile
from tests.unit.docs.pages import ROOT, SAMPLE, blocks

Files = dict[str, ParsedFile]
Fields = dict[str, Normalised]

DELIBERATELY_BROKEN = {
    ("data/links/index.md", "data/links/an-old-tide-calculator.md"),
    ("data/groups/pool-desk.md", "docs/pool-desk/minutes-2026-01-14.md"),
}
LEAF_TYPES = {
    "file", "index", "link", "tag",
    "pattern", "practice", "primitive", "protocol", "playbook", "question",
    "study", "article", "guide",
    "person", "group", "project", "place", "gathering",
}  # fmt: skip


def files() -> list[str]:
    return sorted(path.relative_to(SAMPLE).as_posix() for path in SAMPLE.rglob("*") if path.is_file())


def verdicts() -> dict[str, Verdict]:
    exclusions = Exclusions(DEFAULT_EXCLUDES)
    return {path: judge((SAMPLE / path).read_bytes()) for path in files() if exclusions.is_content(path)}


@pytest.fixture(scope="module")
def published() -> Files:
    return {path: verdict.file for path, verdict in verdicts().items() if isinstance(verdict, Published)}


@pytest.fixture(scope="module")
def normalised(published: Files) -> Fields:
    return {path: normalise(path, file) for path, file in published.items()}


def test_nothing_in_it_is_unreadable() -> None:
    assert [path for path, verdict in verdicts().items() if isinstance(verdict, Invalid)] == []


def test_every_content_type_is_there(normalised: Fields) -> None:
    assert {fields.content_type for fields in normalised.values()} == LEAF_TYPES


def test_its_shapes_are_put_right_and_reported(normalised: Fields) -> None:
    assert normalised["notes/packing-list.md"].tags == ("safety",)
    assert normalised["data/people/amara-quill.md"].metadata["groups"] == ["saltmarsh-school"]
    assert "author" not in normalised["data/people/tobias-lund.md"].metadata
    assert {"null-field"} <= {problem.code for problem in normalised["data/people/tobias-lund.md"].problems}


def test_only_the_broken_links_that_are_meant_are_broken(published: Files) -> None:
    other = [path for path in files() if not path.endswith(".md")]
    resolver = LinkResolver(published, other)
    broken = {
        (path, link.target)
        for path, file in published.items()
        for link in contents_of(file).links
        if isinstance(resolver.resolve(path, link), Broken)
    }
    assert broken == DELIBERATELY_BROKEN


def test_pictures_are_used_by_published_documents_and_one_is_not(published: Files) -> None:
    pictures = [path for path in files() if path.startswith("attachments/")]
    resolver = LinkResolver(published, pictures)
    shown = {
        target.path
        for path, file in published.items()
        for link in contents_of(file).links
        if isinstance(target := resolver.resolve(path, link), ToFile)
    }
    assert set(pictures) - shown == {"attachments/desk-rota.png"}


def test_some_files_are_private(published: Files) -> None:
    private = {path for path, verdict in verdicts().items() if isinstance(verdict, Unpublished)}
    assert {
        "README.md",
        "notes/phone-list.md",
        "docs/pool-desk/minutes-2026-01-14.md",
        "docs/saltmarsh-school/teacher-notes.md",
        "data/people/a-member-who-moved-away.md",
    } == private
    assert "drafts/winter-survey-plan.md" in files()


def test_every_leaf_type_of_the_ontology_is_expected_here() -> None:
    parents = {"reference", "resource", "story", "data"}
    assert set(ONTOLOGY.types) - parents == LEAF_TYPES


def test_the_finding_that_the_page_shows_is_one_of_its_findings() -> None:
    page = ROOT / "docs" / "write" / "write-content.md"
    (shown,) = (block.text.strip() for block in blocks(page) if ": warning: " in block.text)
    report = validate_tree(files(), lambda path: (SAMPLE / path).read_bytes())
    places = [f"{finding.path}:{finding.problem.line}" for finding in report.of("warning")]
    assert shown.partition(": warning: ")[0] in places
