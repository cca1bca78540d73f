"""The table that every benchmark prints."""

import json
from pathlib import Path

import pytest

from bench import table


def test_words_stand_left_and_numbers_right() -> None:
    rows: list[table.Row] = [{"what": "get", "ms": 2.5}, {"what": "filtered list", "ms": 1234.5}]
    assert table.lines(rows) == [
        "what              ms",
        "-------------  -----",
        "get              2.5",
        "filtered list  1,234",
    ]


def test_a_table_without_rows_says_so() -> None:
    assert table.lines([]) == ["(nothing)"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (True, "yes"), (False, "no"), (1959, "1,959"), (0.01234, "0.0123"), (99.95, "100"), ("get", "get")],
)
def test_values_are_shown_as_people_read_them(value: table.Value, shown: str) -> None:
    assert table.text(value) == shown


def test_figures_are_kept_with_the_machine_they_were_taken_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "RESULTS", tmp_path / "results")
    kept = json.loads(table.keep("sync", "Sync", [{"run": "first", "s": 1.5}]).read_text(encoding="utf-8"))
    assert kept["rows"] == [{"run": "first", "s": 1.5}]
    assert kept["machine"].keys() == {"system", "architecture", "python"}
