"""What an editor is told about a tree."""

from collections.abc import Mapping

from commonplace.documents.content.paths import Exclusions
from commonplace.documents.content.validate import Report, validate_tree
from commonplace.repository.problems import Problem
from tests.unit.documents.content.files import markdown

COMPLETE = {"description": "B", "date": "2024-05-01"}


def validated(files: Mapping[str, bytes]) -> Report:
    return validate_tree(files, files.__getitem__)


def found(files: Mapping[str, bytes], code: str) -> list[tuple[str, Problem]]:
    return [(finding.path, finding.problem) for finding in validated(files).findings if finding.problem.code == code]


def test_a_tree_without_problems_has_no_findings() -> None:
    files = {
        "tags/care.md": markdown("Text.\n", title="Care", tags=["care"], **COMPLETE),
        "notes/a.md": markdown("See [care](tags/care.md).\n", title="A", tags=["care"], **COMPLETE),
    }
    report = validated(files)
    assert report.findings == ()
    assert report.published == {"tag": 1, "file": 1}


def test_unreadable_files_are_errors_even_when_they_are_private() -> None:
    files = {"a.md": b"---\na: b: c\n---\n", "b.md": b"---\na: b: c\npublish: false\n---\n", "c.md": b"No frontmatter"}
    report = validated(files)
    assert [(finding.path, finding.problem.severity) for finding in report.of("error")] == [
        ("a.md", "error"),
        ("b.md", "error"),
    ]
    assert (report.published, report.unpublished, report.unreadable) == ({}, 2, 1)


def test_private_files_are_not_examined_further() -> None:
    assert validated({"a.md": b"---\ntype: nonsense\n---\n[x](y.md)"}).findings == ()


def test_a_document_in_an_excluded_folder_is_reported() -> None:
    files = {"drafts/a.md": markdown(title="A"), "drafts/b.md": b"Text", "tmp/c.md": b"---\na: b: c\n---\n"}
    assert [(finding.path, finding.problem.code) for finding in validated(files).findings] == [
        ("drafts/a.md", "excluded")
    ]


def test_a_broken_link_has_its_place_and_a_suggestion() -> None:
    body = "Text.\n\nSee [care](tags/care.md) and [b](gone%20page.md).\n"
    files = {"a.md": markdown(body, title="A"), "data/concepts/care.md": markdown(title="Care")}
    (_, care), (_, gone) = found(files, "broken-link")
    assert (care.line, care.column, care.hint) == (7, 12, "did you mean `data/concepts/care.md`?")
    assert (gone.line, gone.column, gone.hint) == (7, 34, "correct the path")
    assert "`gone page.md`" in gone.message


def test_a_link_to_a_private_file_is_told_apart_from_a_broken_one() -> None:
    files = {"a.md": markdown("[p](private.md) [d](drafts/d.md)", title="A"), "private.md": b"x", "drafts/d.md": b"x"}
    assert [problem.message for _, problem in found(files, "link-to-unpublished")] == [
        "`private.md` is not published",
        "`drafts/d.md` is not published",
    ]
    assert found(files, "broken-link") == []


def test_missing_attachments_are_reported_where_they_are_named() -> None:
    files = {"a.md": markdown("![](there.png) ![[gone.png]]", banner="![[lost.png]]", title="A"), "there.png": b""}
    assert [(problem.line, problem.message) for _, problem in found(files, "missing-attachment")] == [
        (3, "there is no file `lost.png`"),
        (6, "there is no file `gone.png`"),
    ]


def test_lonely_tags_and_tags_without_a_definition_are_noted() -> None:
    files = {
        "tags/care.md": markdown(title="Mutual Care", aliases=["#tending"]),
        "a.md": markdown(title="A", tags=["care", "tending", "mutual-care", "alone"]),
        "b.md": markdown(title="B", tags=["care", "tending", "mutual-care"]),
    }
    assert [(path, problem.line) for path, problem in found(files, "tag-used-once")] == [("a.md", 4)]
    assert [problem.message for _, problem in found(files, "tag-not-in-lexicon")] == [
        "the lexicon has no entry for the tag `alone`"
    ]


def test_a_tree_without_a_lexicon_is_not_asked_for_one() -> None:
    assert found({"a.md": markdown(title="A", tags=["x"])}, "tag-not-in-lexicon") == []


def test_shared_names_are_noted_with_their_ids() -> None:
    files = {"docs/a/index.md": markdown(title="A"), "docs/b/index.md": markdown(title="B"), "docs/c.md": markdown()}
    assert [(path, problem.hint) for path, problem in found(files, "id-collision")] == [
        ("docs/a/index.md", "its id is `docs-a-index`"),
        ("docs/b/index.md", "its id is `docs-b-index`"),
    ]


def test_problems_of_fields_are_passed_on() -> None:
    files = {"data/links/a.md": markdown(type="activity", title="A", author="Rosa", date="1.5.24", description=None)}
    assert {
        (problem.field, problem.code) for _, problem in ((f.path, f.problem) for f in validated(files).findings)
    } == {
        ("type", "unknown-type"),
        ("author", "wrong-shape"),
        ("date", "bad-date"),
        ("description", "null-field"),
        ("url", "missing-field"),
    }


def test_findings_are_counted_most_severe_first() -> None:
    files = {"a.md": markdown("[x](y.md) [x](z.md)"), "b.md": b"---\na: b: c\n---\n"}
    assert validated(files).counts()[:2] == [("error", "malformed-frontmatter", 1), ("warning", "broken-link", 2)]


def test_folders_to_leave_out_can_be_chosen() -> None:
    files = {"drafts/a.md": markdown(title="A"), "secret/b.md": markdown(title="B")}
    report = validate_tree(files, files.__getitem__, Exclusions(["secret/"]))
    assert report.published == {"file": 1}
    assert [finding.path for finding in report.findings if finding.problem.code == "excluded"] == ["secret/b.md"]
