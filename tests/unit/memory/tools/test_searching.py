"""`kb_search`: shape, size, what is counted and logged, what is said when meaning cannot be compared."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.memory.answers import LIST_TOKENS
from commonplace.memory.operations import FALLBACK, LIST
from commonplace.search.fitness import NOTHING_FITS, NOTHING_WITHIN
from commonplace.web.mcp.budgets import MAX_TOKENS, estimate_tokens
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.memories import remembering
from tests.unit.memory.tools.teams import Team, member, team
from tests.unit.web.mcp.talking import ERAS, ask, text_of

PROSE = "Write tests beside the code, not after it: in the fix phase they cost twice as much. "


class AwayFromQueries(FakeEmbeddings):
    def embed(self, texts: Any, *, query: bool = False) -> Any:
        if query:
            raise Unavailable("The model does not answer.")
        return super().embed(texts)


@pytest.mark.parametrize("mode", ERAS)
def test_a_search_answers_entries_with_scores(here: Team, mode: str) -> None:
    here.mode = mode
    id = here.add("Route ordering: specific routes come before parameterized ones.", tags=["routing"])
    here.world.settle()
    result = here.call("kb_search", query="route ordering", role="dev", tags=["routing", "other"], entry_type="fact")
    [found] = result.structured_content["entries"]
    assert (found["id"], result.structured_content["fallback"]) == (id, False)
    assert 0 < found["score"] <= 1
    assert found["content"] in text_of(result)
    assert id in text_of(result)


def test_an_entry_says_how_well_it_fits_and_the_answer_begins_with_the_sentence_that_none_does(here: Team) -> None:
    here.add("Route ordering: specific routes come before parameterized ones.")
    here.world.settle()
    fitting = here.call("kb_search", query="ordering of specific routes")
    assert [one["fit"] for one in fitting.structured_content["entries"]] == ["strong"]
    assert "weak" not in text_of(fitting)
    weak = here.call("kb_search", query="parental leave ordering policy bank holiday")
    assert [one["fit"] for one in weak.structured_content["entries"]] == ["weak"]
    assert weak.structured_content["hints"][0] == NOTHING_FITS
    assert text_of(weak).startswith(f"{NOTHING_FITS} 1 entry, all weak, the best first.")
    assert "1. weak match `" in text_of(weak)
    narrowed = here.call("kb_search", query="parental leave ordering policy bank holiday", role="dev")
    assert narrowed.structured_content["hints"][0] == NOTHING_WITHIN


def test_nothing_found_says_what_to_try(here: Team) -> None:
    result = here.call("kb_search", query="tides")
    assert result.structured_content["entries"] == []
    assert "fewer conditions" in result.structured_content["hints"][0]
    assert "Nothing was found." in text_of(result)


def test_without_meaning_words_are_compared_and_the_answer_says_so(tmp_path: Path) -> None:
    here = Team(remembering(tmp_path, AwayFromQueries()))
    here.add("Cars are red.")
    here.world.settle()
    result = here.call("kb_search", query="cars")
    assert result.structured_content["fallback"] is True
    assert FALLBACK in text_of(result)
    assert [one["content"] for one in result.structured_content["entries"]] == ["Cars are red."]


@pytest.mark.parametrize(("limit", "most"), [(None, LIST_TOKENS), (50, MAX_TOKENS)])
def test_an_answer_has_a_size_whatever_is_found(here: Team, limit: int | None, most: int) -> None:
    tags = [f"a-long-tag-of-many-words-{number}" for number in range(30)]
    for number in range(60):
        words = " ".join(f"{chr(97 + number % 26)}{number}x{place}" for place in range(700))
        here.world.add(f"{number} cars. {words}", tags=tags, source_file=f"docs/{number}.md" * 10)
    here.world.settle()
    result = here.call("kb_search", query="cars", **({"limit": limit} if limit else {}))
    data = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    assert max(estimate_tokens(text_of(result)), estimate_tokens(data)) <= most
    assert len(result.structured_content["entries"]) >= 3
    assert all(one["truncated"] for one in result.structured_content["entries"])


def test_an_answer_says_how_many_short_copies_are_left_out_and_how_to_see_them(here: Team) -> None:
    for text in ("Run the migration before the deploy.", "Run migrations before the deploy!", "Boats are slow."):
        here.world.add(text)
    here.world.settle()
    told = here.data("kb_search", query="migration before the deploy")
    assert told["folded"] == 1
    assert any("1 nearly equal left out" in hint and "collapse=false" in hint for hint in told["hints"])
    assert "folded" not in here.data("kb_search", query="migration before the deploy", collapse=False)


def test_copies_are_named_beside_the_best_and_not_without_end(here: Team) -> None:
    for number in range(20):
        here.world.add(f"{number} cars. {PROSE * 20}")
    here.world.settle()
    [found] = here.data("kb_search", query="cars")["entries"]
    assert len(found["duplicates"]) == 5


def test_fifty_short_entries_are_all_shown(here: Team) -> None:
    for number in range(60):
        here.world.add(f"{number} cars are red. {PROSE}", tags=["cars", "colour"])
    here.world.settle()
    told = here.data("kb_search", query="cars", limit=50)
    assert len(told["entries"]) == 50


def test_the_defaults_are_those_of_the_deployment_and_the_schema_shows_them(tmp_path: Path) -> None:
    here = team(tmp_path, default_limit=2, min_confidence=0.9)
    for number in range(4):
        here.add(f"{number} cars are red.", confidence=1 if number else 0.8)
    here.world.settle()
    assert len(here.data("kb_search", query="cars")["entries"]) == 2
    assert len(here.data("kb_search", query="cars", limit=4)["entries"]) == 3
    assert len(here.data("kb_search", query="cars", limit=4, min_confidence=0.5)["entries"]) == 4
    listed = ask(here.server(), lambda client: client.list_tools()).tools
    schema = next(tool.input_schema for tool in listed if tool.name == "kb_search")["properties"]
    assert (schema["limit"]["default"], schema["min_confidence"]["default"]) == (2, 0.9)


def test_a_query_is_one_line_of_log_without_a_word_of_it(here: Team, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "commonplace.memory"):
        here.data("kb_search", query="unspeakable tides", role="qa", phase="dev")
        here.data("kb_search", query="unspeakable tides")
    lines = [record for record in caplog.records if record.message == "memory query"]
    told = [tuple(getattr(line, name) for name in ("phase", "role", "fallback")) for line in lines]
    assert told == [("dev", "qa", False), ("none", "all", False)]
    assert "unspeakable" not in "".join(str(vars(record)) for record in caplog.records)


def test_another_organisation_finds_nothing_of_it(here: Team) -> None:
    id = here.add("Cars are red.", tags=["cars"])
    here.world.settle()
    here.caller = member("other")
    assert here.data("kb_search", query="cars")["entries"] == []
    assert here.error("kb_get", id=id)[0] == "NOT_FOUND"


def test_an_account_of_no_organisation_is_told_so(here: Team) -> None:
    here.caller = member(None)
    for name, arguments in (("kb_search", {"query": "x"}), ("kb_stats", {}), ("kb_list", {})):
        code, text = here.error(name, **arguments)
        assert code == "FORBIDDEN"
        assert "belongs to no organisation" in text


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("list all lessons", 'entry_type="fact", order_by="created_at", order="desc"'),
        ("newest entries", 'order_by="created_at", order="desc"'),
        ("everything the dev role learned", 'role="dev", order_by="created_at", order="desc"'),
        (
            "facts for qa since 2025-03",
            'role="qa", entry_type="fact", since="2025-03-01", order_by="created_at", order="desc"',
        ),
        ("oldest templates", 'entry_type="template", order_by="created_at", order="asc"'),
        ("recently updated entries", 'order_by="updated_at", order="desc"'),
        ("alle Einträge", 'order_by="created_at", order="desc"'),
    ],
)
def test_a_question_for_a_list_points_to_the_tool_that_lists(here: Team, query: str, arguments: str) -> None:
    hints = here.call("kb_search", query=query).structured_content["hints"]
    assert LIST.format(arguments) in hints
    told = dict(one.split("=") for one in arguments.replace('"', "").split(", "))
    assert not here.call("kb_list", **told).is_error


@pytest.mark.parametrize(
    "query", ["route ordering", "lessons about routes", "dev", "what did the dev role break", "facts of life"]
)
def test_a_question_with_a_subject_points_nowhere(here: Team, query: str) -> None:
    assert not any("kb_list" in hint for hint in here.call("kb_search", query=query).structured_content["hints"])
