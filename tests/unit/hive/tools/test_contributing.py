"""`add_knowledge`, `list_knowledge`, `delete_knowledge`, `publish_knowledge`, `report_outcome` (seed 004)."""

import logging
from typing import Any

import pytest

from commonplace.hive.model import (
    CATEGORIES,
    REJECTED,
    ItemId,
)
from commonplace.identity.principals import author
from tests.fakes.hives import FakeHive
from tests.unit.hive.tools.agents import REVIEWER, Agent, somebody
from tests.unit.web.mcp.talking import ask

LOCKS = "Lock rows in one order, or two transactions wait for each other."
ROUTES = "Specific routes come before parameterized routes in vercel.json."


def test_a_contribution_is_queued_under_an_id(here: Agent) -> None:
    told = here.data("add_knowledge", content=LOCKS, category="bug_fix")
    assert told == {
        "contribution_id": told["contribution_id"],
        "status": "queued",
        "category": "bug_fix",
        "message": "Knowledge contribution queued for review.",
    }
    kept = here.world.kept()[ItemId(told["contribution_id"])]
    assert (kept.status, kept.organisation, kept.confidence) == ("pending", "acme", 0.8)


def test_every_field_of_a_contribution_arrives(here: Agent) -> None:
    sent: dict[str, Any] = {"confidence": 0.9, "framework": "Vercel", "language": "json", "version": "3"}
    id = here.add(ROUTES, category="config", **sent, tags=["routing", "api"], run_id="run-7")
    kept = here.world.kept()[ItemId(id)]
    assert {name: getattr(kept, name) for name in sent} == sent
    assert (kept.category, kept.tags, kept.run_id, kept.agent) == ("config", ("routing", "api"), "run-7", "agent:a")


def test_a_text_that_is_mostly_personal_is_refused_in_the_seeds_words(here: Agent) -> None:
    code, text = here.error("add_knowledge", content="Rosa Luxemburg Rosa wrote", category="bug_fix")
    assert code == "TOO_SENSITIVE"
    assert REJECTED in text
    assert here.world.kept() == {}


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"content": "too short"}, "at least 10 characters"),
        ({"content": "x" * 20_001}, "at most 20,000 characters"),
        ({"confidence": 1.1}, "must be at most 1"),
        ({"confidence": -0.1}, "must be at least 0"),
        ({"tags": ["t"] * 21}, "at most 20 entries"),
        ({"tags": ["t" * 65]}, "at most 64 characters"),
        ({"framework": "f" * 101}, "at most 100 characters"),
        ({"run_id": "r" * 201}, "at most 200 characters"),
        ({"organisation": "other"}, "no argument organisation"),
    ],
)
def test_what_is_out_of_bounds_is_refused_and_not_repeated(here: Agent, sent: dict[str, Any], said: str) -> None:
    code, text = here.error("add_knowledge", **({"content": LOCKS, "category": "bug_fix"} | sent))
    assert code == "INVALID_INPUT"
    assert said in text
    assert not any(isinstance(value, str) and len(value) > 20 and value in text for value in sent.values())
    assert here.world.kept() == {}


def test_the_schema_names_categories_and_bounds(here: Agent) -> None:
    listed = ask(here.server(), lambda client: client.list_tools()).tools
    schema = next(tool.input_schema for tool in listed if tool.name == "add_knowledge")
    properties = schema["properties"]
    assert properties["category"]["enum"] == list(CATEGORIES)
    assert (properties["content"]["minLength"], properties["content"]["maxLength"]) == (10, 20_000)
    assert (properties["confidence"]["default"], schema["required"]) == (0.8, ["content", "category"])


def test_the_list_has_ones_own_contributions_newest_first(here: Agent) -> None:
    first, second = here.add(LOCKS), here.add(ROUTES, category="config")
    here.other(somebody(name="b")).add("What a colleague contributed.")
    here.other(somebody("other")).add("What another organisation has.")
    told = here.data("list_knowledge")
    assert [one["id"] for one in told["contributions"]] == [second, first]
    assert told["contributions"][0] == {
        "id": second,
        "title": ROUTES,
        "category": "config",
        "status": "pending",
        "confidence": 0.8,
        "contributed_at": told["contributions"][0]["contributed_at"],
        "is_public": False,
    }
    assert "next_cursor" not in told


