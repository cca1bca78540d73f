"""Parsers of lessons beside a count by hand: right counts agree, and each kind of fault shows in its own column."""

from pathlib import Path

import pytest

from commonplace_local.memory.lessons import parse
from tests.acceptance.lessons.__main__ import Counted, beside, main

FIXTURES = Path(__file__).parents[2] / "fixtures" / "memory"
TEXT = "## A-1: Gates\nDate: 2026-01-24\n### Reuse\n- the winch\n### Blockers\n- the gate\n## A-2: Keys\n- the key\n"
RIGHT = {
    "stories": [
        {"id": "A-1", "title": "Gates", "date": "2026-01-24", "facts": {"reuse": 1, "blocker": 1}},
        {"id": "A-2", "title": "Keys", "date": None, "facts": {"lesson": 1}},
    ],
    "unfiled": 0,
}


def test_what_was_counted_so_agrees() -> None:
    told = beside(RIGHT, parse(TEXT), TEXT)
    assert (told.found, told.more, told.dated, told.agreed, told.read, told.elsewhere) == (2, 0, 1, 3, 3, 0)
    assert told.lines == []


def test_a_story_that_is_not_found_and_one_that_is_none_are_told_apart() -> None:
    told = beside(RIGHT, parse(TEXT.replace("A-2: Keys", "B-9: Keys")), TEXT)
    assert (told.found, told.more, told.agreed) == (1, 1, 2)
    assert told.lines[0] == "not found: A-2 Keys"


def test_a_fact_that_is_filed_under_another_story_is_named() -> None:
    read_wrong = parse(TEXT.replace("## A-2: Keys\n", ""))
    told = beside(RIGHT, read_wrong, TEXT)
    assert told.elsewhere == 1
    assert "of A-2, filed under A-1: the key" in told.lines


def test_a_fact_of_another_kind_and_another_date_do_not_agree() -> None:
    told = beside(RIGHT, parse(TEXT.replace("Reuse", "Patterns").replace("01-24", "01-25")), TEXT)
    assert (told.agreed, told.read, told.dated) == (2, 3, 0)


def test_the_command_prints_a_row_of_each_file_and_their_differences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(FIXTURES), "--counted", str(FIXTURES / "counted.yaml"), "--lines"]) == 0
    printed = capsys.readouterr().out
    row = next(line.split() for line in printed.splitlines() if line.startswith("MESSY-LESSONS.md"))
    assert row[1:] == ["9", "of", "9", "0", "7", "of", "7", "30", "30", "30", "0"]
    assert "  not found: BERTH-099 Never built" in printed


def test_a_folder_without_the_files_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("None of the ")


def test_a_story_is_known_by_its_id_its_title_or_both_and_phase_1_is_not_phase_15() -> None:
    one, fifteen = Counted("Phase 1", "Docks", "", None), Counted("Phase 15", "Nets", "", None)
    assert one.is_known_as("Phase 1") and one.is_known_as("Phase 1: Docks and more")
    assert not one.is_known_as("Phase 15") and not fifteen.is_known_as("Phase 1: Docks")
