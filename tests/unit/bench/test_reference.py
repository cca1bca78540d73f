"""The judged catalogue of the product reference, how well it is answered, and what the benchmark says of it."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from bench import table
from bench.mcp_servers import Handler
from bench.reference import __main__ as program
from bench.reference.__main__ import BUILT, DEPTHS, EXACT, VECTORS, WORDS, Figures, measured, systems
from bench.reference.judged import Query, catalogue, paraphrases
from commonplace.reference.model import SETTINGS_FILE, Entry
from commonplace.reference.source.reader import read_catalogue
from commonplace.search.models.local import LocalEmbeddings
from commonplace_generators.catalogue_file import written


@cache
def entries() -> dict[str, Entry]:
    return {placed.entry.id: placed.entry for placed in catalogue().entries}


def test_every_answer_exists_and_is_of_what_is_asked() -> None:
    assert [query.text for query in paraphrases() if not query.answers or not query.answers <= entries().keys()] == []
    for query in paraphrases():
        if query.kind == "endpoint":
            assert all(entries()[id].type == "api" for id in query.answers), query.text


@pytest.fixture(scope="module")
def figures() -> Iterator[dict[str, Figures]]:
    """With the model that comes with the product. It is installed for development: without it this fails, aloud."""
    with program.meaning_of([catalogue()], LocalEmbeddings()) as meaning:
        every = systems(meaning)
        yield {name: measured(every[name]) for name in (WORDS, VECTORS, BUILT)}


def test_nine_of_ten_paraphrases_have_an_answer_among_the_first_five(figures: dict[str, Figures]) -> None:
    built = figures[BUILT]
    assert built.top[5] >= 0.915
    assert built.held_out >= 0.92
    assert built.top[3] >= 0.9
    assert built.top[1] >= 0.79
    assert program.too_few(built) == []


def test_questions_nobody_wrote_about_find_nothing(figures: dict[str, Figures]) -> None:
    assert figures[BUILT].empty >= 0.95
    assert figures[WORDS].empty >= 0.95


def test_a_mistake_in_a_word_costs_little(figures: dict[str, Figures]) -> None:
    assert figures[BUILT].misspelt >= 0.82
    assert figures[WORDS].misspelt >= 0.75


def test_both_together_are_better_than_either(figures: dict[str, Figures]) -> None:
    for depth in DEPTHS:
        assert figures[BUILT].top[depth] > max(figures[other].top[depth] for other in (WORDS, VECTORS))


def test_what_the_seed_asks_is_always_answered(figures: dict[str, Figures]) -> None:
    assert [query.text for query in figures[BUILT].missed if query.kind == "scenario"] == []


def test_a_perfect_ranking_scores_all_and_an_empty_one_nothing() -> None:
    def perfect(query: Query) -> list[str]:
        return sorted(query.answers)

    assert set(measured(perfect).top.values()) == {1.0}
    assert measured(perfect).empty == 1.0
    nothing = measured(lambda _: [])
    assert set(nothing.top.values()) == {0.0}
    assert program.too_few(nothing) == ["0.0 % of paraphrases have an answer among the first five; 90 % should."]


def test_the_catalogue_is_one_that_would_be_published() -> None:
    settings = {"title": catalogue().title, "roots": catalogue().roots, "synonyms": catalogue().synonyms}
    files = {SETTINGS_FILE: yaml.safe_dump(settings).encode(), "entries.json": written(list(entries().values()))}
    reading = read_catalogue(files, "suite")
    assert [problem.message for problem in reading.errors] == []
    assert {one.entry.id: one.entry for one in reading.entries} == entries()
    assert {key: list(others) for key, others in reading.settings.synonyms.items()} == catalogue().synonyms


@pytest.fixture(scope="module")
def handler() -> Handler:
    return program.serving([catalogue()], None)


@pytest.fixture(scope="module")
def told(handler: Handler) -> dict[str, list[int]]:
    return dict(program.answers(handler))


def test_every_answer_keeps_to_its_tokens(told: dict[str, list[int]]) -> None:
    assert [fault for what, tokens in told.items() for fault in program.too_long(what, tokens)] == []
    assert all(min(tokens) > 0 for tokens in told.values())
    assert program.too_long("long", [20, 1_001]) == ["long: 1,001 tokens, at most 1,000 are allowed."]


def test_a_prompt_without_the_catalogue_saves_nine_tenths(handler: Handler, told: dict[str, list[int]]) -> None:
    everything, commands = program.prompts(handler, told)
    for row in (everything, commands):
        assert isinstance(saved := row["saved in the prompt %"], float)
        assert saved >= 90
    assert isinstance(all_saved := everything["saved in all %"], float)
    assert all_saved > 50


def test_a_slow_look_up_is_a_fault() -> None:
    assert program.too_slow([{"call": EXACT, "p50 ms CPU": 9.0}]) == [f"{EXACT} takes 9.00 ms; 5 are allowed."]
    assert program.too_slow([{"call": EXACT, "p50 ms CPU": 0.1}, {"call": "search", "p50 ms CPU": 9.0}]) == []


def test_a_run_writes_its_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    monkeypatch.setattr(program, "SAMPLES", 2)
    monkeypatch.setattr(program, "CALLS", 2)
    assert program.main(["--embeddings", "none", "--only", "speed,costs"]) == 0
    rows = json.loads((tmp_path / "reference.json").read_text(encoding="utf-8"))["rows"]
    assert {"call", "answer", "in the system prompt"} <= {column for row in rows for column in row}
    assert "get_command" in capsys.readouterr().out