def test_the_list_is_filtered_and_paged(here: Agent) -> None:
    ids = [here.add(f"What was learned on day {number}.") for number in range(5)]
    here.world.approve(author(REVIEWER.principal, ""), ids[0])
    assert [one["id"] for one in here.data("list_knowledge", status="approved")["contributions"]] == ids[:1]
    assert here.data("list_knowledge", category="config")["contributions"] == []
    page, found = here.data("list_knowledge", status="pending", limit=3), list[str]()
    found += [one["id"] for one in page["contributions"]]
    page = here.data("list_knowledge", status="pending", limit=3, cursor=page["next_cursor"])
    found += [one["id"] for one in page["contributions"]]
    assert found == ids[:0:-1]
    assert "next_cursor" not in page


def test_a_cursor_of_another_list_is_refused(here: Agent) -> None:
    for number in range(3):
        here.add(f"What was learned on day {number}.")
    cursor = here.data("list_knowledge", limit=1)["next_cursor"]
    assert here.error("list_knowledge", limit=1, status="pending", cursor=cursor)[0] == "INVALID_INPUT"
    assert here.error("list_knowledge", cursor="AAAA")[0] == "INVALID_INPUT"


def test_the_reason_of_a_rejection_is_shown(here: Agent) -> None:
    id = here.add(LOCKS)
    here.world.reviews.reject(author(REVIEWER.principal, ""), ItemId(id), "It is in the manual.")
    (one,) = here.data("list_knowledge")["contributions"]
    assert (one["status"], one["title"], one["reason"]) == ("rejected", "", "It is in the manual.")
    assert "It is in the manual." in here.told("list_knowledge")


def test_unknown_and_foreign_ids_get_the_same_answer(here: Agent) -> None:
    foreign = here.other(somebody("other")).item("What another organisation has.")
    reviewer = here.other(REVIEWER)
    nobody = f"{foreign[:-1]}Z"
    for tool, name, more in (
        ("search_knowledge", "id", {}),
        ("delete_knowledge", "id", {}),
        ("publish_knowledge", "id", {"is_public": True}),
        ("report_outcome", "item_id", {"outcome": "solved"}),
    ):
        code, text = reviewer.error(tool, **{name: foreign}, **more)
        assert (code, text.replace(foreign, nobody)) == reviewer.error(tool, **{name: nobody}, **more)
        assert reviewer.error(tool, **{name: "x" * 3_000}, **more)[0] == "NOT_FOUND"


def test_publishing_is_for_reviewers_and_can_be_taken_back(here: Agent) -> None:
    id = here.item(LOCKS)
    refused = here.call("publish_knowledge", id=id, is_public=True)
    assert refused.is_error
    stranger, reviewer = here.other(somebody("other")), here.other(REVIEWER)
    assert stranger.error("search_knowledge", id=id)[0] == "NOT_FOUND"
    told = reviewer.data("publish_knowledge", id=id, is_public=True)
    assert (told["id"], told["is_public"]) == (id, True)
    assert stranger.data("search_knowledge", id=id)["is_public"]
    assert reviewer.data("publish_knowledge", id=id, is_public=False) == {"id": id, "is_public": False}
    assert stranger.error("search_knowledge", id=id)[0] == "NOT_FOUND"


def test_who_only_reads_contributes_nothing(here: Agent) -> None:
    reader = here.other(somebody(level="read"))
    for name, arguments in (
        ("add_knowledge", {"content": LOCKS, "category": "bug_fix"}),
        ("report_outcome", {"item_id": here.item(ROUTES), "outcome": "solved"}),
    ):
        result = reader.call(name, **arguments)
        assert result.is_error


def test_a_flood_is_told_when_to_come_back() -> None:
    here = Agent(FakeHive(limits={"per_hour": 2}))
    for number in range(2):
        here.add(f"What was learned on day {number}.")
    code, text = here.error("add_knowledge", content=LOCKS, category="bug_fix")
    assert code == "RATE_LIMITED"
    assert "Try again in" in text


def test_an_account_without_an_organisation_has_no_hive(here: Agent) -> None:
    assert here.other(somebody(None)).error("search_knowledge", query="locks")[0] == "FORBIDDEN"


def test_nothing_of_what_was_sent_is_logged_when_code_breaks(here: Agent, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    code, text = here.error("add_knowledge", content="Boom, says the canary-4711.", category="bug_fix")
    assert code == "INTERNAL_ERROR"
    assert "a tool failed" in caplog.text
    assert "canary-4711" not in text + caplog.text + repr([vars(record) for record in caplog.records])
