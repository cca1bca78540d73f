"""What an editor is told about a tree."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from commonplace.documents.content.findings import Findings, types_of
from commonplace.documents.content.paths import Exclusions
from commonplace.documents.content.reader import Invalid, judge
from commonplace.documents.content.validate import validate_tree
from commonplace.repository import problems
from commonplace.repository.markdown import _SAID
from commonplace.repository.problems import KINDS, SEVERITIES, Problem
from tests.unit.documents.content.files import markdown

PROBLEMS = Path(problems.__file__)
ROOT = PROBLEMS.parents[4]
_PROBLEM = re.compile(r'Problem\(\s*"([a-z0-9-]+)"')
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
COMPLETE = {"description": "B", "date": "2024-05-01"}


def validated(files: Mapping[str, bytes]) -> Findings:
    return validate_tree(files, files.__getitem__)


def found(files: Mapping[str, bytes], code: str) -> list[tuple[str, Problem]]:
    return [(finding.path, finding.problem) for finding in validated(files).findings if finding.problem.code == code]


@pytest.mark.parametrize(
    ("raw", "codes"),
    [
        (POINTER.replace(b"\n", b"\r\n"), ["broken-content"]),
        (POINTER.replace(b"oid", b"ext-0-case sha256:4d7b\noid"), ["broken-content"]),
        (b"version https://git-lfs.github.com/spec/v1 is how a pointer begins\n", []),
        (b"version https://git-lfs.github.com/spec/v1\nis how a pointer begins\n", []),
    ],
)
def test_a_file_is_a_pointer_only_with_an_object_id(raw: bytes, codes: list[str]) -> None:
    files = {"notes/a.md": markdown("![](../files/a.png)\n", title="A", **COMPLETE), "files/a.png": raw}
    assert [finding.problem.code for finding in validated(files).findings] == codes


def test_a_tree_without_problems_has_no_findings() -> None:
    files = {
        "tags/care.md": markdown("Text.\n", title="Care", tags=["care"], **COMPLETE),
        "notes/a.md": markdown("See [care](tags/care.md).\n", title="A", tags=["care"], **COMPLETE),
    }
    report = validated(files)
    assert report.findings == ()
    assert report.published == {"tags/care.md": "tag/care", "notes/a.md": "file/a"}
    assert str(report.tally) == "no problems, no hints"


def test_an_unreadable_file_is_an_error_unless_it_says_that_it_is_private() -> None:
    files = {"a.md": b"---\na: b: c\n---\n", "b.md": b"---\na: b: c\npublish: false\n---\n", "c.md": b"No frontmatter"}
    report = validated(files)
    assert [(finding.path, finding.problem.severity) for finding in report.of("error")] == [("a.md", "error")]
    assert [finding.path for finding in report.of("hint")] == ["b.md", "c.md"]
    assert (report.published, set(report.skipped)) == ({}, {"a.md", "b.md", "c.md"})


def test_private_files_are_not_examined_further() -> None:
    assert validated({"a.md": b"---\npublish: false\ntype: nonsense\n---\n[x](y.md)"}).findings == ()


def test_a_document_in_an_excluded_folder_is_reported() -> None:
    files = {"drafts/a.md": markdown(title="A"), "drafts/b.md": b"Text", "tmp/c.md": b"---\na: b: c\n---\n"}
    assert [(finding.path, finding.problem.code) for finding in validated(files).findings] == [
        ("drafts/a.md", "excluded")
    ]


def test_a_broken_link_has_its_place_and_a_suggestion() -> None:
    body = "Text.\n\nSee [care](tags/care.md) and [b](gone%20page.md).\n"
    files = {"a.md": markdown(body, title="A"), "data/concepts/care.md": markdown(title="Care")}
    (_, care), (_, gone) = found(files, "broken-link")
    assert (care.line, care.hint) == (7, "did you mean `data/concepts/care.md`?")
    assert (gone.line, gone.hint) == (7, "correct the path")
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
    assert [(problem.line, problem.message) for _, problem in found(files, "broken-content")] == [
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


def test_a_taken_id_is_a_problem_of_each_file_and_names_the_other() -> None:
    files = {"docs/a/tea.md": markdown(title="A"), "docs/b/Tea.md": markdown(title="B"), "docs/c.md": markdown()}
    assert [(path, problem.message, problem.hint) for path, problem in found(files, "id-collision")] == [
        (
            "docs/a/tea.md",
            "the id `tea` is taken: `docs/b/Tea.md` is a file of that name, too",
            "rename one of the files, or refer to this one by `docs-a-tea`",
        ),
        (
            "docs/b/Tea.md",
            "the id `tea` is taken: `docs/a/tea.md` is a file of that name, too",
            "rename one of the files, or refer to this one by `docs-b-tea`",
        ),
    ]


def test_front_pages_of_folders_share_their_name_without_harm() -> None:
    files = {"docs/a/index.md": markdown(title="A"), "docs/b/index.md": markdown(title="B")}
    assert found(files, "id-collision") == []


def test_problems_of_fields_are_passed_on() -> None:
    files = {"data/links/a.md": markdown(type="activity", title="A", author="Rosa", date="1.5.24", description=None)}
    assert {
        (problem.field, problem.code) for _, problem in ((f.path, f.problem) for f in validated(files).findings)
    } == {
        ("type", "unknown-type"),
        ("date", "bad-date"),
        ("description", "null-field"),
        ("url", "missing-field"),
    }


def test_findings_are_counted_most_severe_first() -> None:
    files = {"a.md": markdown("[x](y.md) [x](z.md)"), "b.md": b"---\na: b: c\n---\n"}
    groups = [(group.severity, group.code, len(group.findings)) for group in validated(files).groups()]
    assert groups[:2] == [("error", "malformed-frontmatter", 1), ("warning", "broken-link", 2)]
    assert [severity for severity, *_ in groups] == sorted((one for one, *_ in groups), key=SEVERITIES.index)


def test_hints_are_no_problems() -> None:
    tally = validated({"a.md": markdown("[x](y.md)", title="A"), "b.md": b"---\na: b: c\n---\n"}).tally
    assert (tally.errors, tally.warnings, tally.hints) == (1, 1, 2)
    assert (tally.problems, str(tally)) == (2, "2 problems (1 error, 1 warning), 2 hints")


def test_every_severity_is_declared_once() -> None:
    sources = [*(ROOT / "layers/core/commonplace/documents").rglob("*.py"), *PROBLEMS.parent.glob("*.py")]
    named = {code for source in sources for code in _PROBLEM.findall(source.read_text(encoding="utf-8"))}
    refused = {code for code, *_ in _SAID["refused"].values()}
    assert named | refused | {"unreadable-and-private"} == set(KINDS)


def test_a_file_that_is_too_large_or_hidden_is_reported_where_it_is_linked() -> None:
    body = "![map](maps/shore.png)\n![x](.obsidian/x.png)\n![ok](maps/ok.png)\n"
    files = {"a.md": markdown(body, title="A"), "maps/shore.png": b"", ".obsidian/x.png": b"", "maps/ok.png": b""}
    report = validate_tree(files, files.__getitem__, sizes={"maps/shore.png": 6_240_000, "maps/ok.png": 4_500_000})
    told = [(one.problem.line, one.problem.message) for one in report.of("warning")]
    assert told == [
        (5, "`maps/shore.png` has 6.2 MB, and no more than 4.5 MB are served"),
        (6, "`.obsidian/x.png` is in a folder whose name begins with a dot, and is not served"),
    ]
    assert report.attachments == ("maps/ok.png",)


@pytest.mark.parametrize(
    "path", [".hidden.md", "docs/.hidden.md", "docs/.Hidden.MD", "docs/.md", "..md", ".a.markdown"]
)
def test_a_file_whose_name_begins_with_a_dot_is_not_published_and_reported(path: str) -> None:
    files = {path: markdown(title="A"), "a.md": markdown(f"[h]({path})", title="A")}
    report = validated(files)
    assert set(report.published) == {"a.md"}
    ((where, problem),) = found(files, "excluded")
    assert (where, problem.message) == (path, "a file whose name begins with a dot is not read, whatever it says")
    assert [path for path, _ in found(files, "link-to-unpublished")] == ["a.md"]
    assert found({path: b"Text"}, "excluded") == []


@pytest.mark.parametrize("path", [".htpasswd", "files/.DS_Store", "files/.env.png"])
def test_a_file_whose_name_begins_with_a_dot_is_not_served(path: str) -> None:
    report = validated({"a.md": markdown(f"![x]({path})", title="A"), path: b""})
    assert report.attachments == ()
    assert [one.problem.message for one in report.findings if one.problem.code == "attachment-not-served"] == [
        f"the name of `{path}` begins with a dot, and it is not served"
    ]


def test_names_with_dots_elsewhere_or_underscores_are_published() -> None:
    files = {"_a.md": markdown(title="A"), "b.c.md": markdown(title="B"), "d../e.md": markdown(title="E")}
    assert set(validated(files).published) == set(files)


def test_one_name_or_a_list_of_names_is_right_where_a_page_says_who_chose_it() -> None:
    files = {"a.md": markdown(title="A", curator="Rosa Lind", harvester=["Ivo Brandt"], **COMPLETE)}
    assert validated(files).findings == ()


def test_folders_to_leave_out_can_be_chosen() -> None:
    files = {"drafts/a.md": markdown(title="A"), "secret/b.md": markdown(title="B")}
    report = validate_tree(files, files.__getitem__, Exclusions(["secret/"]))
    assert types_of(report.published.values()) == {"file": 1}
    assert [finding.path for finding in report.findings if finding.problem.code == "excluded"] == ["secret/b.md"]


PRICES = (
    "# Prices\n\n## Two words, really?\n\nA line ^block\n\n## Twice\n\n## Twice\n\n"
    "<a id='raw'></a>\n\nNote[^1]\n\n[^1]: x\n"
)


@pytest.mark.parametrize(
    "body",
    [
        "[[Prices#Nope]]",
        "![[Prices#Nope]]",
        "[[Prices#Prices#Nope]]",
        "[[Prices#^nope]]",
        "[[Prices#Nope|text]]",
        "[x](prices.md#nope)",
        "[x](prices.md#two-words)",
        "[x](<prices.md#No such>)",
        "[x](prices.md#twice-2)",
        "[[#Nope]]",
        "[[#^nope]]",
        "![[#Nope]]",
        "[x](#nope)",
        "![[gone.png]]",
        "![](gone.png)",
        "![[Gone]]",
        "![[pointer.png]]",
        "![](pointer.png)",
        "[the picture](pointer.png)",
    ],
)
def test_what_readers_see_broken_is_a_finding_of_one_kind_with_its_line(body: str) -> None:
    files = {
        "a.md": markdown(f"First line.\n\nThen {body} there.\n", title="A"),
        "prices.md": markdown(PRICES, title="Prices"),
        "pointer.png": POINTER,
    }
    ((path, problem),) = found(files, "broken-content")
    assert (path, problem.severity) == ("a.md", "warning")
    assert files["a.md"].decode().splitlines()[(problem.line or 0) - 1] == f"Then {body} there."
    assert problem.hint


@pytest.mark.parametrize(
    "body",
    [
        "[[Prices]]",
        "[[Prices#Prices]]",
        "[[Prices#Two words, really?]]",
        "[[Prices#two words really]]",
        "[[Prices#Prices#Two words, really?]]",
        "[[Prices#^block]]",
        "![[Prices#^block]]",
        "[x](prices.md#two-words-really)",
        "[x](prices.md#twice)",
        "[x](prices.md#twice-1)",
        "[x](prices.md#raw)",
        "[x](prices.md#user-content-twice)",
        "[x](prices.md?plain=1#L10-L12)",
        "[x](prices.md#fn1)",
        "[x](prices.md#)",
        "[x](prices.md#top)",
        "[x](#)",
        "[[#Here]]\n\n# Here",
        "[x](#own)\n\n<p id=own>",
        "[x](https://example.org/#nope)",
        "`[[Prices#Nope]]`",
        "![[there.png]]",
        "[pages](book.pdf#page=2)",
    ],
)
def test_what_leads_somewhere_is_no_finding(body: str) -> None:
    files = {
        "a.md": markdown(f"{body}\n", title="A"),
        "prices.md": markdown(PRICES, title="Prices"),
        "there.png": b"PNG",
        "book.pdf": b"PDF",
    }
    assert found(files, "broken-content") == []


CONFLICT = "<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> branch\n"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (CONFLICT, [3]),
        (f"Text.\n\n{CONFLICT}\n{CONFLICT}", [5, 11]),
        (CONFLICT.replace("\n", "\r\n"), [3]),
        ("<<<<<<< HEAD\nOurs.\n||||||| base\nOld.\n=======\nTheirs.\n>>>>>>> 1234567 (message)\n", [3]),
        ("<<<<<<< HEAD\nOurs.\n", [3]),
        ("Ours.\n=======\nTheirs.\n>>>>>>> branch\n", [6]),
        (f"```\n{CONFLICT}```\n", []),
        ("".join(f"    {line}\n" for line in CONFLICT.splitlines()), []),
        ("Heading\n=======\n\nText.\n", []),
        (">>>>>>> quoted seven deep\n", []),
        ("Write `<<<<<<< HEAD` in code.\n", []),
        ("<<<<<<<<<< ten\n", []),
    ],
)
def test_markers_of_a_merge_are_a_finding_outside_of_code(body: str, lines: list[int]) -> None:
    files = {"a.md": b"---\npublish: true\n---\n" + body.encode()}
    assert [(problem.line or 0) - 1 for _, problem in found(files, "broken-content")] == lines


def test_a_page_that_is_a_pointer_keeps_its_last_version() -> None:
    files = {"a.md": POINTER, "b.md": markdown("Text.\n", title="B")}
    ((path, problem),) = found(files, "broken-content")
    assert (path, problem.line) == ("a.md", 1)
    assert isinstance(judge(POINTER), Invalid)


def test_a_name_that_no_store_takes_is_a_finding_of_a_published_file_alone() -> None:
    files = {"a\nb.md": markdown("Text.\n", title="A"), "c\nd.md": b"---\npublish: false\n---\n"}
    ((path, _),) = found(files, "not-stored")
    assert path == "a\nb.md"
    assert validated(files).published == {}
