"""`commonplace validate`: output, exit codes, and names read as they are."""

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from commonplace_local.cli.validate import validate as validate_command
from commonplace_local.files import list_files
from tests.unit.documents.content.files import markdown

app = typer.Typer()
app.command()(validate_command)

GOOD = markdown(title="A", description="B", date="2024-05-01")
BROKEN = b"---\ntitle: A: B\npublish: true\n---\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write(root: Path, **files: bytes) -> None:
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def test_a_clean_folder_passes(tmp_path: Path) -> None:
    write(tmp_path, notes__a_md=GOOD)
    result = run(tmp_path)
    assert result.exit_code == 0
    assert result.output.splitlines() == ["Found no problems, no hints", "1 published (1 file), 0 not published"]


def test_a_malformed_file_fails_with_its_place(tmp_path: Path) -> None:
    write(tmp_path, notes__a_md=BROKEN)
    result = run(tmp_path)
    assert result.exit_code == 1
    assert result.output.splitlines()[0] == (
        "notes/a.md:2:9: error: the frontmatter is not valid YAML (put quotes around a value that contains `: `)"
    )
    assert "Found 1 problem (1 error), no hints" in result.output


def test_warnings_fail_only_when_strict(tmp_path: Path) -> None:
    write(tmp_path, a_md=GOOD + b"[x](gone.md)\n")
    assert run(tmp_path).exit_code == 0
    strict = run(tmp_path, "--strict")
    assert strict.exit_code == 1
    assert strict.output.splitlines()[0] == "a.md:8: warning: there is no document or file `gone.md` (correct the path)"


def test_hints_are_a_line_for_each_kind_and_listed_on_request(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path, **{f"{number}_md": markdown(title="A", description="B")})
    brief = run(tmp_path, "--strict")
    assert brief.exit_code == 0
    assert brief.output.splitlines()[1:4] == [
        "Hints, not counted as problems:",
        "hint: a document has no date, 5 times (missing-date): 0.md, 1.md, 2.md and 2 more",
        "",
    ]
    assert "Found no problems, 5 hints" in brief.output
    assert "4.md:1: hint: the document has no date (write `date: YYYY-MM-DD`)" in run(tmp_path, "--all").output


def test_many_findings_of_one_kind_are_a_count_and_examples(tmp_path: Path) -> None:
    write(tmp_path, a_md=GOOD + b"[x](gone.md)\n" * 12)
    write(tmp_path, b_md=GOOD + b"".join(b"[x](%d.md)\n" % number for number in range(4)))
    assert run(tmp_path).output.splitlines()[:5] == [
        "warning: a link leads nowhere, 16 times (broken-link):",
        "  a.md:8, and 11 more places: there is no document or file `gone.md` (correct the path)",
        "  b.md:8: there is no document or file `0.md` (correct the path)",
        "  b.md:9: there is no document or file `1.md` (correct the path)",
        "  ... and 2 more (--all)",
    ]
    assert run(tmp_path, "--all").output.count("a.md:") == 12


def test_a_folder_without_markdown_is_told_what_to_add(tmp_path: Path) -> None:
    write(tmp_path, **{"plan.txt": b"Text"})
    assert "There is no Markdown in" in run(tmp_path).output


def test_json_holds_every_finding(tmp_path: Path) -> None:
    write(tmp_path, a_md=BROKEN, b_md=markdown(title="A", description="B"))
    result = run(tmp_path, "--json")
    report = json.loads(result.output)
    assert result.exit_code == 1
    assert report["summary"] == {
        "problems": 1,
        "errors": 1,
        "warnings": 0,
        "hints": 1,
        "published": {"file": 1},
        "skipped": {"the frontmatter is not valid YAML": 1},
        "counts": [
            {"severity": "error", "code": "malformed-frontmatter", "count": 1},
            {"severity": "hint", "code": "missing-date", "count": 1},
        ],
    }
    assert [(row["path"], row["line"], row["column"], row["code"]) for row in report["findings"]] == [
        ("a.md", 2, 9, "malformed-frontmatter"),
        ("b.md", 1, None, "missing-date"),
    ]


