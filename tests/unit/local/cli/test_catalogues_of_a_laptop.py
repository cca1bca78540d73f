"""Which folders `commonplace dev --catalogue` serves, and how a catalogue's report reads."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.reference.model import Problem
from commonplace.reference.settings import parse_catalogues
from commonplace.reference.sync.plan import CatalogueReport
from commonplace_local.cli.dev import catalogues_of
from commonplace_local.dev.screen import catalogue_lines
from commonplace_local.dev.source import (
    CatalogueFolder,
    Source,
    catalogue,
    catalogue_environment,
    clone,
    plain_folder,
    repositories,
)
from commonplace_local.errors import CommandError
from commonplace_local.reports import catalogue_line, catalogue_text
from tests.integration.repositories import Clone, document


@pytest.fixture
def garden(tmp_path: Path) -> Clone:
    user = Clone(tmp_path / "garden")
    user.write("index.md", document("Home"))
    user.write("docs/reference/commands.json", "[]")
    user.commit()
    return user


@pytest.fixture
def sample(tmp_path: Path) -> Source:
    folder = tmp_path / "sample"
    folder.mkdir()
    return plain_folder(folder, "local/knowledge-base")


def test_a_folder_that_is_in_no_clone_is_a_repository_of_its_own(tmp_path: Path, sample: Source) -> None:
    folder = tmp_path / "My Tools"
    folder.mkdir()

    found = catalogue(str(folder), sample)

    assert (found.name, found.folder, found.source.name, found.source.work_tree) == (
        "my-tools",
        "",
        "local/my-tools",
        folder,
    )


def test_a_clone_is_read_whole_and_a_folder_in_it_alone(garden: Clone, sample: Source) -> None:
    whole = catalogue(f"tools={garden.folder}", sample)
    part = catalogue(str(garden.folder / "docs" / "reference"), sample)

    assert (whole.name, whole.folder, whole.source) == ("tools", "", clone(garden.folder))
    assert (part.name, part.folder, part.source) == ("garden", "docs/reference", clone(garden.folder))
    assert repositories(sample, [whole, part]) == [sample, clone(garden.folder)]


def test_a_folder_of_the_knowledge_base_follows_its_branch(garden: Clone) -> None:
    garden.git("branch", "v2")
    knowledge_base = clone(garden.folder, "v2")

    found = catalogue(str(garden.folder / "docs" / "reference"), knowledge_base)

    assert found.source is knowledge_base
    assert found.told == {
        "name": "garden",
        "repository": "local/garden",
        "branch": "v2",
        "folder": "docs/reference",
    }
    assert repositories(knowledge_base, [found]) == [knowledge_base]


def test_functions_are_told_what_they_can_read(garden: Clone, sample: Source) -> None:
    found = catalogue(str(garden.folder / "docs" / "reference"), sample)
    told = catalogue_environment([found])["CATALOGUES"]

    (source,) = parse_catalogues(told, "other/default", "other") or ()
    assert (source.repository, source.branch, source.folder) == ("local/garden", "main", "docs/reference")
    assert catalogue_environment([]) == {}


def test_what_is_no_folder_is_refused(tmp_path: Path, sample: Source) -> None:
    with pytest.raises(CommandError, match="is not a folder"):
        catalogue(str(tmp_path / "nowhere"), sample)


def test_a_folder_whose_name_names_nothing_needs_one(tmp_path: Path, sample: Source) -> None:
    folder = tmp_path / "2024"
    folder.mkdir()

    with pytest.raises(CommandError, match="needs a name"):
        catalogue(str(folder), sample)
    assert catalogue(f"year={folder}", sample).name == "year"


def test_two_of_one_name_are_refused(tmp_path: Path, sample: Source) -> None:
    folders = [tmp_path / "a" / "tools", tmp_path / "b" / "tools"]
    for folder in folders:
        folder.mkdir(parents=True)
    one, other = (catalogue(str(folder), sample) for folder in folders)

    with pytest.raises(CommandError, match="Two catalogues have the name tools"):
        repositories(sample, [one, other])
    with pytest.raises(CommandError, match="are both clones of local/tools"):
        repositories(sample, [one, CatalogueFolder("others", other.source)])
    many = [CatalogueFolder(f"c{n}", one.source) for n in range(11)]
    with pytest.raises(CommandError, match="These are 11 catalogues"):
        repositories(sample, many)


REPORT = CatalogueReport(
    catalogue="tools",
    status="published",
    run="tools-reconcile-1",
    repository="local/tools",
    branch="main",
    folder="cli",
    commit_sha="a" * 40,
    published_commit="a" * 40,
    generation=3,
    finished_at=datetime(2026, 1, 1, tzinfo=UTC),
    entries=3,
    by_type={"command": 2, "guide": 1},
    added=[f"e{n}" for n in range(60)],
)
WRONG = Problem(
    code="duplicate-id", severity="error", message="It is there twice.", hint="Rename it.", path="a.json", line=3
)
ODD = Problem(code="empty-content", severity="warning", message="It says nothing.", entry="list")


def test_a_line_says_what_answers_and_how_the_head_stands() -> None:
    assert catalogue_line("tools", None) == "Catalogue tools: no run has finished yet"
    assert catalogue_line("tools", REPORT) == (
        f"Catalogue tools: published; 3 entries (2 command, 1 guide) of commit {'a' * 12}"
    )
    refused = REPORT.model_copy(update={"status": "refused", "problems": [WRONG, ODD], "published_commit": None})
    assert catalogue_line("tools", refused) == ("Catalogue tools: refused, 1 error, 1 warning; nothing is published")
    failed = REPORT.model_copy(update={"status": "failed", "error": "UntrustedTree"})
    assert "the run failed: UntrustedTree, the branch is empty" in catalogue_line("tools", failed)


def test_a_report_names_every_problem_and_counts_what_it_does_not_list() -> None:
    text = catalogue_text(REPORT.model_copy(update={"status": "refused", "problems": [WRONG, ODD]}))

    assert "## Errors (1)\n- duplicate-id: a.json:3: It is there twice. Rename it.\n" in text
    assert "## Warnings (1)\n- empty-content: It says nothing. (list)\n" in text
    assert "## Added (60)" in text and "- ... and 10 more" in text
    assert "local/tools, branch main, folder cli" in text


def test_the_screen_shows_errors_and_only_in_its_verbose_form_the_rest() -> None:
    report = REPORT.model_copy(update={"status": "refused", "problems": [WRONG] * 30 + [ODD]})

    lines = list(catalogue_lines("tools", report))

    assert len(lines) == 22
    assert lines[-1] == "  ... and 10 more: commonplace sync report --source tools"
    assert len(list(catalogue_lines("tools", report.model_copy(update={"problems": [WRONG, ODD]}), verbose=True))) == 3
    assert json.loads(report.to_json())["byType"] == {"command": 2, "guide": 1}


def test_files_open_in_their_folder_else_on_github(garden: Clone) -> None:
    garden.git("branch", "v2")
    assert clone(garden.folder).url == garden.folder.as_uri()
    assert clone(garden.folder, "v2").url is None

    garden.git("remote", "add", "origin", "git@github.com:example/garden.git")
    assert clone(garden.folder).url == garden.folder.as_uri()
    assert clone(garden.folder, "v2").url == "https://github.com/example/garden"


def test_the_sample_is_not_mixed_with_catalogues_of_the_operators_own(garden: Clone, sample: Source) -> None:
    mine = [f"mine={garden.folder / 'docs'}", f"other={garden.folder / 'docs' / 'reference'}"]

    assert [one.name for one in catalogues_of(sample, (), sample=True)] == ["tidebook"]
    assert [one.name for one in catalogues_of(sample, mine, sample=True)] == ["mine", "other"]
    assert catalogues_of(clone(garden.folder), (), sample=False) == []
