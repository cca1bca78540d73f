import json
from pathlib import Path

import pytest

from bench import table


def test_words_stand_left_and_numbers_right() -> None:
    rows = [{"what": "get", "ms": 1.234, "calls": 1234}, {"what": "search", "ms": 1234.5, "calls": None}]
    assert table.lines(rows) == [
        "what       ms  calls",
        "------  -----  -----",
        "get      1.23  1,234",
        "search  1,234      -",
    ]


def test_figures_are_kept_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "RESULTS", tmp_path / "results")
    file = table.keep("rest", "REST", [{"what": "get", "ms": 1.5}])
    assert json.loads(file.read_text())["rows"] == [{"what": "get", "ms": 1.5}]
