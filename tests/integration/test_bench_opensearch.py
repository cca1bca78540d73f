"""The benchmarks on a real OpenSearch, small: they measure what they say, and leave nothing behind."""

import json
from pathlib import Path

import pytest

from bench import table
from bench.retrieval import __main__ as retrieval
from bench.retrieval.__main__ import BUILT, LEXICAL
from bench.retrieval.sets import sample_sets
from bench.speed import opensearch
from bench.speed.__main__ import main
from commonplace.search.opensearch.client import connect


def _left(url: str) -> list[str]:
    return [*connect(url, "none").indices.get(index="bench-*")]


def test_a_search_is_timed_beside_bare_requests_at_every_size(
    opensearch_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    monkeypatch.setattr(opensearch, "QUERIES", 5)
    monkeypatch.setattr(opensearch, "ROUNDS", 1)
    assert main(["opensearch", "--url", opensearch_url, "--sizes", "300,600"]) == 0
    rows = json.loads((tmp_path / "opensearch.json").read_text())["rows"]
    assert [row["chunks"] for row in rows] == [300, 600]
    for row in rows:
        assert row["times bare"] == pytest.approx(row["ours p50"] / row["bare p50"])
        assert min(row[f"{way} p50"] for way in ("ours", "bare", "same")) > 0
    assert _left(opensearch_url) == []


def test_our_set_is_measured_on_the_node_and_the_default_wins_there_too(
    opensearch_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    monkeypatch.setattr(retrieval, "sample_sets", lambda **given: sample_sets(**given)[:1])
    assert retrieval.main(["--opensearch", opensearch_url, "--brief", "--final"]) == 0
    rows = json.loads((tmp_path / "retrieval.json").read_text())["rows"]
    found = {
        (row["system"], row["category"]): row
        for row in rows
        if (row["set"], row["queries of"], row["engine"]) == ("sample", "all", "opensearch")
    }
    assert {row["engine"] for row in rows} == {"embedded", "opensearch"}
    assert found[BUILT, "paraphrase"]["nDCG@10 low"] > 0
    assert found[BUILT, "name"]["best first"] == found[LEXICAL, "name"]["best first"] == 1.0
    assert _left(opensearch_url) == []
