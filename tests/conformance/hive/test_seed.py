"""What seed 004 says must be true (`must_haves.truths`), and how it is verified (`verification`): one test each."""

import json
from typing import Any

import pytest

from commonplace.hive.model import CATEGORIES, QUEUED, REJECTED
from commonplace.web.mcp.budgets import estimate_tokens
from tests.conformance.hive.conftest import Pair
from tests.conformance.hive.worlds import Agent, calling
from tests.unit.web.mcp.talking import text_of

TOOLS = {
    *("add_knowledge", "search_knowledge", "list_knowledge", "delete_knowledge"),
    *("publish_knowledge", "report_outcome"),
}
LESSON = "Vercel matches routes in order: put specific routes before parameterized routes in vercel.json."
OTHER = "Postgres deadlocks go away when every transaction locks rows in one order."
PERSONAL = (
    "Ngozi Adichie (ngozi.adichie@example-mail.com, +1 415 555 2671) found that routes match in order of the file."
)
SENSITIVE = "ngozi.adichie@example-mail.com maria@example-mail.com kenji@example-mail.com found it"
SUMMARY = {"id", "title", "category", "confidence", "org_attribution", "relevance_score"}


# truths


def test_an_agent_connects_by_streamable_http(agent: Agent) -> None:
    assert set(agent.tools()) == TOOLS


def test_what_is_added_is_stripped_then_queued_and_never_shared(pair: Pair) -> None:
    id = pair.one.add(PERSONAL)
    stored = pair.world.store.get(pair.one.organisation, id)
    assert stored is not None
    assert stored.status == "pending"
    assert stored.content == "[NAME] ([EMAIL], [PHONE]) found that routes match in order of the file."
    pair.world.settle()
    assert pair.one.found("routes match in order") == pair.two.found("routes match in order") == []
    for agent in (pair.one, pair.two):
        assert agent.error("search_knowledge", id=id)[0] == "NOT_FOUND"
    for raw in ("Ngozi", "example-mail", "2671"):
        assert raw not in pair.world.written()


def test_add_knowledge_answers_at_once_with_an_id_and_queued(agent: Agent) -> None:
    answer = agent.data("add_knowledge", content=LESSON, category="config")
    assert answer == {
        "contribution_id": answer["contribution_id"],
        "status": "queued",
        "category": "config",
        "message": QUEUED,
    }
    assert answer["contribution_id"].startswith("hv_")


def test_what_is_more_than_half_redacted_is_rejected_and_not_stored(agent: Agent) -> None:
    before = agent.world.written()
    result = agent.result("add_knowledge", content=SENSITIVE, category="general")
    assert result.is_error
    assert text_of(result).startswith(REJECTED) or REJECTED in text_of(result)
    assert agent.world.written() == before


def test_what_is_half_redacted_is_kept(agent: Agent) -> None:
    agent.add("ngozi.adichie@example-mail.com maria@example-mail.com found it")


def test_search_knowledge_gives_summaries(agent: Agent) -> None:
    id = agent.share(LESSON + " " + OTHER, category="config", confidence=0.9)
    (result,) = agent.data("search_knowledge", query="specific routes")["results"]
    assert set(result) >= SUMMARY
    assert len(set(result) - SUMMARY) <= 1, "a summary has one number of quality besides"
    assert (result["id"], result["category"], result["confidence"]) == (id, "config", 0.9)
    assert result["title"] == LESSON[:80] + "..."
    assert 0 < result["relevance_score"] <= 1
    assert result["relevance_score"] == round(result["relevance_score"], 4)
    assert estimate_tokens(json.dumps(result)) <= 110


def test_the_text_of_a_search_takes_thirty_to_fifty_tokens_for_a_result(agent: Agent) -> None:
    for number in range(5):
        agent.share(f"{LESSON} Case {number}: {'abcdefghij'[number] * 8} {OTHER}", category="config")
    result = agent.result("search_knowledge", query="specific routes")
    assert len(result.structured_content["results"]) == 5
    assert estimate_tokens(text_of(result)) <= 5 * 50 + 60, "beside what is said once"


def test_the_whole_of_an_item_is_fetched_by_its_id(agent: Agent) -> None:
    told: dict[str, Any] = {"framework": "Next.js", "language": "TypeScript", "version": "14.2", "tags": ["routing"]}
    id = agent.share(LESSON, category="config", confidence=0.9, **told)
    item = agent.data("search_knowledge", id=id)
    assert {"id": id, "content": LESSON, "category": "config", "confidence": 0.9, **told}.items() <= item.items()
    assert item["org_attribution"]
    assert item["contributed_at"]


@pytest.mark.parametrize("name", ["org_id", "organisation", "org"])
def test_whose_knowledge_it_is_comes_from_the_token_alone(pair: Pair, name: str) -> None:
    theirs = pair.two.share(LESSON)
    result = pair.one.result("search_knowledge", query="specific routes", **{name: pair.two.organisation})
    assert theirs not in json.dumps(result.structured_content)
    made = pair.one.result("add_knowledge", content=OTHER, category="general", **{name: pair.two.organisation})
    if not made.is_error:
        stored = pair.world.store.get(pair.one.organisation, made.structured_content["contribution_id"])
        assert stored is not None
    assert [one.content for one in pair.world.store.pending(pair.two.organisation)] == []


