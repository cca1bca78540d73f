"""The hive's endpoints for agents: contribute, search, fetch, list, delete, report."""

import logging
from typing import Any

import pytest

from commonplace.hive.model import CATEGORIES, QUEUED, REJECTED
from tests.unit.hive.rest.desks import LOCKS, Desk


def test_a_contribution_waits_and_is_found_once_it_is_approved(here: Desk) -> None:
    agent, reviewer = here.somebody(), here.reviewer()
    told = agent.told("POST", "/contributions", {"content": LOCKS, "category": "bug_fix", "tags": ["sql"]})
    id = told["contributionId"]
    assert told == {"contributionId": id, "status": "queued", "category": "bug_fix", "message": QUEUED}
    assert agent.told("GET", "/search", q="lock rows")["results"] == []
    reviewer.told("POST", f"/pending/{id}/approve", {})
    found = agent.told("GET", "/search", q="lock rows")
    assert found == {
        "results": [
            {
                "id": id,
                "title": LOCKS,
                "category": "bug_fix",
                "confidence": 0.8,
                "orgAttribution": "Acme DAO",
                "relevanceScore": 1.0,
                "quality": 0.4,
            }
        ],
        "totalFound": 1,
        "nextCursor": None,
        "fallback": False,
        "hint": None,
    }


def test_an_item_is_fetched_whole_and_its_agent_shown_to_its_own_organisation(here: Desk) -> None:
    agent = here.somebody()
    id = agent.add(LOCKS, framework="SQLAlchemy", runId="run-7", confidence=1)
    here.reviewer().told("POST", f"/pending/{id}/approve", {"public": True})
    own = agent.told("GET", f"/items/{id}")
    assert (own["content"], own["framework"], own["confidence"], own["isPublic"]) == (LOCKS, "SQLAlchemy", 1.0, True)
    assert own["agent"] == "agent:a"
    assert own["quality"] == {"outcomes": 0.5, "freshness": 1.0, "confidence": 1.0, "score": 0.5}
    other = here.somebody("b", organisation="other").told("GET", f"/items/{id}")
    assert other == own | {"agent": None}


def test_results_are_paged_narrowed_and_asked_as_of(here: Desk) -> None:
    agent, reviewer = here.somebody(), here.reviewer()
    ids = [agent.add(f"Lock rows in order {number}.", category="config") for number in range(3)]
    for id in ids:
        reviewer.told("POST", f"/pending/{id}/approve", {})
    first = agent.told("GET", "/search", q="lock", limit=2)
    second = agent.told("GET", "/search", q="lock", limit=2, cursor=first["nextCursor"])
    assert [one["id"] for one in first["results"] + second["results"]] == ids
    assert second["nextCursor"] is None
    assert agent.told("GET", "/search", q="lock", category="tooling")["results"] == []
    assert agent.told("GET", "/search", q="lock", asOf="2026-01-01")["results"] == []
    assert here.world.search.asked[-1].as_of == "2026-01-01T00:00:00.000000Z"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "q: Field required"),
        ({"q": " "}, "q is empty"),
        ({"q": "x" * 1_001}, "at most 1000"),
        ({"q": "lock", "limit": 51}, "less than or equal to 50"),
        ({"q": "lock", "category": "gossip"}, "category"),
        ({"q": "lock", "cursor": "nonsense"}, "cursor does not belong to this list"),
        ({"q": "lock", "asOf": "yesterday"}, "as_of is not a time"),
        ({"q": "lock", "as_of": "2026-01-01"}, "did you mean asOf?"),
        ({"q": "lock", "organisation": "other"}, "no such parameter"),
    ],
)
def test_a_search_out_of_bounds_is_refused(here: Desk, query: dict[str, Any], said: str) -> None:
    status, code, message = here.somebody().refused("GET", "/search", **query)
    assert (status, code) == (422, "INVALID_INPUT")
    assert said in message


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"content": "short"}, "INVALID_INPUT", "at least 10"),
        ({"content": "x" * 20_001}, "INVALID_INPUT", "at most 20,000"),
        ({"content": None}, "INVALID_INPUT", "content"),
        ({"category": "gossip"}, "INVALID_INPUT", "no such category"),
        ({"confidence": 2}, "INVALID_INPUT", "confidence"),
        ({"confidence": "0.5"}, "INVALID_INPUT", "confidence"),
        ({"tags": ["x"] * 21}, "INVALID_INPUT", "tags"),
        ({"tags": ["x" * 65]}, "INVALID_INPUT", "at most 64"),
        ({"organisation": "other"}, "INVALID_INPUT", "organisation"),
        ({"content": "Rosa Luxemburg Rosa wrote", "category": "gossip"}, "TOO_SENSITIVE", REJECTED),
    ],
)
def test_a_contribution_out_of_bounds_is_refused_and_not_kept(
    here: Desk, change: dict[str, Any], code: str, said: str
) -> None:
    agent = here.somebody()
    status, found, message = agent.refused("POST", "/contributions", {"content": LOCKS, "category": "bug_fix"} | change)
    assert (status, found) == (422, code)
    assert said in message
    assert here.world.kept() == {}


