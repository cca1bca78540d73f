"""Personal data in what agents add to the memory, where a deployment wants none there."""

from collections.abc import Callable
from typing import Any, Literal

import pytest

from commonplace.memory.personal_data import EntryRedaction
from tests.fakes.redaction import WordRedactor
from tests.unit.memory.tools.teams import Team

FACT: dict[str, Any] = {"content": "Ask Anneliese first.", "entry_type": "fact", "roles": ["dev"], "tags": ["cars"]}

Screened = Callable[[Literal["mask", "refuse"]], Team]


@pytest.fixture
def screened(here: Team) -> Screened:
    def team(mode: Literal["mask", "refuse"]) -> Team:
        here.told["entry_redaction"] = EntryRedaction(WordRedactor("Anneliese", "anneliese"), mode)
        return here

    return team


def test_without_it_an_entry_is_kept_as_it_is(here: Team) -> None:
    assert here.data("kb_get", id=here.data("kb_add", **FACT)["id"])["content"] == "Ask Anneliese first."


def test_what_is_added_is_kept_masked_and_tags_that_tell_somebody_are_left_out(screened: Screened) -> None:
    team = screened("mask")
    id = team.data("kb_add", **FACT | {"tags": ["cars", "anneliese"]})["id"]
    entry = team.data("kb_get", id=id)
    assert (entry["content"], entry["tags"]) == ("Ask [NAME] first.", ["cars"])


def test_what_is_masked_alike_is_a_duplicate(screened: Screened) -> None:
    team = screened("mask")
    first = team.data("kb_add", **FACT)
    again = team.data("kb_add", **FACT | {"content": "Ask [NAME] first."})
    assert (again["duplicate"], again["id"]) == (True, first["id"])


def test_a_change_is_masked_and_leaves_what_it_does_not_name(screened: Screened) -> None:
    team = screened("mask")
    id = team.add("Cars are red.", tags=["cars"])
    team.data("kb_update", id=id, confidence=0.7)
    team.data("kb_update", id=id, content="Anneliese says that cars are blue.")
    entry = team.data("kb_get", id=id)
    assert (entry["content"], entry["tags"]) == ("[NAME] says that cars are blue.", ["cars"])


@pytest.mark.parametrize("tool", ["kb_add", "kb_update"])
def test_where_it_refuses_nothing_is_stored_and_the_kinds_are_named(screened: Screened, tool: str) -> None:
    team = screened("refuse")
    id = team.add("Cars are red.")
    arguments = FACT if tool == "kb_add" else {"id": id, "tags": ["anneliese"]}
    code, text = team.error(tool, **arguments)
    assert (code, "1 NAME" in text, "Anneliese" in text) == ("INVALID_INPUT", True, False)
    assert team.data("kb_list")["total"] == 1
    assert team.data("kb_get", id=id)["version"] == 1


def test_a_placeholder_that_was_written_is_nothing_to_refuse(screened: Screened) -> None:
    assert screened("refuse").data("kb_add", **FACT | {"content": "Ask [NAME] first."})["success"]


@pytest.mark.parametrize("mode", ["mask", "refuse"])
def test_without_an_answer_nothing_is_stored(screened: Screened, mode: Literal["mask", "refuse"]) -> None:
    team = screened(mode)
    assert team.error("kb_add", **FACT | {"content": "Gone is Anneliese."})[0] == "UNAVAILABLE"
    assert team.data("kb_list")["total"] == 0
