"""`commonplace reference`: what it says of a folder, and with which exit code."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from commonplace_local.cli.reference import app as reference_app
from commonplace_local.cli.reference import new_catalogue
from commonplace_local.errors import CommandError
from tests.reference_files import HELIOS, SAMPLE

GUIDE = {"id": "g", "type": "guide", "title": "G", "category": "c", "summary": "S.", "content": "T."}
DATED = GUIDE | {"lastUpdated": "2026-01-01"}
LIST = DATED | {"id": "cmd-list", "type": "command", "name": "helios users list"}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(reference_app, [str(argument) for argument in arguments])


def write(folder: Path, *entries: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "all.json").write_text(json.dumps(entries, indent=1), encoding="utf-8")
    return folder


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("folder", [HELIOS, SAMPLE])
def test_the_catalogues_of_this_repository_have_no_problem(folder: Path) -> None:
    result = run("validate", folder, "--strict")
    assert result.exit_code == 0, result.output
    assert result.output.endswith("It can be published.\n")


def test_an_error_ends_with_one_and_says_where_and_what_would_be_right(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", DATED | {"relatedIds": ["cmd-lst"]}, LIST)
    result = run("validate", folder)
    assert result.exit_code == 1
    first, *_, last = result.output.splitlines()
    assert first.startswith(f"{folder}/all.json:10: error: g: `relatedIds` names `cmd-lst`")
    assert first.endswith("Did you mean `cmd-list`?")
    assert "would not be published" in last


def test_warnings_end_with_one_only_when_strict(tmp_path: Path) -> None:
    folder = write(tmp_path, GUIDE)
    assert run("validate", folder).exit_code == 0
    assert run("validate", folder, "--strict").exit_code == 1


def test_a_folder_without_an_entry_would_not_be_published(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("---\ndraft: true\n---\n", encoding="utf-8")
    result = run("validate", tmp_path)
    assert result.exit_code == 1
    assert result.output.startswith("error: The folder contains no catalogue")


def test_problems_of_one_kind_are_shown_up_to_a_number_and_counted(tmp_path: Path) -> None:
    folder = write(tmp_path, *(DATED | {"id": f"g{number}", "relatedIds": ["nowhere"]} for number in range(50)))
    lines = run("validate", folder).output.splitlines()
    assert sum("names `nowhere`" in line for line in lines) == 20
    assert "    50  error    dangling-relation, 30 of them not shown: --json" in lines
    assert len(json.loads(run("validate", folder, "--json").output)["problems"]) == 50


def test_a_folder_that_holds_no_catalogue_is_not_searched(tmp_path: Path) -> None:
    error = run("search", "x", tmp_path).exception
    assert isinstance(error, CommandError)
    assert "reference init" in error.hint


def test_json_has_every_problem(tmp_path: Path) -> None:
    told = json.loads(run("validate", f"helios={write(tmp_path, DATED | {'type': 'x'})}", "--json").output)
    assert (told["catalogue"], told["publishable"]) == ("helios", False)
    assert told["counts"] == [{"severity": "error", "code": "unknown-type", "count": 1}]
    assert told["problems"][0] | {"hint": "", "message": ""} == {
        "code": "unknown-type",
        "severity": "error",
        "message": "",
        "hint": "",
        "path": "all.json",
        "line": 4,
        "entry": "g",
    }


def test_annotations_name_files_from_the_top_of_the_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    folder = write(tmp_path / "docs" / "ref", DATED | {"type": "x"})
    result = run("validate", folder, "--github")
    assert result.output.startswith("::error file=docs/ref/all.json,line=4,title=unknown-type::g: `type` is not a type")


def test_a_source_that_has_changed_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "helios"
    shutil.copytree(HELIOS, folder)
    source = folder / "sources" / "DeveloperConsole.tsx"
    source.write_text(source.read_text(encoding="utf-8") + "\n// changed\n", encoding="utf-8")
    told = json.loads(run("validate", folder, "--json").output)
    assert [one["code"] for one in told["problems"]] == ["stale-source"]


def test_sources_outside_of_the_repository_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("x", encoding="utf-8")
    folder = write(tmp_path / "repository", DATED | {"sourceHash": "0" * 64})
    git(folder, "init", "-q")
    rule = "generate: [{kind: openapi, source: ../secret.yaml, into: all.json}]"
    (folder / "catalogue.yaml").write_text(rule, encoding="utf-8")
    told = json.loads(run("validate", folder, "--json").output)
    assert [one["code"] for one in told["problems"]] == ["missing-source"]


def test_links_to_files_elsewhere_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(json.dumps([DATED | {"id": "secret"}]), encoding="utf-8")
    folder = write(tmp_path / "repository", DATED | {"sourceHash": "0" * 64, "source": "auto-generated:link.yaml"})
    git(folder, "init", "-q")
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (folder / "sources").mkdir()
    (folder / "sources" / "link.yaml").symlink_to(tmp_path / "secret.json")
    told = json.loads(run("validate", folder, "--json").output)
    assert (told["entries"], told["problems"]) == ({"guide": 1}, [])


def test_a_folder_is_compared_with_itself_at_a_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    folder = write(tmp_path / "docs", DATED, LIST)
    (folder / "guides").mkdir()
    (folder / "guides" / "é.md").write_text("---\nid: e\ncategory: c\n---\n# É\n\nText.\n", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    monkeypatch.chdir(tmp_path)
    assert run("diff", "HEAD:docs", "docs").output == "No differences.\n"
    new = run("diff", "--breaking", "HEAD:new", "docs")
    assert (new.exit_code, new.output.splitlines()[0]) == (0, "Added (3)")
    write(folder, DATED | {"title": "H"}, LIST | {"name": "helios people list"})
    result = run("diff", "HEAD:docs", "docs", "--breaking")
    assert result.exit_code == 1
    assert result.output == (
        "Renamed (1)\n  cmd-list (helios users list) -> cmd-list (helios people list)\n\n"
        "Changed (2)\n  cmd-list (helios people list): name, syntax\n  g (H): title\n\n"
        "Removed names (breaking) (1)\n  helios users list\n\n"
        "Keep an entry with the old name that says what it is `replacedBy`, or make it an alias.\n"
    )
    assert json.loads(run("diff", "HEAD:docs", "docs", "--json").output)["breaking"] is True
    assert run("diff", "HEAD:docs", "docs").exit_code == 0
    assert run("validate", "HEAD:docs").exit_code == 0
    monkeypatch.chdir(folder)
    for here in ("HEAD:.", "HEAD:./", "HEAD:docs/"):
        assert "3 entries (1 command, 2 guide)" in run("validate", here).output
    assert run("validate", "HEAD:./guides").output.startswith("HEAD:./guides/é.md:1: error: e: There is no `type`.")


@pytest.mark.parametrize("place", ["nowhere", "NOREV:docs", "HEAD:nowhere", "--output=/tmp/x:docs"])
def test_a_place_that_is_none_is_named(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path / "docs", DATED)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    monkeypatch.chdir(tmp_path)
    assert isinstance(run("diff", "docs", "--", place).exception, CommandError)


def test_half_a_catalogue_is_neither_compared_nor_searched(tmp_path: Path) -> None:
    folder = write(tmp_path, DATED | {"type": "x"})
    for arguments in (("diff", folder, folder), ("search", "x", folder)):
        error = run(*arguments).exception
        assert isinstance(error, CommandError)
        assert "validate" in error.hint


@pytest.mark.parametrize("words", [(), ("--words",)])
def test_a_search_answers_as_the_tools_would(words: tuple[str, ...]) -> None:
    told = json.loads(run("search", "get all users", HELIOS, "--json", *words).output)
    assert told["results"][0]["id"] == "cmd-gw-users-list"
    assert ("only words were compared" in " ".join(told.get("hints", []))) is bool(words)


def test_a_command_that_does_not_exist_finds_nothing_and_suggests() -> None:
    result = run("search", "helios get-users", HELIOS)
    assert result.exit_code == 0
    assert "`helios gw users list`" in result.output
    assert json.loads(run("search", "helios get-users", HELIOS, "--json").output)["results"] == []


def test_a_search_tells_what_an_old_name_has_become() -> None:
    assert "`helios gw list-users` was replaced by" in run("search", "helios gw list-users", HELIOS).output


def test_several_folders_answer_together_under_names_of_their_own(tmp_path: Path) -> None:
    kit = write(tmp_path / "kit" / "docs" / "reference", LIST | {"id": "cmd-kit", "name": "kit users list"})
    other = f"console={HELIOS}"

    for name, id in (("kit users list", "cmd-kit"), ("helios gw users list", "cmd-gw-users-list")):
        told = json.loads(run("search", name, kit, other, "--json").output)["results"]
        assert [one["id"] for one in told] == [id]
    assert json.loads(run("show", "kit users list", other, kit, "--json").output)["catalogue"] == "kit"
    assert isinstance(run("search", "x", HELIOS, HELIOS).exception, CommandError)
    assert isinstance(run("show", "kit users list", other, kit, "--catalogue", "console").exception, CommandError)
    (kit / "catalogue.yaml").write_text("title: Kit\nversion: 2.10\n", encoding="utf-8")
    assert run("show", "kit users list", other, kit, "--catalogue", "Kit", "--version", "2.10").exit_code == 0
    error = run("show", "kit users list", other, kit, "--version", "2.1").exception
    assert isinstance(error, CommandError) and "2.10" in error.hint


def test_show_gives_a_command_or_an_endpoint_and_the_file_that_it_is_in() -> None:
    told = json.loads(run("show", "helios gw users list", HELIOS, "--json").output)
    assert told["sourceUrl"] == (HELIOS / "commands.json").as_uri()
    assert run("show", "helios gw users list", HELIOS).output.startswith("```\nhelios gw users list")
    assert "`GET /api/v1/users" in run("search", "users", HELIOS, "--type", "api", "--words").output
    assert "GET /api/v1/users/{id}" in run("show", "https://helios.example/api/v1/users/42", HELIOS).output


def test_show_pages_through_a_guide(tmp_path: Path) -> None:
    long = "\n\n".join(f"## Step {number}\n\n{'Count what lives there. ' * 20}" for number in range(20))
    folder = write(tmp_path / "kit", DATED | {"title": "Long walk", "content": long})

    pages = [run("show", "long walk", folder, "--page", str(number), "--max-tokens", "500") for number in (1, 2)]
    assert [one.exit_code for one in pages] == [0, 0]
    assert "Step 0" in pages[0].output
    assert "Step 19" in run("show", "Long walk", folder, "--max-tokens", "8000").output
    assert pages[0].output != pages[1].output


@pytest.mark.parametrize(
    ("name", "nearest"), [("helios gw user list", "helios gw users list"), ("GET /api/v1/user", "GET /api/v1/users")]
)
def test_to_show_what_does_not_exist_is_an_error_that_names_what_does(name: str, nearest: str) -> None:
    error = run("show", name, HELIOS).exception
    assert isinstance(error, CommandError)
    assert f"`{nearest}`" in error.hint


def test_a_new_catalogue_begins_without_a_problem(tmp_path: Path) -> None:
    folder = tmp_path / "reference"
    assert run("init", folder, "--title", 'A "new": one').exit_code == 0
    result = run("validate", folder, "--strict")
    assert result.exit_code == 0, result.output
    assert result.output.startswith('A "new": one: 1 entry (')
    assert isinstance(run("init", folder).exception, CommandError)


def test_a_new_catalogue_is_made_of_what_there_is_in_one_command(tmp_path: Path) -> None:
    pools = {"$ref": "paths/pools.json"}
    api = write(tmp_path, DATED) / "tides: v1.json"
    document = {"openapi": "3.0.3", "info": {"title": "Tides: the API"}, "paths": {"/pools": pools}}
    api.write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "paths").mkdir()
    (tmp_path / "paths" / "pools.json").write_text('{"get": {"summary": "Lists pools."}}', encoding="utf-8")
    page = tmp_path / "tides" / "reference" / "sources" / "tides.txt"
    page.parent.mkdir(parents=True)
    page.write_text("Reads tides.\n\nUsage: tides [OPTIONS]\n\nOptions:\n  --json  As JSON\n", encoding="utf-8")
    folder = page.parent.parent

    sources = (f"openapi={api}", f"openapi={api}", "help=sources/tides.txt")
    result = run("init", folder, *(word for one in sources for word in ("--from", one)))

    assert result.exit_code == 0, result.output
    assert (folder / "sources" / "tides: v1.json").read_bytes() == api.read_bytes()
    assert (folder / "sources" / "paths" / "pools.json").is_file()
    assert not (folder / "guides").exists()
    checked = run("validate", folder)
    assert "Tides: the API: 3 entries (2 api, 1 command)" in checked.output
    assert "duplicate-name" in checked.output and "duplicate-id" not in checked.output
    assert run("generate", folder, "--check").exit_code == 0


def test_a_source_inside_the_repository_is_not_copied(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    document = {"openapi": "3.0.3", "info": {}, "paths": {"/pools": {"get": {"summary": "Lists pools."}}}}
    (tmp_path / "api.json").write_text(json.dumps(document), encoding="utf-8")

    result = run("init", tmp_path / "docs" / "reference", "--from", f"openapi={tmp_path / 'api.json'}")

    assert result.exit_code == 0, result.output
    assert not (tmp_path / "docs" / "reference" / "sources").exists()
    assert "source: ../../api.json" in (tmp_path / "docs" / "reference" / "catalogue.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("source", ["openapi.yaml", "swagger=x.yaml", "openapi=nowhere.yaml", "help='"])
def test_what_nothing_can_be_generated_from_is_refused_before_anything_is_written(source: str, tmp_path: Path) -> None:
    error = run("init", tmp_path / "new", "--from", source).exception
    assert isinstance(error, CommandError)
    assert error.hint
    assert not (tmp_path / "new").exists()


def test_what_cannot_all_be_read_leaves_nothing_behind(tmp_path: Path) -> None:
    sources = tmp_path / "elsewhere"
    sources.mkdir()
    fine = {"openapi": "3.0.3", "info": {}, "paths": {"/pools": {"get": {"summary": "Lists pools."}}}}
    (sources / "fine.json").write_text(json.dumps(fine), encoding="utf-8")
    (sources / "broken.json").write_text('{"swagger": "1.2", "paths": {}}', encoding="utf-8")
    folder = tmp_path / "product" / "docs" / "reference"
    (tmp_path / "product").mkdir()

    named = [word for name in ("fine", "broken") for word in ("--from", f"openapi={sources / name}.json")]
    error = run("init", folder, *named).exception

    assert isinstance(error, CommandError) and "broken.json" in error.hint
    assert list((tmp_path / "product").iterdir()) == []
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "notes.md").write_text("Notes", encoding="utf-8")
    run("init", kept, *named)
    assert [one.name for one in kept.rglob("*")] == ["notes.md"]


def test_a_large_api_document_becomes_a_file_for_each_tag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_catalogue, "MAX_TOGETHER", 3)
    tags = {"/pools": ["pools"], "/visits": ["visits"], "/counts": ["visits", "counts"], "/health": []}
    paths = {path: {"get": {"summary": f"Reads {path}", "tags": given}} for path, given in tags.items()}
    (tmp_path / "api.json").write_text(json.dumps({"openapi": "3.0.3", "info": {}, "paths": paths}), encoding="utf-8")
    folder = tmp_path / "reference"

    result = run("init", folder, "--from", f"openapi={tmp_path / 'api.json'}")

    assert result.exit_code == 0, result.output
    found = {one.stem: json.loads(one.read_text(encoding="utf-8"))["entries"] for one in folder.glob("api/*.json")}
    assert {name: sorted(one["pathTemplate"] for one in entries) for name, entries in found.items()} == {
        "counts": ["/counts", "/visits"],
        "other": ["/health"],
        "pools": ["/pools"],
    }
    assert run("validate", folder).exit_code == 0


BOATS = """\
import click

