"""The hive's endpoints for agents: contribute, search, fetch, list, delete, report."""

import logging

import pytest

from commonplace.hive.model import QUEUED
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