def test_a_search_gives_what_is_ones_own_and_what_is_public(pair: Pair) -> None:
    own = pair.one.share(LESSON)
    private = pair.two.share(LESSON + " In private.")
    public = pair.two.share(LESSON + " For all.", public=True)
    assert set(pair.one.found("specific routes", limit=50)) >= {own, public}
    assert private not in pair.one.found("specific routes", limit=50)
    assert pair.one.data("search_knowledge", id=public)["content"] == LESSON + " For all."
    assert pair.one.error("search_knowledge", id=private)[0] == "NOT_FOUND"


# verification


def test_no_session_is_needed_between_two_calls(pair: Pair) -> None:
    id = pair.one.share(LESSON)
    with calling(pair.world, pair.era, pair.one.organisation) as another:
        assert another.data("search_knowledge", id=id)["content"] == LESSON


def test_nobody_without_a_scope_calls_a_tool(pair: Pair) -> None:
    with calling(pair.world, pair.era, level="read") as reader:
        assert set(reader.tools()) == {"search_knowledge", "list_knowledge"}
    with calling(pair.world, pair.era, level="write") as writer:
        assert set(writer.tools()) == TOOLS - {"publish_knowledge"}


def test_nothing_is_written_before_the_redaction_has_answered(agent: Agent) -> None:
    before, redact = agent.world.written(), agent.world.redactor.redact
    seen: list[bool] = []

    def watched(fields: Any, policy: Any) -> Any:
        seen.append(agent.world.written() == before)
        return redact(fields, policy)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agent.world.redactor, "redact", watched)
        agent.add(LESSON)
    assert seen == [True]


def test_a_contribution_waits_and_is_no_item(agent: Agent) -> None:
    id = agent.add(LESSON)
    assert [one.id for one in agent.world.store.pending(agent.organisation)] == [id]
    assert list(agent.world.store.versions(agent.organisation)) == []


def test_a_query_is_embedded_and_compared_by_its_cosine(agent: Agent) -> None:
    near, _ = agent.share(LESSON), agent.share(OTHER)
    agent.world.model.asked.clear()
    answer = agent.data("search_knowledge", query="parameterized routes and specific routes in order")
    assert agent.world.model.asked
    assert answer["results"][0]["id"] == near
    scores = [one["relevance_score"] for one in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_pages_of_a_search_follow_one_another(agent: Agent) -> None:
    words = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf")
    ids = [agent.share(f"{LESSON} {word * 3} {word[::-1]} {number}") for number, word in enumerate(words)]
    first = agent.data("search_knowledge", query="specific routes", limit=3)
    second = agent.data("search_knowledge", query="specific routes", limit=3, cursor=first["next_cursor"])
    last = agent.data("search_knowledge", query="specific routes", limit=3, cursor=second["next_cursor"])
    pages = [[one["id"] for one in page["results"]] for page in (first, second, last)]
    assert [len(page) for page in pages] == [3, 3, 1]
    assert sorted(id for page in pages for id in page) == sorted(ids)
    assert first["total_found"] == 7
    assert last.get("next_cursor") is None


def test_neither_a_query_nor_an_id_is_an_error_with_the_words_of_the_seed(agent: Agent) -> None:
    _, text = agent.error("search_knowledge")
    assert "Provide either 'query' for search or 'id' to fetch a specific item." in text


def test_a_category_filters(agent: Agent) -> None:
    one, _ = agent.share(LESSON, category="config"), agent.share(LESSON + " Again.", category="bug_fix")
    assert agent.found("specific routes", category="config") == [one]


def test_every_category_of_the_seed_is_taken_and_no_other(agent: Agent) -> None:
    for category in CATEGORIES:
        agent.add(f"{LESSON} About {category}.", category=category)
    code, text = agent.error("add_knowledge", content=OTHER, category="gossip")
    assert code == "INVALID_INPUT"
    assert all(category in text for category in CATEGORIES)


def test_parameters_have_the_names_defaults_and_bounds_of_the_seed(agent: Agent) -> None:
    tools = agent.tools()
    add, search = tools["add_knowledge"].input_schema, tools["search_knowledge"].input_schema
    named = {"content", "category", "confidence", "framework", "language", "version", "tags", "run_id"}
    assert set(add["properties"]) == named | {"replaces"}  # which the seed has not
    assert set(add["required"]) == {"content", "category"}
    assert add["properties"]["confidence"]["default"] == 0.8
    assert {"query", "id", "category", "limit", "cursor"} <= set(search["properties"])
    assert search["properties"]["limit"]["default"] == 10
    for content in ("too short", "x" * 20_001):
        assert agent.error("add_knowledge", content=content, category="general")[0] == "INVALID_INPUT"
    for confidence in (-0.1, 1.1):
        assert agent.error("add_knowledge", content=LESSON, category="general", confidence=confidence)[0] == (
            "INVALID_INPUT"
        )


def test_the_model_of_the_index_is_kept_from_the_first_start_on(agent: Agent) -> None:
    agent.share(LESSON)
    stats = agent.world.reviews().stats(agent.author)
    assert agent.world.model.name in stats.model
    assert stats.model_changed is False