@click.group()
def app(): pass

@app.command()
@click.argument("name")
def add(name): "Adds a boat."

@app.command(context_settings={"ignore_unknown_options": True})
def run(): "Runs another program."

if __name__ == "__main__":
    app()
"""


@pytest.mark.parametrize("source", ["boats.cli:app", "{}/src/boats/cli.py:app"])
def test_a_program_of_the_repository_need_not_be_installed_and_is_called_as_its_script(
    source: str, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "src" / "boats").mkdir(parents=True)
    (tmp_path / "src" / "boats" / "cli.py").write_text(BOATS, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project.scripts]\nboat = "boats.cli:app"\n', encoding="utf-8")

    result = run("init", tmp_path / "reference", "--from", f"click={source.format(tmp_path)}")

    assert result.exit_code == 0, result.output
    told = json.loads((tmp_path / "reference" / "commands.json").read_text(encoding="utf-8"))["entries"]
    assert [(one["name"], one["syntax"]) for one in told] == [("boat add", "boat add <name>"), ("boat run", "boat run")]
    assert "parameters" not in told[1]  # it takes what nobody knows


def test_a_program_is_run_from_where_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "bin" / "boat"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\n{BOATS}", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)

    result = run("init", "docs/reference", "--from", "help=bin/boat")

    assert result.exit_code == 0, result.output
    told = json.loads((tmp_path / "docs" / "reference" / "boat.json").read_text(encoding="utf-8"))["entries"]
    assert {"boat add", "boat run"} <= {one["name"] for one in told}


def test_where_nothing_can_be_read_no_catalogue_is_begun(tmp_path: Path) -> None:
    error = run("init", tmp_path / "new", "--from", "typer=no.such.module:app").exception

    assert isinstance(error, CommandError)
    assert not (tmp_path / "new" / "catalogue.yaml").exists()