def test_annotations_of_a_workflow_are_escaped(tmp_path: Path) -> None:
    write(tmp_path, **{"odd, name: 100%_md": GOOD + b"[x](100%25,: gone.md)\n"})
    assert run(tmp_path, "--github").output.splitlines() == [
        "::warning file=odd%2C name%3A 100%25.md,line=8,title=broken-link"
        "::there is no document or file `100%25,: gone.md` (correct the path)"
    ]


def test_annotations_name_files_from_the_root_of_the_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, kb__a_md=BROKEN)
    assert run(tmp_path / "kb", "--github").output.startswith("::error file=kb/a.md,line=2,col=9,title=malformed-")


def test_in_a_work_tree_ignored_and_deleted_files_do_not_count(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, **{".gitignore": b"ignored/\n"}, ignored__a_md=BROKEN, tracked_md=GOOD, gone_md=GOOD, new_md=GOOD)
    git(tmp_path, "add", "tracked.md", "gone.md")
    (tmp_path / "gone.md").unlink()
    assert sorted(list_files(tmp_path)) == [".gitignore", "new.md", "tracked.md"]


def test_outside_a_work_tree_every_file_counts(tmp_path: Path) -> None:
    write(tmp_path, b__c_md=GOOD, a_md=GOOD)
    assert list_files(tmp_path) == ["a.md", "b/c.md"]


def test_symbolic_links_are_no_content(tmp_path: Path) -> None:
    write(tmp_path, a_md=GOOD)
    (tmp_path / "link.md").symlink_to("a.md")
    assert list_files(tmp_path) == ["a.md"]


@pytest.mark.parametrize("in_work_tree", [True, False])
def test_names_are_read_as_they_are(tmp_path: Path, in_work_tree: bool) -> None:
    names = ["⬜️ plan + notes (old) .md", 'quo"te.md', "cafe\u0301.md", "line\nbreak.md"]
    for name in names:
        (tmp_path / name).write_bytes(BROKEN)
    with suppress(OSError):  # some file systems take UTF-8 only
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_bytes(BROKEN)
    taken = list(tmp_path.iterdir())
    if in_work_tree:
        git(tmp_path, "init", "-q")
    result = run(tmp_path)
    assert result.exit_code == 1
    lines = [line for line in result.output.splitlines() if ":2:9: error" in line]
    assert len(lines) == len(taken) >= 4
    assert any(line.startswith("line\\nbreak.md:2:9") for line in lines)
    assert any(line.startswith("caf\\udce9.md:2:9") for line in lines) or len(taken) == 4


def test_one_file_is_checked_within_its_tree(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, notes__a_md=GOOD + b"[b](data/b.md) [c](gone.md)\n", data__b_md=GOOD, data__c_md=BROKEN)
    result = run(tmp_path / "notes" / "a.md")
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "notes/a.md is published as file/a",
        "Problems in this file:",
        "  line 8: warning: there is no document or file `gone.md` (correct the path)",
    ]


def test_a_folder_is_checked_within_its_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, notes__a_md=GOOD + b"[b](data/b.md) [c](gone.md)\n", data__b_md=GOOD, data__c_md=BROKEN)
    result = run(tmp_path / "notes")
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "notes/a.md:8: warning: there is no document or file `gone.md` (correct the path)",
        "",
        "Found 1 problem (1 warning), no hints",
        "1 published (1 file), 0 not published",
    ]


def test_a_file_that_is_not_published_fails(tmp_path: Path) -> None:
    write(tmp_path, a_md=b"---\npublish: false\n---\n")
    assert run(tmp_path).exit_code == 0
    named = run(tmp_path / "a.md")
    assert named.exit_code == 1
    assert named.output.splitlines() == [
        "a.md is not published:",
        "  line 2: it says `publish: false`",
        "    found: publish: false",
        "    fix:   write `publish: true`",
    ]


def test_other_folders_can_be_left_out(tmp_path: Path) -> None:
    write(tmp_path, private__a_md=BROKEN, drafts__b_md=GOOD)
    result = run(tmp_path, "--exclude", "private/")
    assert result.exit_code == 0
    assert "1 published" in result.output


def test_a_path_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    assert run(tmp_path / "nowhere").exit_code == 2