def test_the_refusal_of_a_category_names_them_all(here: Desk) -> None:
    answer = here.somebody().ask("POST", "/contributions", {"content": LOCKS, "category": "gossip"})
    assert all(category in answer.json()["error"]["details"]["hint"] for category in CATEGORIES)


@pytest.mark.parametrize("content", ["a" * 20_000, "🦀" * 20_000])
def test_the_longest_contribution_arrives_and_is_read(here: Desk, content: str) -> None:
    agent = here.somebody()
    id = agent.add(content)
    here.reviewer().told("POST", f"/pending/{id}/approve", {})
    assert agent.told("GET", f"/items/{id}")["content"] == content


def test_nothing_of_what_was_sent_is_logged_when_code_breaks(here: Desk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    status, code, _ = here.somebody().refused(
        "POST", "/contributions", {"content": "Boom, says the canary-4711.", "category": "bug_fix"}
    )
    assert (status, code) == (500, "INTERNAL_ERROR")
    assert "request failed" in caplog.text
    assert "canary-4711" not in caplog.text + repr([vars(record) for record in caplog.records])


def test_while_the_redaction_is_away_nothing_is_kept(here: Desk) -> None:
    answer = here.somebody().ask("POST", "/contributions", {"content": "Gone are calm days.", "category": "bug_fix"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "UNAVAILABLE")
    assert int(answer.headers["retry-after"]) > 0
    assert here.world.kept() == {}


def test_the_list_has_what_became_of_ones_own(here: Desk) -> None:
    agent, reviewer = here.somebody(), here.reviewer()
    ids = [agent.add(f"What was learned on day {number}.") for number in range(3)]
    here.somebody("b").add("What a colleague contributed.")
    reviewer.told("POST", f"/pending/{ids[0]}/reject", {"reason": "It is in the manual."})
    first = agent.told("GET", "/contributions", limit=2)
    second = agent.told("GET", "/contributions", limit=2, cursor=first["nextCursor"])
    rows = first["contributions"] + second["contributions"]
    assert [(one["id"], one["status"]) for one in rows] == [
        (ids[2], "pending"),
        (ids[1], "pending"),
        (ids[0], "rejected"),
    ]
    assert (rows[2]["reason"], rows[2]["title"]) == ("It is in the manual.", "")
    assert second["nextCursor"] is None
    assert len(agent.told("GET", "/contributions", status="rejected")["contributions"]) == 1
    assert agent.refused("GET", "/contributions", status="pending", cursor=first["nextCursor"])[1] == "INVALID_INPUT"


def test_who_contributed_deletes_and_a_reviewer_may(here: Desk) -> None:
    agent, colleague, reviewer = here.somebody(), here.somebody("b"), here.reviewer()
    first, second = agent.add(LOCKS), agent.add("Sort the ids before you lock.")
    for id in (first, second):
        reviewer.told("POST", f"/pending/{id}/approve", {})
    assert colleague.refused("DELETE", f"/items/{first}")[:2] == (403, "FORBIDDEN")
    assert agent.told("DELETE", f"/items/{first}") == {"id": first, "deleted": True}
    assert agent.refused("DELETE", f"/items/{first}")[:2] == (404, "NOT_FOUND")
    assert reviewer.told("DELETE", f"/items/{second}")["deleted"]


def test_an_outcome_is_reported_once(here: Desk) -> None:
    agent = here.somebody()
    id = agent.add(LOCKS)
    here.reviewer().told("POST", f"/pending/{id}/approve", {})
    body = {"outcome": "did_not_help", "runId": "run-1"}
    told = agent.told("POST", f"/items/{id}/outcomes", body)
    assert told == {
        "itemId": id,
        "outcome": "did_not_help",
        "counted": True,
        "repeated": False,
        "message": "Counted.",
        "helpfulCount": 0,
        "notHelpfulCount": 1,
    }
    assert agent.told("POST", f"/items/{id}/outcomes", body | {"outcome": "solved"})["repeated"]
    assert agent.refused("POST", f"/items/{id}/outcomes", {"outcome": "maybe"})[0] == 422


def test_foreign_and_unknown_ids_get_the_same_answer(here: Desk) -> None:
    other = here.somebody("c", organisation="other")
    foreign = other.add("What another organisation has.")
    here.reviewer("other").told("POST", f"/pending/{foreign}/approve", {})
    nobody, reviewer = f"{foreign[:-1]}Z", here.reviewer()
    for method, path, body in (
        ("GET", "/items/{}", None),
        ("DELETE", "/items/{}", None),
        ("POST", "/items/{}/outcomes", {"outcome": "solved"}),
        ("PUT", "/items/{}/publication", {"isPublic": True}),
        ("PUT", "/items/{}/validity", {"invalidAt": None}),
        ("GET", "/pending/{}", None),
        ("POST", "/pending/{}/approve", {}),
        ("POST", "/pending/{}/reject", {"reason": "no"}),
        ("POST", "/pending/{}/flag", {"sensitive": True}),
        ("POST", "/pending/{}/mask", {"passage": "organisation"}),
    ):
        told = reviewer.ask(method, path.format(foreign), body)
        assert told.status_code == 404, path
        assert told.text.replace(foreign, nobody) == reviewer.ask(method, path.format(nobody), body).text
    assert reviewer.refused("GET", "/items/nothing-like-an-id")[:2] == (404, "NOT_FOUND")
