"""`commonplace search` over an index file."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.models.local import LocalEmbeddings
from commonplace_local import cli
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
    assert lines[-1].startswith("1 candidate, ")


def test_by_words_alone_every_match_is_counted(index: Path) -> None:
    code, output = run("crabs stones", "--index", str(index), "--mode", "lexical", "--limit", "100")

    assert code == 0
    assert output.splitlines()[-1].startswith("1 found, ")


def test_an_explanation_of_an_index_file_says_that_publication_is_unknown(index: Path) -> None:
    code, output = run("crabs", "--index", str(index), "--expect", "note/wind", "--type", "pattern")

    rows = [" ".join(line.split()) for line in output.splitlines()]
    assert code == 0
    assert "filters contentType pattern" in rows
    assert "Expected note/wind: filtered-out" in rows
    assert rows[-1].startswith("Unknown whether it is published")


def test_an_explanation_is_part_of_the_json(index: Path) -> None:
    told = json.loads(run("tide pools", "--index", str(index), "--explain", "--json")[1])

    (trace, *_) = told["explanation"]["hits"]
    assert (trace["id"], trace["rank"], trace["lexical"]["rank"]) == ("pattern/pools", 1, 1)
    assert trace["named"] > 0.9
    assert told["explanation"]["expectation"] is None


def test_filters_restrict_and_a_parent_type_means_its_children(index: Path) -> None:
    assert "Tide pools" in run("crabs", "--index", str(index), "--type", "resource", "--tag", "sea")[1]
    code, told = run("crabs wind", "--index", str(index), "--group", "nobody")
    assert (code, told.splitlines()[0]) == (1, "Nothing was found.")
    assert "without them" in told


def test_json_has_the_names_of_the_rest_api(index: Path) -> None:
    code, output = run("wind", "--index", str(index), "--json")

    told = json.loads(output)
    assert code == 0
    assert (told["results"][0]["contentType"], told["fallback"], told["results"][0]["rerankScore"]) == (
        "note",
        False,
        None,
    )


def test_what_a_stopped_laptop_kept_is_searched_and_said_so(index: Path) -> None:
    done = CliRunner().invoke(cli.app, ["search", "wind", "--data", str(index.parent.parent)])

    assert "Wind" in done.stdout
    assert "No laptop cloud is running" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--index", "nowhere.sqlite"], "There is no index at nowhere.sqlite"),
        (["--data", "nowhere"], "No laptop cloud is running"),
        (["--expect", "wind"], "wind does not name a document"),
    ],
)
def test_what_cannot_be_asked_is_told_in_a_sentence(arguments: list[str], sentence: str) -> None:
    code, output = run("wind", *arguments)

    assert code == 1
    assert sentence in output


def test_an_unknown_type_names_the_known_ones(index: Path) -> None:
    code, output = run("wind", "--index", str(index), "--type", "nonsense")

    assert code == 1
    assert "pattern" in output


def test_an_index_file_has_no_whole_documents_to_print(index: Path) -> None:
    code, output = run("wind", "--index", str(index), "--documents")

    assert code == 1
    assert "commonplace dev" in output
