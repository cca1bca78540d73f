"""What docs/write/write-content.md says of types, fields and folders is what the code does; its commands answer so."""

import re

import pytest
import yaml
from typer.testing import CliRunner

from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.content.paths import DEFAULT_EXCLUDES
from commonplace_local import cli
from commonplace_local.cli.init import WORKFLOW, contents
from tests.unit.docs.pages import ROOT, blocks, rows, section

PAGE = ROOT / "docs" / "write" / "write-content.md"
NAME = re.compile(r"`([^`]+)`")
TYPES = section(PAGE, "Types")
EXCLUDED = {pattern.removeprefix("**/").rstrip("/") for pattern in DEFAULT_EXCLUDES if not pattern.startswith("**/.")}
LEAVES = {name for name, spec in ONTOLOGY.types.items() if not spec.abstract}


def test_every_type_is_listed_with_its_folders() -> None:
    listed = {NAME.findall(row[0])[0]: row[2:] for row in rows(TYPES) if len(row) == 4}
    assert set(listed) == LEAVES
    for name, cells in listed.items():
        folders = {folder.rstrip("/") for folder in NAME.findall(" ".join(cells)) if folder.endswith("/")}
        assert {folder for folder in folders if ONTOLOGY.type_of_path(f"{folder}/a.md") != name} == set()
        assert folders | EXCLUDED >= set(ONTOLOGY.types[name].prefixes)


def test_every_parent_is_listed_with_its_children() -> None:
    listed = {NAME.findall(row[0])[0]: set(NAME.findall(row[1])) for row in rows(TYPES) if len(row) == 2}
    abstract = {name for name, spec in ONTOLOGY.types.items() if spec.abstract}
    assert listed == {name: set(ONTOLOGY.children(name)) for name in abstract}


def test_a_type_has_the_fields_that_are_listed() -> None:
    common: list[str] = []
    own: list[tuple[str, str]] = []
    for first, *others in rows(section(PAGE, "Fields")):
        if len(others) == 2:
            common += NAME.findall(first)
        elif others[0].startswith("`"):
            own += [(NAME.findall(first)[0], name) for name in NAME.findall(re.sub(r"\([^)]*\)", "", others[0]))]
    assert len(common) > 10 and len(own) > 20
    assert [name for name in common if ONTOLOGY.field("file", name) is None] == []
    assert [(of, name) for of, name in own if ONTOLOGY.field(of, name) is None] == []


def test_the_folders_that_are_never_read_are_the_default() -> None:
    text = " ".join(token.content for token in section(PAGE, "Folders that are never read"))
    assert {folder.rstrip("/") for folder in re.findall(r"`([a-z_]+/)`", text)} == EXCLUDED


@pytest.mark.parametrize("marker", [" is not published:", ": warning: "])
def test_a_command_answers_as_the_page_prints(marker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (shown,) = (block.text for block in blocks(PAGE, "text") if marker in block.text)
    why = "samples/knowledge-base/docs/saltmarsh-school/teacher-notes.md"
    command = ["why", why] if "is not published" in marker else ["validate", "samples/knowledge-base"]
    answer = CliRunner().invoke(cli.app, command)
    assert shown in answer.stdout
    assert answer.exit_code == (1 if command[0] == "why" else 0)


def test_the_workflow_that_is_shown_does_what_the_one_of_init_does() -> None:
    (shown,) = (yaml.safe_load(block.text) for block in blocks(PAGE, "yaml") if "jobs:" in block.text)
    written = yaml.safe_load(contents()[WORKFLOW])
    assert shown["jobs"] == written["jobs"] and shown["permissions"] == written["permissions"]
