"""Lessons learned again, votes on hits, and what is counted by story, as a client meets them."""

from dataclasses import replace
from typing import Any

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.memory.tools.prompts import EMPTY
from commonplace.web.mcp.budgets import estimate_tokens
from tests.unit.memory.tools.teams import Team
from tests.unit.web.mcp.talking import text_of

LESSON = "Routes with a fixed path go before those with a parameter."
NOTHING = {"n": 0, "mean": None}


def seen(here: Team, id: str) -> tuple[int | None, list[str] | None]:
    entry = here.data("kb_get", id=id)
    return entry.get("seen"), entry.get("seen_in")


def metrics(here: Team) -> dict[str, Any]:
    told: dict[str, Any] = here.data("kb_stats", metrics=True)["metrics"]
    return told


def imported(here: Team, *entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    kinds = {"entry_type": "fact", "roles": ["dev"]}
    return here.data("kb_bulk_import", entries=[kinds | one for one in entries], **more)


def test_a_lesson_that_another_story_learned_again_is_seen_again_wherever_it_is_shown(here: Team) -> None:
    id = here.add(LESSON, source_story="APP-1")
    again = here.call("kb_add", content=LESSON, entry_type="fact", roles=["dev"], source_story="APP-2")
    assert again.structured_content["recurrence"] == {"id": id, "first_story": "APP-1", "seen": 1}
    assert "was learned before (first in APP-1)" in text_of(again)
    here.world.settle()
    shown = [
        here.data("kb_get", id=id),
        *here.data("kb_list")["entries"],
        *here.data("kb_search", query=LESSON)["entries"],
    ]
    assert [(one["seen"], one["seen_in"]) for one in shown] == [(1, ["APP-2"])] * 3
    assert "seen again in 1 more: APP-2" in text_of(here.call("kb_search", query=LESSON))
    assert here.data("kb_stats")["recurrences"] == 1


def test_its_own_story_and_no_story_do_not_learn_it_again(here: Team) -> None:
    id = here.add(LESSON, source_story="APP-1")
    for more in ({"source_story": "APP-1"}, {}):
        assert "recurrence" not in here.data("kb_add", content=LESSON, entry_type="fact", roles=["dev"], **more)
    imported(here, {"content": LESSON, "source_story": "APP-1"}, {"content": LESSON})
    assert seen(here, id) == (None, None)
    assert here.data("kb_stats")["recurrences"] == 0


def test_the_same_lesson_in_other_words_is_noted_once_on_the_first(here: Team) -> None:
    id = here.add(LESSON, source_story="APP-1")
    words = {"content": "Put fixed routes before dynamic ones.", "source_story": "APP-2", "recurs_of": id}
    assert here.call("kb_add", **words, entry_type="fact", roles=["dev"]).structured_content["recurrence"]["id"] == id
    other = here.data("kb_add", **words, entry_type="fact", roles=["dev"])
    assert (other["duplicate"], other["recurrence"]["seen"]) == (True, 1)
    assert (seen(here, id), seen(here, other["id"])) == ((1, ["APP-2"]), (None, None))


def test_a_story_is_needed_to_say_that_a_lesson_recurs(here: Team) -> None:
    id = here.add(LESSON, source_story="APP-1")
    code, text = here.error("kb_add", content="Other.", entry_type="fact", roles=["dev"], recurs_of=id)
    assert (code, "source_story" in text) == ("INVALID_INPUT", True)
    assert here.data("kb_stats")["total_entries"] == 1


def test_a_repeated_delivery_tells_the_same_and_counts_nothing_twice(here: Team) -> None:
    id = here.add(LESSON, source_story="APP-1")
    story = {"content": "It went well.", "entry_type": "summary", "source_story": "APP-2"}
    for _ in range(3):
        told = imported(here, story, {"content": LESSON, "source_story": "APP-2"})
        assert told["recurrences"] == [{"id": id, "first_story": "APP-1", "seen": 1}]
    assert (seen(here, id), here.data("kb_stats")["recurrences"]) == ((1, ["APP-2"]), 1)


def test_what_is_refused_was_not_learned(here: Team) -> None:
    id = here.add(LESSON, source_story="APP-1")
    told = imported(here, {"content": LESSON, "source_story": "APP-2"}, skip_existing=False)
    assert (len(told["errors"]), "recurrences" in told, seen(here, id)) == (1, False, (None, None))


def test_a_request_that_was_lost_before_its_note_is_noted_when_it_is_sent_again(
    here: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = here.add(LESSON, source_story="APP-1")
    told = {"content": LESSON, "entry_type": "fact", "roles": ["dev"], "source_story": "APP-2"}

    def away(*_: object) -> None:
        raise Unavailable("away")

    with monkeypatch.context() as lost:
        lost.setattr(here.world.usage, "recur", away)
        assert here.error("kb_add", **told, idempotency_key="one")[0] == "UNAVAILABLE"
    assert here.data("kb_add", **told, idempotency_key="one")["recurrence"]["first_story"] == "APP-1"
    assert seen(here, id) == (1, ["APP-2"])


def test_a_vote_can_be_changed_and_one_entry_has_a_mean(here: Team) -> None:
    good, bad = here.add("Good."), here.add("Bad.")
    for relevance in (1, 5, 5):
        rated = here.data("kb_rate", id=good, relevance=relevance, story="APP-1")
    assert rated == {"success": True, "votes": 1, "mean": 5}
    assert here.data("kb_rate", id=good, relevance=2, story="APP-2") == {"success": True, "votes": 2, "mean": 3.5}
    here.caller = replace(here.caller, principal=replace(here.caller.principal, account="b" * 32))
    assert here.data("kb_rate", id=good, relevance=4, story="APP-2")["votes"] == 3
    here.data("kb_rate", id=bad, relevance=0)
    assert here.data("kb_get", id=good)["relevance"] == {"votes": 3, "mean": 3.67}
    assert "relevance 0 of 1 vote" in text_of(here.call("kb_get", id=bad))
    assert metrics(here)["relevance"] == {
        "n": 4,
        "mean": 2.75,
        "votes": {"0": 1, "2": 1, "4": 1, "5": 1},
        "lowest": [{"id": bad, "n": 1, "mean": 0}, {"id": good, "n": 3, "mean": 3.67}],
    }


@pytest.mark.parametrize("relevance", [-1, 6, 2.5, "much"])
def test_a_vote_is_a_whole_number_from_0_to_5(here: Team, relevance: Any) -> None:
    id = here.add("Good.")
    assert here.error("kb_rate", id=id, relevance=relevance)[0] == "INVALID_INPUT"
    assert metrics(here)["relevance"]["n"] == 0


def test_nothing_can_be_said_of_an_entry_that_is_not_there(here: Team) -> None:
    gone = here.add("Gone.")
    here.data("kb_delete", id=gone)
    assert here.error("kb_rate", id=gone, relevance=3)[0] == "NOT_FOUND"


def test_tokens_and_searches_are_told_by_story_and_a_summary_may_say_them_later(here: Team) -> None:
    assert metrics(here)["tokens_per_story"] == dict.fromkeys(
        ("with_searches", "without_searches", "of_answers"), NOTHING
    )
    here.add(LESSON)
    here.world.settle()
    answers = [text_of(here.call("kb_search", query="routes", story="APP-1", phase="dev")) for _ in range(2)]
    first = here.add("APP-1 went well.", entry_type="summary", source_story="APP-1", metadata={"tokens_used": 50_000})
    later = here.add("APP-2 went well.", entry_type="summary", source_story="APP-2")
    here.data("kb_update", id=later, metadata={"tokens_used": 90_000})
    here.data("kb_update", id=first, metadata={"tokens_used": 40_000})
    told = metrics(here)
    assert told["tokens_per_story"] == {
        "with_searches": {"n": 1, "mean": 40_000},
        "without_searches": {"n": 1, "mean": 90_000},
        "of_answers": {"n": 1, "mean": sum(map(estimate_tokens, answers))},
    }
    assert told["adoption"] == {"n": 2, "mean": 1, "stories_that_searched": 1}


def test_a_briefing_for_a_story_is_a_search_of_it(here: Team) -> None:
    message = here.prompt(phase="dev", story="APP-1").messages[0].content.text
    assert '"story": "APP-1"' in message
    assert metrics(here)["adoption"] == {"n": 1, "mean": 1, "stories_that_searched": 1}
    assert metrics(here)["tokens_per_story"]["of_answers"]["mean"] == estimate_tokens(EMPTY)
