"""Comparing systems on a set of our own making, and what the figures of each come to."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import table
from bench.engines import Missing, embedded_records, embedding_model, index, rerank_model
from bench.retrieval import __main__ as program
from bench.retrieval import sets
from bench.retrieval.__main__ import BEFORE, BUILT, LEXICAL, PERFECT, System, scored, systems_of
from bench.retrieval.sets import EXACT, JudgedSet, Topic, clone_sets
from bench.table import EVERY, Evaluated, by_kind, every_figure, overall
from commonplace.documents.index_source import record_from_document
from tests.fakes.embeddings import FakeEmbeddings

DOCUMENTS = {
    "wheat": "Wheat is sown in autumn and cut in July. The straw is kept for the goats.",
    "bees": "Bees like clover, lime trees and heather. A hive makes honey in June.",
    "goats": "Goats eat straw, hedges and hats. They give milk twice a day.",
    "cheese": "Milk becomes cheese in the cellar after sixty days of turning.",
}
TOPICS = [Topic("1", "bees", "name"), Topic("2", "straw", "word"), Topic("3", "honey in june", "word")]
GRADES = {"1": {"file/bees": 3}, "2": {"file/goats": 3, "file/wheat": 2}, "3": {"file/bees": 3}}


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    folder = tmp_path / "farm"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / f"{name}.md").write_text(f"---\ntitle: {name}\npublish: true\n---\n{text}\n")
    return folder


@pytest.fixture
def judged(farm: Path) -> JudgedSet:
    return JudgedSet("farm", [record_from_document(document) for document in sets.documents(farm)], TOPICS, GRADES)


@pytest.fixture
def systems(judged: JudgedSet) -> Iterator[dict[str, System]]:
    provider = FakeEmbeddings()
    with index(embedded_records(judged.records, provider), provider) as engine:
        yield systems_of(engine, provider, judged.grades, None)


@pytest.fixture
def evaluated(judged: JudgedSet, systems: dict[str, System]) -> Evaluated:
    return scored(judged, {name: [find(topic) for topic in judged.topics] for name, find in systems.items()})


def test_every_system_is_measured_and_the_baseline_comes_first(evaluated: Evaluated) -> None:
    rows = overall(evaluated)
    assert rows[0]["system"] == LEXICAL
    assert {BUILT, PERFECT} <= {str(row["system"]) for row in rows}
    assert evaluated.mean(LEXICAL, "MRR", "name") == 1.0
    assert evaluated.mean(PERFECT, "nDCG@10") >= evaluated.mean(BUILT, "nDCG@10")
    assert evaluated.difference(LEXICAL, "MRR").mean == 0.0


def test_without_a_model_only_words_are_measured(judged: JudgedSet) -> None:
    with index(embedded_records(judged.records, None), None) as engine:
        systems = systems_of(engine, None, judged.grades, None)
    assert "vector only" not in systems
    assert LEXICAL in systems


def test_categories_have_their_own_columns_and_all_of_them_one(evaluated: Evaluated) -> None:
    assert list(by_kind(evaluated)[0]) == ["system", "all (3)", "name (1)", "word (2)"]
    figures = list(every_figure(evaluated, engine="embedded"))
    assert {row["category"] for row in figures} == {EVERY, "name", "word"}
    assert all(json.dumps(dict(row), allow_nan=False) for row in figures)


def test_of_questions_that_nothing_answers_it_is_measured_how_often_nothing_is_found() -> None:
    topics = [Topic("1", "xyzzy"), Topic("2", "blorb")]
    evaluated = scored(JudgedSet("nothing", [], topics, {}), {LEXICAL: [[], ["file/bees"]], BUILT: [[], []]})
    assert [(row["finds nothing"], row["results"]) for row in overall(evaluated)] == [(0.5, 0.5), (1.0, 0.0)]
    assert evaluated.difference(BUILT, "finds nothing").mean == 0.5


def test_what_an_earlier_run_stored_is_a_system_to_compare_with(judged: JudgedSet) -> None:
    bees, goats = ["file/bees"], ["file/goats"]
    built, earlier = [bees, goats, bees], [goats, goats, bees]
    rows = overall(scored(judged, {LEXICAL: built, BUILT: built, BEFORE: earlier}), BEFORE)
    assert str(rows[1]["nDCG@10 over before"]).startswith("+0.333")
    assert rows[2]["nDCG@10 over before"] == ""


def test_a_model_that_fails_is_not_measured_half(judged: JudgedSet) -> None:
    provider = FakeEmbeddings()
    provider.failing = True
    with pytest.raises(RuntimeError, match="did not embed"):
        embedded_records(judged.records, provider)


def test_links_of_a_clone_become_queries_for_where_they_lead(tmp_path: Path) -> None:
    (tmp_path / "barn.md").write_text("---\ntitle: Barn\npublish: true\n---\nSee [where the straw lies](loft.md).")
    (tmp_path / "loft.md").write_text(
        "---\ntitle: Loft\npublish: true\n---\nStraw. Back to [Barn](barn.md), [in](barn.md)."
    )
    judged, titles, unanswerable = clone_sets(tmp_path, links=True, titles=True)
    assert [topic.text for topic in titles.topics if topic.category == EXACT] == ["Barn", "Loft"]
    assert not unanswerable.grades
    assert unanswerable.records is titles.records is judged.records
    assert [topic.text for topic in judged.topics] == ["where the straw lies"]
    assert [*judged.grades.values()] == [{"file/loft": 3, "file/barn": 1}]


@pytest.mark.parametrize(("name", "reason"), [("onnx:/nowhere", "model.onnx"), ("another", "no model")])
def test_a_model_that_is_not_there_is_missing_with_a_reason(name: str, reason: str) -> None:
    with pytest.raises(Missing, match=reason):
        embedding_model(name)
    with pytest.raises(Missing, match=reason):
        rerank_model(name)


def test_a_run_without_a_reranker_says_that_none_was_measured() -> None:
    with pytest.raises(Missing, match="No reranker is named"):
        rerank_model("none")


def test_a_run_measures_questions_that_lie_in_a_clone_and_stores_the_figures(
    farm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (farm / "topics.tsv").write_text("".join(f"{topic.id}\t{topic.text}\n" for topic in TOPICS))
    (farm / "qrels.txt").write_text("1 0 bees 3\n2 0 goats 3\n2 0 wheat 2\n3 0 bees 3\n")
    monkeypatch.setattr(table, "RESULTS", tmp_path / "results")
    given = ["--paraphrases", str(farm), "--final"]
    assert program.main([*given, "--embeddings", "none,onnx:/nowhere", "--name", "farm"]) == 0
    printed = capsys.readouterr().out
    assert "lexical only" in printed
    assert "Skipped: the embedding model onnx:/nowhere" in printed
    rows = json.loads((tmp_path / "results" / "retrieval-farm.json").read_text())["rows"]
    assert {row["system"] for row in rows} >= {LEXICAL, BUILT}
    earlier = tmp_path / "results" / "rankings-farm.json"
    assert program.main([*given, "--embeddings", "none", "--brief", "--before", str(earlier)]) == 0
    assert "nDCG@10 over before" in capsys.readouterr().out


def test_questions_for_a_public_clone_are_known_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone, ours = tmp_path / "farm", tmp_path / "ours" / "farm"
    (clone / "stock").mkdir(parents=True)
    ours.mkdir(parents=True)
    (clone / "stock" / "bees.md").write_text("# Bees\n\nThey like clover.")
    (clone / "goats.md").write_text("---\ntitle: Goats\n---\nThey like hats.")
    (ours / "topics.tsv").write_text("f1\tparaphrase\tinsects and meadows\n")
    (ours / "qrels.txt").write_text("f1 0 stock/bees 3\n")
    monkeypatch.setattr(sets, "HERE", tmp_path / "ours")
    judged = sets.paraphrased_set(clone, final=False)
    assert {record.title for record in judged.records} == {"Bees", "Goats"}
    assert [*judged.grades["f1"].values()] == [3]
