"""Comparing systems on a set of our own making, and what the figures of each come to."""

import json
from pathlib import Path

import pytest

from bench import table
from bench.retrieval import __main__ as program
from bench.retrieval import engines, sets
from bench.retrieval.engines import Missing, embedding_model, rerank_model
from bench.retrieval.judged import JudgedSet, Topic, TrecDocument, judged_set, record_of
from bench.retrieval.metrics import EVERY, by_kind
from bench.retrieval.run import BEFORE, agreement, alike, evaluate, every_figure, overall, scored
from bench.retrieval.sets import EXACT, clone_sets
from bench.retrieval.systems import BUILT, LEXICAL, PERFECT, Asked, Services, swept, systems_of
from commonplace.search.fusion import Fusion
from commonplace.search.model import RecordId
from tests.fakes.embeddings import FakeEmbeddings

DOCUMENTS = {
    "wheat": "Wheat is sown in autumn and cut in July. The straw is kept for the goats.",
    "bees": "Bees like clover, lime trees and heather. A hive makes honey in June.",
    "goats": "Goats eat straw, hedges and hats. They give milk twice a day.",
    "cheese": "Milk becomes cheese in the cellar after sixty days of turning.",
}
TOPICS = {"1": ("bees", "name", {"bees": 3}), "2": ("straw", "word", {"goats": 3, "wheat": 2})}
TOPICS["3"] = ("honey in june", "word", {"bees": 3})


@pytest.fixture
def judged() -> JudgedSet:
    records = [record_of(TrecDocument(name, name, text)) for name, text in DOCUMENTS.items()]
    topics = [Topic(number, text, category) for number, (text, category, _) in TOPICS.items()]
    grades = {n: {f"document/{name}": grade for name, grade in found.items()} for n, (_, _, found) in TOPICS.items()}
    return judged_set("farm", records, topics, grades)


def test_every_system_is_measured_and_the_baseline_comes_first(judged: JudgedSet) -> None:
    provider = FakeEmbeddings()
    indexed = engines.embedded_records(judged.records, provider, lambda _: None)
    with engines.embedded_engine(indexed, provider) as engine:
        systems = systems_of(Asked(engine, provider), judged.grades, None, Fusion())
        evaluated = evaluate(judged, systems)
    rows = overall(evaluated)
    assert next(row["system"] for row in rows) == LEXICAL
    assert {BUILT, PERFECT} <= {str(row["system"]) for row in rows}
    assert evaluated.mean(LEXICAL, "MRR", "name") == 1.0
    assert evaluated.mean(PERFECT, "nDCG@10") >= evaluated.mean(BUILT, "nDCG@10")
    assert evaluated.difference(LEXICAL, "MRR").mean == 0.0


def test_what_is_built_is_what_the_parts_come_to(judged: JudgedSet) -> None:
    provider = FakeEmbeddings()
    indexed = engines.embedded_records(judged.records, provider, lambda _: None)
    with engines.embedded_engine(indexed, provider) as engine:
        asked = Asked(engine, provider)
        systems = systems_of(asked, judged.grades, None, Fusion())
        for topic in judged.topics:
            assert list(systems[BUILT](topic)) == list(Services(asked).system()(topic))
        assert all(engine.tokens([record.id for record in judged.records]).values())


def test_without_a_model_only_words_are_measured(judged: JudgedSet) -> None:
    with engines.embedded_engine(engines.embedded_records(judged.records, None, lambda _: None), None) as engine:
        systems = systems_of(Asked(engine, None), judged.grades, None, Fusion())
    assert "vector only" not in systems
    assert LEXICAL in systems


def test_a_sweep_compares_weights_depths_and_floors(judged: JudgedSet) -> None:
    provider = FakeEmbeddings()
    indexed = engines.embedded_records(judged.records, provider, lambda _: None)
    with engines.embedded_engine(indexed, provider, floor=-1.0) as engine:
        systems = swept(Asked(engine, provider))
        found = {name: list(system(judged.topics[1])) for name, system in systems.items()}
    assert found["min-max 0.9/0.1"] != found["min-max 0.1/0.9"]
    assert any(name.startswith("RRF") for name in found)
    assert any("floor" in name for name in found)


def test_categories_have_their_own_columns_and_all_of_them_one(judged: JudgedSet) -> None:
    with engines.embedded_engine(engines.embedded_records(judged.records, None, lambda _: None), None) as engine:
        systems = systems_of(Asked(engine, None), judged.grades, None, Fusion())
        evaluated = evaluate(judged, systems)
    assert list(by_kind(evaluated)[0]) == ["system", "all (3)", "name (1)", "word (2)"]
    figures = list(every_figure(evaluated, engine="embedded"))
    assert {row["category"] for row in figures} == {EVERY, "name", "word"}
    assert all(json.dumps(dict(row), allow_nan=False) for row in figures)


def test_of_questions_that_nothing_answers_it_is_measured_how_often_nothing_is_found() -> None:
    topics = [Topic("1", "xyzzy"), Topic("2", "blorb")]
    evaluated = scored(
        JudgedSet("nothing", [], topics, {}), {LEXICAL: [[], [RecordId("document/bees")]], BUILT: [[], []]}
    )
    assert [(row["finds nothing"], row["results"]) for row in overall(evaluated)] == [(0.5, 0.5), (1.0, 0.0)]
    assert evaluated.difference(BUILT, "finds nothing").mean == 0.5


def test_what_an_earlier_run_kept_is_a_system_to_compare_with(judged: JudgedSet) -> None:
    bees, goats = [RecordId("document/bees")], [RecordId("document/goats")]
    built = [bees, goats, bees]
    earlier = [goats, goats, bees]
    rows = overall(scored(judged, {LEXICAL: built, BUILT: built, BEFORE: earlier}))
    assert str(rows[1]["nDCG@10 over before"]).startswith("+0.333")
    assert rows[2]["nDCG@10 over before"] == ""


