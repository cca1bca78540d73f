"""The benchmark of syncs counts each embedded text once, though a line of the log has the sum of its call so far."""

import json
from pathlib import Path

from bench.corpus import open_corpus
from bench.serving import Bench


def test_steps_of_a_call_are_counted_once(tmp_path: Path) -> None:
    bench = Bench(open_corpus(None, tmp_path, every=40), tmp_path / "data")
    try:
        for request, embedded, texts in (("one", 32, 41), ("two", 20, 20), ("one", 41, 41), ("one", 41, 41)):
            line = {"function_request_id": request, "embedded": embedded, "texts": texts}
            bench._hear("Index", json.dumps(line))
        assert bench._embedded == [32, 20, 9, 41]
    finally:
        bench.laptop.github.stop()
