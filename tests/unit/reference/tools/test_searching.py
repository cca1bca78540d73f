"""`search_knowledge`: the best first, in as few words as show which one to take; a miss is an answer."""

import json
import logging
import re

import pytest

from commonplace.reference.model import ENTRY_TYPES, Asked, Catalogue, SearchAnswer
from commonplace.reference.tools.search import FALLBACK, SEARCHED
from tests.unit.reference.tools.desks import Desk, desk, hit, hits, member
from tests.unit.web.mcp.talking import ERAS, text_of

IDS = ("cmd-gw-users-list", "cmd-gw-users-get", "cmd-users-list", "api-get-groups", "cmd-gw-groups-list")


@pytest.mark.parametrize("mode", ERAS)
def test_results_come_best_first_with_what_to_type(here: Desk, helios: Catalogue, mode: str) -> None:
    here.mode, here.reference.found = mode, SearchAnswer(hits(helios, *IDS))
    result = here.call("search_knowledge", query="list all users")
    data = result.structured_content
    assert [one["id"] for one in data["results"]] == list(IDS)
    syntax = hit(helios, IDS[1]).entry.syntax
    assert data["results"][1]["syntax"] == syntax
    assert [one["score"] for one in data["results"]] == [1.0, 0.5, 0.33, 0.25, 0.2]
    text = text_of(result)
    assert text.startswith("5 results, the best first.")
    assert f"`{syntax}`" in text
    assert "`GET /api/v1/groups`" in text


def test_everything_says_where_it_stands(here: Desk, helios: Catalogue) -> None:
    for count in (1, 3, 5):
        here.reference.found = SearchAnswer(hits(helios, *IDS[:count]))
        result = here.call("search_knowledge", query="x")
        data = result.structured_content
        named = {one["catalogue"] for one in data.get("sources", [])}
        assert all("sourceUrl" in one or one["catalogue"] in named for one in data["results"])
        assert f"/{helios.commit_sha}" in text_of(result)


def test_where_there_is_no_repository_on_github_path_and_commit_are_named(helios: Catalogue) -> None:
    local = helios.model_copy(update={"web_url": None})
    here = desk(local)
    for count in (1, 5):
        here.reference.found = SearchAnswer(hits(local, *IDS[:count]))
        result = here.call("search_knowledge", query="x")
        told = json.dumps(result.structured_content)
        assert "http" not in "".join(re.findall(r"^Source: .*$", text_of(result), re.MULTILINE))
        assert "sourceUrl" not in told
        assert local.commit_sha in told
        assert f"commit {local.commit_sha}" in text_of(result)
    here.reference.found = SearchAnswer(hits(local, IDS[0]))
    (one,) = here.data("search_knowledge", query="x")["results"]
    assert one["path"] == hit(local, IDS[0]).placed.path


def test_one_result_is_told_whole(here: Desk, helios: Catalogue) -> None:
    here.reference.found = SearchAnswer(hits(helios, "cmd-gw-groups-list"))
    (one,) = here.data("search_knowledge", query="x")["results"]
    assert "content" in one
    assert "sourceUrl" in one


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"query": "users"}, Asked("users")),
        ({"query": "users", "type": "all", "category": "all"}, Asked("users")),
        ({"query": "users", "type": "command", "limit": 3}, Asked("users", "command", limit=3)),
        ({"query": "users", "category": "Google Workspace"}, Asked("users", category="google-workspace")),
        ({"query": "users", "module": "microsoft_365"}, Asked("users", module="microsoft-365")),
        ({"q": "users", "kind": "Commands", "top_k": "7"}, Asked("users", "command", limit=7)),
        ({"query": "users", "limit": 99}, Asked("users", limit=20)),
    ],
)
def test_arguments_are_understood_as_models_write_them(here: Desk, given: dict[str, object], asked: Asked) -> None:
    here.data("search_knowledge", **given)
    assert here.reference.asked == [asked]


def test_a_miss_is_no_error_and_says_what_to_do(here: Desk) -> None:
    here.reference.found = SearchAnswer((), ("helios gw users list", "helios users list"), shaped=True)
    result = here.call("search_knowledge", query="helios get-users")
    assert not result.is_error
    data = result.structured_content
    assert data["results"] == []
    assert data["suggestions"] == ["Did you mean 'helios gw users list'?", "Did you mean 'helios users list'?"]
    assert any("list_commands" in hint for hint in data["hints"])
    assert "Did you mean `helios gw users list` or `helios users list`?" in text_of(result)
    assert "list_commands" in text_of(result)


def test_a_miss_names_the_report_of_gaps_to_who_may_use_it(here: Desk) -> None:
    assert "report_gap" not in text_of(here.call("search_knowledge", query="x"))
    here.caller = member()
    text = text_of(here.call("search_knowledge", query="x"))
    assert text.index("list_commands") < text.index("report_gap")


def test_conditions_that_nothing_fulfils_are_named(here: Desk) -> None:
    text = text_of(here.call("search_knowledge", query="x", category="nope", module="neither"))
    assert "There is no category “nope”; in use: developer-console, google-workspace" in text
    assert "There is no module “neither”; in use: microsoft-365." in text


def test_that_only_words_were_compared_is_said(here: Desk, helios: Catalogue) -> None:
    for found in (SearchAnswer(hits(helios, *IDS), fallback=True), SearchAnswer((), fallback=True)):
        here.reference.found = found
        result = here.call("search_knowledge", query="x")
        assert FALLBACK in text_of(result)
        assert FALLBACK in result.structured_content["hints"]


def test_every_type_of_the_seed_can_be_asked_for(here: Desk) -> None:
    for type in ENTRY_TYPES:
        here.data("search_knowledge", query="x", type=type)
    assert [asked.type for asked in here.reference.asked] == list(ENTRY_TYPES)


def test_the_log_says_how_a_search_ended_and_not_what_it_was_for(
    here: Desk, helios: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    here.reference.found = SearchAnswer(hits(helios, *IDS))
    with caplog.at_level(logging.INFO):
        here.data("search_knowledge", query="swordfish")
    (line,) = [record for record in caplog.records if record.message == SEARCHED]
    assert (line.__dict__["matchedBy"], line.__dict__["found"]) == ("words", 5)
    assert "swordfish" not in repr([record.__dict__ for record in caplog.records if record.name != "mcp.client"])


def test_a_store_that_is_away_is_said_to_be(here: Desk) -> None:
    here.reference.down = True
    assert here.error("search_knowledge", query="x")[0] == "UNAVAILABLE"
    assert here.error("get_command", command="x")[0] == "UNAVAILABLE"
    assert here.error("list_commands")[0] == "UNAVAILABLE"