def test_engines_are_compared_by_their_first_and_by_their_first_ten() -> None:
    kept = {"embedded farm, m, c": {"1": ["a", "b"], "2": []}, "opensearch farm, m, c": {"1": ["a", "c"], "2": []}}
    assert agreement(kept) == [
        {
            "set, model, chunks": "farm, m, c",
            "same first": 1.0,
            "first ten shared": pytest.approx((1 / 3 + 1) / 2, abs=1e-3),
        }
    ]


def test_a_model_that_fails_is_not_measured_half(judged: JudgedSet) -> None:
    provider = FakeEmbeddings()
    provider.failing = True
    with pytest.raises(RuntimeError, match="did not embed"):
        engines.embedded_records(judged.records, provider, lambda _: None)


def test_chunks_of_another_size_are_cut_from_the_same_text(judged: JudgedSet) -> None:
    small = engines.recut(judged.records, 8)
    assert all(len(cut.chunks) > len(whole.chunks) for cut, whole in zip(small, judged.records, strict=True))
    assert engines.recut(judged.records, None) == list(judged.records)


def test_links_of_a_clone_become_queries_for_where_they_lead(tmp_path: Path) -> None:
    (tmp_path / "barn.md").write_text("---\ntitle: Barn\npublish: true\n---\nSee [where the straw lies](loft.md).")
    (tmp_path / "loft.md").write_text(
        "---\ntitle: Loft\npublish: true\n---\nStraw. Back to [Barn](barn.md), [in](barn.md)."
    )
    judged, titles, unanswerable = clone_sets(tmp_path, links=True, titles=True)
    assert [topic.text for topic in titles.topics if topic.category == EXACT] == ["Barn", "Loft"]
    assert unanswerable.unanswerable
    assert unanswerable.records is titles.records is judged.records
    assert [topic.text for topic in judged.topics] == ["where the straw lies"]
    assert {document: grade for found in judged.grades.values() for document, grade in found.items()} == {
        "file/loft": 3,
        "file/barn": 1,
    }


@pytest.mark.parametrize(("name", "reason"), [("onnx:/nowhere", "model.onnx"), ("another", "no model")])
def test_a_model_that_is_not_there_is_missing_with_a_reason(name: str, reason: str) -> None:
    with pytest.raises(Missing, match=reason):
        embedding_model(name)
    with pytest.raises(Missing, match=reason):
        rerank_model(name)


def test_a_run_without_a_reranker_says_that_none_was_measured() -> None:
    with pytest.raises(Missing, match="No reranker is named"):
        rerank_model("none")


def test_a_run_measures_a_set_prints_its_table_and_keeps_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (json.dumps({"_id": name, "title": name, "text": text}) for name, text in DOCUMENTS.items())
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "topics.tsv").write_text("\n".join(f"{n}\t{text}" for n, (text, _, _) in TOPICS.items()))
    judged = (f"{n} 0 {name} {grade}" for n, (_, _, found) in TOPICS.items() for name, grade in found.items())
    (tmp_path / "qrels.txt").write_text("\n".join(judged))
    monkeypatch.setattr(table, "RESULTS", tmp_path / "results")
    assert program.main(["--set", str(tmp_path), "--embeddings", "none,onnx:/nowhere", "--name", "farm"]) == 0
    printed = capsys.readouterr().out
    assert "lexical only" in printed
    assert "Skipped: the embedding model onnx:/nowhere" in printed
    assert "Skipped: the engine opensearch" in printed
    kept = json.loads((tmp_path / "results" / "retrieval-farm.json").read_text())
    assert {row["system"] for row in kept["rows"]} >= {LEXICAL, BUILT}
    earlier = tmp_path / "results" / "rankings-farm.json"
    assert program.main(["--set", str(tmp_path), "--embeddings", "none", "--before", str(earlier)]) == 0
    assert "nDCG@10 over before" in capsys.readouterr().out


def test_names_of_a_clone_become_queries_for_what_has_them(tmp_path: Path) -> None:
    (tmp_path / "hay-barn.md").write_text("---\ntitle: Barn (new)\npublish: true\nauthor: Ada Byre\n---\nHay.")
    (tmp_path / "ada.md").write_text("---\ntitle: Ada Byre\npublish: true\ntags: [people]\n---\nShe farms.")
    (names,) = clone_sets(tmp_path, names=True)
    found = {topic.text: names.grades[topic.id].keys() for topic in names.topics}
    assert found["Ada Byre"] == {"file/hay-barn", "file/ada"}
    assert found["tag:people"] == {"file/ada"}
    for name in ("hay-barn", "hay-barn.md", "file/hay-barn", "/d/file/hay-barn", "Barn (new)"):
        assert found[name] == {"file/hay-barn"}
    assert names.topics == clone_sets(tmp_path, names=True)[0].topics


def test_answers_are_alike_by_their_first_and_their_first_ten() -> None:
    told = alike([(["bees"], ["bees"]), (["bees", "goats"], ["goats", "bees"]), (["bees"], [])])
    assert told == {"same first": 0.333, "first ten shared": 0.667}


def test_what_is_built_is_given_the_query_in_upper_case_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "barn.md").write_text("---\ntitle: Barn\npublish: true\n---\nHay.")
    monkeypatch.setattr(table, "RESULTS", tmp_path / "results")
    assert program.main(["--names", str(tmp_path), "--embeddings", "none", "--twins", "--brief", "--final"]) == 0
    assert "in upper case  same first  first ten shared" in capsys.readouterr().out


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
