"""`commonplace search` over an index file."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commonplace.adapters.embedded.engine import EmbeddedEngine
from commonplace.adapters.local_embeddings import LocalEmbeddings
from local import cli
from tests.unit.search.records import indexed, record


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index" / "documents.sqlite"
    model = LocalEmbeddings()
    engine = EmbeddedEngine(path, model)
    pools = record("pattern/pools", "# Low water\n\nCrabs hide under stones.", title="Tide pools", tags=["sea"])
    engine.write(indexed(model, pools, record("note/wind", "It blows.", title="Wind", group="weather")), ())
    engine.close()
    return path


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli.app, ["search", *arguments])
    return done.exit_code, done.output


def test_results_are_told_with_passage_and_place(index: Path) -> None:
    code, output = run("tide pools", "--index", str(index), "--limit", "1")

    assert code == 0
    lines = output.splitlines()
    assert lines[0].startswith("1. Tide pools  (")
    assert lines[1] == "   pattern/pools · Low water"
    assert lines[2] == "   Crabs hide under stones."
    assert "found" in lines[-1]


def test_filters_restrict_and_a_parent_type_means_its_children(index: Path) -> None:
    assert "Tide pools" in run("crabs", "--index", str(index), "--type", "resource", "--tag", "sea")[1]
    assert run("crabs wind", "--index", str(index), "--group", "nobody") == (0, "Nothing was found.\n")


def test_json_has_the_names_of_the_rest_api(index: Path) -> None:
    code, output = run("wind", "--index", str(index), "--json")

    told = json.loads(output)
    assert code == 0
    assert (told["results"][0]["contentType"], told["fallback"], told["results"][0]["rerankScore"]) == (
        "note",
        False,
        None,
    )


def test_the_index_of_a_data_folder_is_found(index: Path) -> None:
    assert "Wind" in run("wind", "--data", str(index.parent.parent))[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--index", "nowhere.sqlite"], "There is no index at nowhere.sqlite"),
        (["--data", "nowhere"], "No laptop cloud is running"),
    ],
)
def test_a_missing_index_is_told_in_a_sentence(arguments: list[str], sentence: str) -> None:
    code, output = run("wind", *arguments)

    assert code == 1
    assert sentence in output


def test_an_unknown_type_names_the_known_ones(index: Path) -> None:
    code, output = run("wind", "--index", str(index), "--type", "nonsense")

    assert code == 1
    assert "pattern" in output
