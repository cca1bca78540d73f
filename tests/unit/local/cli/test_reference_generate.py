"""`commonplace reference generate`: files that are written whole, kept as they are, or told to be stale."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from commonplace_local import cli

CATALOGUE = "generate:\n  - {kind: openapi, source: sources/tides.json, into: api.json}\n"


def document(*paths: str) -> dict[str, Any]:
    fine = {"responses": {"200": {"description": "Fine"}}}
    return {"openapi": "3.0.3", "info": {}, "paths": {one: {"get": fine} for one in paths}}


def write(folder: Path, *paths: str) -> None:
    (folder / "sources" / "tides.json").write_text(json.dumps(document(*paths)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue whose one source has two operations."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1772366400")
    found = tmp_path / "catalogue"
    (found / "sources").mkdir(parents=True)
    (found / "catalogue.yaml").write_text(CATALOGUE)
    write(found, "/pools", "/visits")
    return found


def run(*words: str) -> Result:
    return CliRunner().invoke(cli.app, ["reference", "generate", *words])


def entries(folder: Path) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in json.loads((folder / "api.json").read_text())["entries"]}


def test_a_source_becomes_a_file_of_entries(folder: Path) -> None:
    done = run(str(folder))
    assert done.exit_code == 0, done.output
    assert "api.json: 2 entries from sources/tides.json, written (2 new, 0 changed, 0 removed)." in done.output
    found = entries(folder)["api-get-pools"]
    assert found["source"] == "auto-generated:tides.json"
    assert found["lastUpdated"] == "2026-03-01T12:00:00Z"
    assert len(found["sourceHash"]) == 64


def test_what_is_up_to_date_is_left_as_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(str(folder))
    before = (folder / "api.json").read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    assert "unchanged" in run(str(folder)).output
    assert (folder / "api.json").read_bytes() == before


def test_a_date_changes_only_with_the_entry_that_it_dates(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(str(folder))
    before = entries(folder)
    write(folder, "/pools", "/visits", "/species")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    run(str(folder))
    after = entries(folder)
    assert after["api-get-pools"]["lastUpdated"] == before["api-get-pools"]["lastUpdated"]
    assert after["api-get-pools"]["sourceHash"] != before["api-get-pools"]["sourceHash"]
    assert after["api-get-species"]["lastUpdated"] == "2027-01-15T08:00:00Z"


def test_a_check_ends_with_1_and_writes_nothing_when_a_file_is_stale(folder: Path) -> None:
    done = run(str(folder), "--check")
    assert done.exit_code == 1
    assert not (folder / "api.json").exists()
    run(str(folder))
    assert run(str(folder), "--check").exit_code == 0
    write(folder, "/pools")
    before = (folder / "api.json").read_bytes()
    stale = run(str(folder), "--check")
    assert stale.exit_code == 1
    assert "stale (0 new, 0 changed, 1 removed)" in stale.output
    assert f"commonplace reference generate {folder}" in stale.output
    assert (folder / "api.json").read_bytes() == before


def test_a_check_does_not_mind_dates_and_spaces(folder: Path) -> None:
    run(str(folder))
    found = json.loads((folder / "api.json").read_text())
    for one in found["entries"]:
        one["lastUpdated"] = "2020-01-01T00:00:00Z"
    (folder / "api.json").write_text(json.dumps(found))
    assert run(str(folder), "--check").exit_code == 0


def test_a_source_that_cannot_be_used_leaves_the_file_of_before(folder: Path) -> None:
    run(str(folder))
    before = (folder / "api.json").read_bytes()
    (folder / "sources" / "tides.json").write_text('{"swagger": "1.2", "paths": {}}')
    done = run(str(folder))
    assert done.exit_code == 1
    assert "api.json: failed. The document is of Swagger 1.2, which is not read." in done.output
    assert (folder / "api.json").read_bytes() == before


def test_an_operation_that_comes_out_empty_is_an_error_that_names_it(folder: Path) -> None:
    empty = document("/pools", "/visits")
    empty["paths"]["/pools"]["get"] = {}
    (folder / "sources" / "tides.json").write_text(json.dumps(empty))

    done = run(str(folder))

    assert done.exit_code == 1
    assert "error: GET /pools: Nothing but its name is known" in done.output
    told = json.loads(run(str(folder), "--json").stdout)["items"][0]["unread"]
    assert [(one["where"], one["severity"]) for one in told] == [("GET /pools", "error")]
    checked = CliRunner().invoke(cli.app, ["reference", "validate", str(folder)])
    assert checked.exit_code == 1
    assert "empty-entry" in checked.output


def test_a_document_of_many_files_is_read_within_sources_and_not_beyond(folder: Path) -> None:
    many = document("/pools", "/visits")
    many["paths"]["/pools"] = {"$ref": "../shared/pools.json"}
    (folder / "sources" / "desk").mkdir()
    (folder / "sources" / "shared").mkdir()
    (folder / "sources" / "desk" / "tides.json").write_text(json.dumps(many))
    (folder / "sources" / "shared" / "pools.json").write_text(json.dumps(document("/pools")["paths"]["/pools"]))
    (folder / "catalogue.yaml").write_text(CATALOGUE.replace("sources/tides.json", "sources/desk/tides.json"))
    assert run(str(folder)).exit_code == 0
    assert CliRunner().invoke(cli.app, ["reference", "validate", str(folder), "--strict"]).exit_code == 0

    many["paths"]["/pools"] = {"$ref": "../../catalogue.yaml"}
    (folder / "sources" / "desk" / "tides.json").write_text(json.dumps(many))
    done = run(str(folder))
    assert done.exit_code == 1
    assert "error: /pools: `$ref: ../../catalogue.yaml` leads out of the document's folder" in done.output


def test_one_item_that_fails_does_not_keep_the_others_back(folder: Path) -> None:
    (folder / "catalogue.yaml").write_text(
        CATALOGUE.replace("sources/", "gone/") + CATALOGUE.partition("\n")[2].replace("api.json", "other.json")
    )
    done = run(str(folder), "--json")
    told = json.loads(done.stdout)["items"]
    assert [(one["into"], one["state"]) for one in told] == [("api.json", "failed"), ("other.json", "written")]
    assert "cannot be read" in told[0]["error"]
    assert done.exit_code == 1


def test_parts_that_cannot_be_read_are_told_and_fail_where_that_is_asked_for(folder: Path) -> None:
    given = document(*(f"/p{n}" for n in range(30)))
    for one in given["paths"].values():
        one["get"]["responses"] = {"200": {"$ref": "https://example.com/x.yaml"}}
    (folder / "sources" / "tides.json").write_text(json.dumps(given))
    done = run(str(folder))
    assert done.exit_code == 0
    assert "not read: GET /p0: `$ref: https://example.com/x.yaml` leads out of the document's folder" in done.output
    assert "and 10 more; --all lists them." in done.output
    assert run(str(folder), "--all").output.count("not read:") == 30
    assert run(str(folder), "--strict").exit_code == 1


def test_only_the_named_file_is_made(folder: Path) -> None:
    (folder / "catalogue.yaml").write_text(CATALOGUE + CATALOGUE.partition("\n")[2].replace("api.json", "other.json"))
    assert run(str(folder), "--only", "other.json").exit_code == 0
    assert not (folder / "api.json").exists()
    done = run(str(folder), "--only", "third.json")
    assert done.exit_code == 1
    assert "It generates: api.json, other.json." in done.output


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("../../outside.json", "is not in catalogue/"),
        ("/etc/hostname", "is not in catalogue/"),
        ("https://example.com/openapi.json", "is not in catalogue/"),
        ("sources/none.json", "cannot be read"),
    ],
)
def test_a_source_elsewhere_is_refused(folder: Path, source: str, sentence: str) -> None:
    (folder.parent.parent / "outside.json").write_text(json.dumps(document("/a")))
    (folder / "catalogue.yaml").write_text(CATALOGUE.replace("sources/tides.json", source))
    done = run(str(folder))
    assert done.exit_code == 1
    assert sentence in done.output
    assert not (folder / "api.json").exists()


def test_a_source_may_lie_elsewhere_in_the_repository_of_the_catalogue(folder: Path) -> None:
    (folder.parent / ".git").mkdir()
    (folder.parent / "openapi.json").write_text(json.dumps(document("/a")))
    (folder / "catalogue.yaml").write_text(CATALOGUE.replace("sources/tides.json", "../openapi.json"))
    assert run(str(folder)).exit_code == 0
    assert list(entries(folder)) == ["api-get-a"]


def test_a_link_out_of_the_repository_is_no_source(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.json"
    outside.write_text(json.dumps(document("/secret")))
    (folder / "sources" / "tides.json").unlink()
    (folder / "sources" / "tides.json").symlink_to(outside)
    assert run(str(folder)).exit_code == 1


@pytest.mark.parametrize(
    "into", ["../api.json", "api.yaml", "sources/api.json", ".hidden/api.json", "_draft.json", "/tmp/x.json"]
)
def test_a_file_that_no_catalogue_reads_is_not_written(folder: Path, into: str) -> None:
    (folder / "catalogue.yaml").write_text(CATALOGUE.replace("api.json", into))
    assert run(str(folder)).exit_code == 1
    assert [one.name for one in folder.parent.rglob("*.json")] == ["tides.json"]


def test_one_source_can_be_made_without_a_catalogue(tmp_path: Path) -> None:
    (tmp_path / "tides.json").write_text(json.dumps(document("/a", "/b")))
    out = tmp_path / "made" / "api.json"
    done = run(
        "openapi",
        str(tmp_path / "tides.json"),
        "-o",
        str(out),
        "--option",
        "category=tides",
        "--option",
        'keywords=["sea"]',
    )
    assert done.exit_code == 0, done.output
    found = json.loads(out.read_text())["entries"]
    assert [(one["category"], one["keywords"][0]) for one in found] == [("tides", "sea"), ("tides", "sea")]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["openapi", "x.json"], "Give a JSON file with -o."),
        (["openapi", "x.json", "-o", "y.json", "--option", "colour"], "--option NAME=VALUE"),
        (["swagger", "x.json", "-o", "y.json"], "One of: openapi, console,"),
        (["no-such-folder"], "There is no folder"),
    ],
)
def test_what_is_asked_wrongly_is_answered_with_what_would_be_right(words: list[str], sentence: str) -> None:
    done = run(*words)
    assert done.exit_code == 1
    assert sentence in done.output


def test_an_unknown_option_of_a_generator_is_told_with_the_known_ones(folder: Path) -> None:
    (folder / "catalogue.yaml").write_text(CATALOGUE.replace("into", "colour: red, into"))
    done = run(str(folder))
    assert done.exit_code == 1
    assert "There is no option `colour`." in done.output
    assert "Known: category," in done.output


def test_a_catalogue_that_generates_nothing_says_how_it_could(folder: Path) -> None:
    (folder / "catalogue.yaml").write_text("title: Tides\n")
    done = run(str(folder))
    assert done.exit_code == 1
    assert "generate: [{kind: openapi" in done.output


def test_a_file_that_would_be_too_large_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace_local.cli.reference.generation.MAX_FILE_BYTES", 500)
    done = run(str(folder))
    assert done.exit_code == 1
    assert "would be larger than 500 bytes" in done.output
    assert not (folder / "api.json").exists()


def test_a_date_of_a_build_that_is_none_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert "SOURCE_DATE_EPOCH is not a number of seconds" in run(str(folder)).output


def test_several_documents_of_one_catalogue_do_not_share_ids(folder: Path) -> None:
    (folder / "catalogue.yaml").write_text(
        "generate:\n"
        "  - {kind: openapi, source: sources/tides.json, into: api.json}\n"
        "  - {kind: openapi, source: sources/tides.json, into: api/v2.json, base_path: /v2}\n"
        "  - {kind: openapi, source: sources/tides.json, into: old.json, base_path: /v1, id_prefix: old}\n"
    )
    assert run(str(folder)).exit_code == 0

    ids = [
        one["id"]
        for path in ("api.json", "api/v2.json", "old.json")
        for one in json.loads((folder / path).read_text())["entries"]
    ]
    assert ids == [
        "api-get-pools",
        "api-get-visits",
        "api-v2-get-pools",
        "api-v2-get-visits",
        "old-get-pools",
        "old-get-visits",
    ]
    assert CliRunner().invoke(cli.app, ["reference", "validate", str(folder)]).exit_code == 0


def test_two_items_that_write_one_file_are_refused(folder: Path) -> None:
    (folder / "catalogue.yaml").write_text(CATALOGUE + CATALOGUE.partition("\n")[2])
    done = run(str(folder))

    assert done.exit_code == 1
    assert (
        "catalogue.yaml, line 3: `generate[1].into` is `api.json` again. Give each item a file of its own."
        in " ".join(done.output.split())
    )
