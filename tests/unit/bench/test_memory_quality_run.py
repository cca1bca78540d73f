"""Comparing fusions on the judged memory, and counting what an answer costs: the harness itself, with a small model."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bench import table
from bench.memory_quality import __main__ as program
from bench.memory_quality.__main__ import (
    BUILT,
    FILES,
    FUSIONS,
    GREP,
    LEXICAL,
    System,
    compared,
    evaluate,
    indexed,
    systems_of,
    ways,
)
from bench.memory_quality.judged import JudgedMemory, Query, judged_memory, story_files, whole_files
from bench.table import EVERY, Evaluated, by_kind, every_figure, overall
from commonplace.memory.search import SEED_FUSION
from commonplace.search.model import Engine
from tests.fakes.embeddings import FakeEmbeddings


@pytest.fixture(scope="module")
def judged() -> JudgedMemory:
    """A part of it: every twelfth query, all entries."""
    whole = judged_memory()
    return JudgedMemory(whole.entries, whole.queries[::12], whole.unanswerable[:2], whole.grades)


@pytest.fixture(scope="module")
def provider() -> FakeEmbeddings:
    return FakeEmbeddings()


@pytest.fixture(scope="module")
def engine(judged: JudgedMemory, provider: FakeEmbeddings) -> Iterator[Engine]:
    with indexed(list(judged.entries.values()), provider) as made:
        yield made


@pytest.fixture(scope="module")
def systems(judged: JudgedMemory, engine: Engine, provider: FakeEmbeddings) -> dict[str, System]:
    return systems_of(judged, engine, provider)


@pytest.fixture(scope="module")
def evaluated(judged: JudgedMemory, systems: dict[str, System]) -> Evaluated:
    return evaluate(judged, systems)


@pytest.fixture(scope="module")
def costs(judged: JudgedMemory, engine: Engine, provider: FakeEmbeddings) -> list[table.Row]:
    return compared(judged, ways(judged, engine, provider))


def test_what_is_built_is_compared_with_words_with_meaning_and_with_grep(evaluated: Evaluated) -> None:
    assert evaluated.scores.keys() == {GREP, *FUSIONS}
    assert FUSIONS[BUILT] == SEED_FUSION


def test_the_perfect_ranking_scores_one_and_an_empty_one_nothing(judged: JudgedMemory) -> None:
    def perfect(query: Query) -> Sequence[str]:
        grades = judged.grades[query.id]
        return sorted(grades, key=lambda name: -grades[name])

    scored = evaluate(judged, {LEXICAL: perfect, "nothing": lambda _: []})
    assert scored.mean(LEXICAL) == pytest.approx(1.0)
    assert scored.mean(LEXICAL, "MRR") == scored.mean(LEXICAL, "best first") == 1.0
    assert {scored.mean("nothing", metric) for metric in scored.scores[LEXICAL]} == {0.0}
    assert scored.difference("nothing").verdict == "worse"


def test_every_row_says_how_sure_it_differs_from_words_alone(evaluated: Evaluated) -> None:
    rows = {str(row["system"]): row for row in overall(evaluated)}
    assert rows[LEXICAL][f"nDCG@10 over {LEXICAL}"] == ""
    assert "[" in str(rows[BUILT][f"nDCG@10 over {LEXICAL}"])
    assert all(len(row) == len(rows[LEXICAL]) for row in rows.values())


def test_kinds_have_columns_of_their_own(evaluated: Evaluated, judged: JudgedMemory) -> None:
    kinds = {query.kind for query in judged.queries}
    assert len(by_kind(evaluated)[0]) == 2 + len(kinds)
    kept = list(every_figure(evaluated, engine="embedded"))
    assert {row["category"] for row in kept} == {EVERY, *kinds}
    assert all(json.dumps(dict(row), allow_nan=False) for row in kept)


def test_a_search_finds_only_what_its_conditions_admit(judged: JudgedMemory, systems: dict[str, System]) -> None:
    query = next(query for query in judged_memory().queries if query.asked.tags and query.asked.role == "qa")
    found = [judged.entries[name] for name in systems[BUILT](query)]
    assert found
    assert all(set(query.asked.tags) & set(entry.tags) for entry in found)
    assert all({"qa", "all"} & set(entry.roles) for entry in found)


def test_without_a_model_words_and_grep_are_measured(judged: JudgedMemory) -> None:
    with indexed(list(judged.entries.values()), None) as engine:
        assert systems_of(judged, engine, None).keys() == {GREP, LEXICAL}


def test_the_files_hold_every_entry(judged: JudgedMemory) -> None:
    for files in (whole_files(judged), story_files(judged)):
        together = "\n".join(files.values())
        assert [name for name, entry in judged.entries.items() if entry.content.strip() not in together] == []


def test_a_search_of_five_costs_less_than_one_of_ten_and_both_less_than_the_files(costs: list[table.Row]) -> None:
    rows = {str(row["way"]): row for row in costs}
    five, ten, files = (rows[name]["tokens, mean"] for name in ("kb_search, limit 5", "kb_search, limit 10", FILES))
    assert isinstance(five, int)
    assert isinstance(ten, int)
    assert isinstance(files, int)
    assert five < ten < files / 5
    assert rows[FILES]["best entry in it"] == "100%"


def test_a_model_that_is_not_there_is_skipped_and_nothing_else_was_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert program.main(["--embeddings", "onnx:/nowhere"]) == 1
    assert "model.onnx" in capsys.readouterr().out


def test_a_run_prints_its_tables_and_keeps_the_figures(
    judged: JudgedMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    monkeypatch.setattr(program, "judged_memory", lambda **_: judged)
    assert program.main(["--embeddings", "none"]) == 0
    assert LEXICAL in capsys.readouterr().out
    kept = json.loads((tmp_path / "memory_quality.json").read_text(encoding="utf-8"))
    assert {row["system"] for row in kept["rows"]} == {GREP, LEXICAL}
