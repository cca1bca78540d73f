"""`commonplace why`: files, addresses, exit codes."""

import json
import subprocess
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from commonplace_local.cli.why import why as why_command
from commonplace_local.errors import CommandError
from commonplace_local.knowledge_folder import SAMPLE
from tests import mistakes

app = typer.Typer()
app.command()(why_command)


def ask(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kb")
    mistakes.write(folder)
    (folder / ".gitignore").write_text("private/\n")
    (folder / "plan.pdf").write_bytes(b"x")
    (folder / "private").mkdir()
    (folder / "private" / "a.md").write_text("---\npublish: true\n---\n")
    (folder / "link.md").symlink_to("index.md")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.mark.parametrize("path", [*mistakes.MISTAKES])
def test_each_mistake_is_named_with_line_and_cure(folder: Path, path: str) -> None:
    line, code, cure = mistakes.MISTAKES[path]
    found = ask(folder / path, "--json")
    (judgement,) = json.loads(found.output)
    told = [*judgement["reasons"], *judgement["findings"]]
    assert [(one["line"], one["code"], one["hint"]) for one in told] == [(line, code, cure)]
    assert (found.exit_code, judgement["published"]) == ((0, True) if path in mistakes.PUBLISHED else (1, False))
    assert cure in ask(folder / path).output


def test_a_published_file_ends_well(folder: Path) -> None:
    found = ask(folder / "index.md")
    assert (found.exit_code, found.output) == (0, "index.md is published as file/index\n")


@pytest.mark.parametrize(("path", "shown"), [("notes/publish-yes.md", False), ("silent.md", True)])
def test_it_says_that_everything_would_show_a_page(tmp_path: Path, path: str, shown: bool) -> None:
    mistakes.write(tmp_path)
    (tmp_path / "silent.md").write_text("# Nothing about publishing\n")
    found = ask(tmp_path / path)
    assert (found.exit_code, "It is shown by `commonplace dev --everything`" in found.output) == (1, shown)


def test_what_is_written_stands_beside_the_cure(folder: Path) -> None:
    assert ask(folder / "notes/publish-in-typographic-quotes.md").output.splitlines() == [
        "notes/publish-in-typographic-quotes.md is not published:",
        "  line 5: `true` stands in typographic quotes, which makes it a text",
        "    found: publish: “true”",
        "    fix:   write `publish: true`",
    ]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("private/a.md", "Git ignores the file"),
        ("link.md", "the file is a symbolic link"),
        ("attachments/panorama.png", "has 4.6 MB"),
        ("plan.pdf", "no published document shows or links the file"),
    ],
)
def test_files_that_no_sync_sees_are_explained_too(folder: Path, path: str, message: str) -> None:
    found = ask(folder / path)
    assert found.exit_code == 1
    assert message in found.output


@pytest.mark.parametrize(
    "address",
    [
        "https://kb.example.org/d/file/publish-yes",
        "http://127.0.0.1:8787/api/v1/entries/file/publish-yes?format=html",
        "https://github.com/tidewatch/kb/blob/main/notes/publish-yes.md#L3",
        "https://github.com/tidewatch/kb/edit/feature/x/notes/publish-yes.md",
        "https://raw.githubusercontent.com/tidewatch/kb/refs/heads/main/notes/publish-yes.md",
        "https://kb.example.org/api/v1/raw/notes/publish-yes.md",
        "file/publish-yes",
    ],
)
def test_an_address_is_resolved_to_its_file(folder: Path, address: str) -> None:
    found = ask(address, "--root", folder)
    assert found.exit_code == 1, found.output
    assert found.output.startswith("notes/publish-yes.md is not published:")


def test_a_published_page_is_found_by_its_address() -> None:
    found = ask("https://kb.example.org/d/pattern/two-pairs-of-eyes", "--root", SAMPLE)
    assert found.output.startswith("data/resources/patterns/two-pairs-of-eyes.md is published as pattern/")
    assert ask("/api/v1/attachments/lantern-cove.png", "--root", SAMPLE).output.startswith("attachments/lantern-cove")


def test_what_is_not_there_is_refused_with_the_nearest(folder: Path) -> None:
    found = ask("notes/publish-yess.md", "--root", folder)
    assert isinstance(found.exception, CommandError)
    assert "notes/publish-yes.md" in found.exception.hint


def test_a_folder_is_not_one_file(folder: Path) -> None:
    found = ask(folder)
    assert isinstance(found.exception, CommandError) and "commonplace validate" in found.exception.hint
