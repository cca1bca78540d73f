"""The hive's endpoints for reviewers: queue, decisions, publication, validity, rules, figures, export."""

from typing import Any

from tests.unit.hive.rest.desks import LOCKS, Desk


def test_a_review_shows_the_contribution_and_what_resembles_it(here: Desk) -> None:
    agent, reviewer = here.somebody(), here.reviewer()
    public = here.somebody("c", organisation="other").add(LOCKS)
    here.reviewer("other").told("POST", f"/pending/{public}/approve", {"public": True})
    id = agent.add(f"{LOCKS} Rosa says so.", runId="run-7")
    told = reviewer.told("GET", f"/pending/{id}")
    assert told["contribution"]["content"] == f"{LOCKS} [NAME] says so."
    assert (told["contribution"]["agent"], told["contribution"]["runId"]) == ("agent:a", "run-7")
    assert told["contribution"]["redactions"] == {"NAME": 1}
    assert told["quality"] is None
    (near,) = told["near"]
    assert (near["id"], near["own"], near["status"], near["by"]) == (public, False, "approved", "words")
    assert "agent" not in near


def test_the_second_reviewer_is_told_of_the_first_ones_decision(here: Desk) -> None:
    id = here.somebody().add(LOCKS)
    here.reviewer().told("POST", f"/pending/{id}/approve", {})
    other = here.somebody("second", "hive:admin", tier="vibecoder")
    answer = other.ask("POST", f"/pending/{id}/reject", {"reason": "no"})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (409, "CONFLICT")
    assert (error["details"]["status"], error["details"]["decidedBy"]) == ("approved", "agent:reviewer-acme")


def test_a_contribution_is_flagged_masked_and_rejected(here: Desk) -> None:
    id, reviewer = here.somebody().add(f"{LOCKS} Ask Clara for more."), here.reviewer()
    assert reviewer.told("POST", f"/pending/{id}/flag", {"sensitive": True})["sensitive"]
    assert [one["id"] for one in reviewer.told("GET", "/pending", sensitive=True)["contributions"]] == [id]
    masked = reviewer.told("POST", f"/pending/{id}/mask", {"passage": "Clara", "kind": "NAME"})
    assert masked["content"] == f"{LOCKS} Ask [NAME] for more."
    rejected = reviewer.told("POST", f"/pending/{id}/reject", {"reason": "Known."})
    assert (rejected["status"], rejected["content"], rejected["reason"]) == ("rejected", "", "Known.")
    assert reviewer.refused("POST", f"/pending/{id}/mask", {"passage": "x", "kind": "SHOE_SIZE"})[0] == 422


def test_an_item_is_invalidated_and_made_valid_again(here: Desk) -> None:
    agent, reviewer = here.somebody(), here.reviewer()
    id = agent.add(LOCKS)
    reviewer.told("POST", f"/pending/{id}/approve", {})
    told = reviewer.told("PUT", f"/items/{id}/validity", {"invalidAt": "2026-11-23T09:01:00+01:00", "reason": "Fixed."})
    assert told["invalidAt"] == "2026-11-23T08:01:00.000000Z"
    here.world.seconds += 60
    assert agent.told("GET", "/search", q="lock")["results"] == []
    assert reviewer.told("PUT", f"/items/{id}/validity", {"invalidAt": None})["invalidAt"] is None
    assert len(agent.told("GET", "/search", q="lock")["results"]) == 1
    assert reviewer.refused("PUT", f"/items/{id}/validity", {"invalidAt": "2020-01-01"})[0] == 422
    assert reviewer.refused("PUT", f"/items/{id}/validity", {})[0] == 422


def test_rules_are_replaced_at_the_revision_that_was_read(here: Desk) -> None:
    reviewer = here.reviewer()
    rules: dict[str, Any] = {
        "approvals": [{"id": "r1", "category": "tooling", "minConfidence": 0.9}],
        "patterns": ["PROJ-[0-9]{4}"],
        "allowed": ["Acme"],
    }
    was = reviewer.told("GET", "/rules")
    assert was == {"revision": 0, "approvals": [], "patterns": [], "allowed": []}
    now = reviewer.told("PUT", "/rules", rules | {"revision": 0})
    assert now == rules | {
        "revision": 1,
        "approvals": [{"id": "r1", "category": "tooling", "agent": None, "minConfidence": 0.9}],
    }
    assert reviewer.refused("PUT", "/rules", rules | {"revision": 0})[:2] == (409, "CONFLICT")
    nameless = {"revision": 1, "approvals": [{"id": "r2"}]}
    assert reviewer.refused("PUT", "/rules", nameless)[:2] == (422, "INVALID_INPUT")
    agent = here.somebody()
    told = agent.told("POST", "/contributions", {"content": LOCKS, "category": "tooling", "confidence": 0.95})
    assert told["status"] == "approved"


def test_the_figures_are_those_of_ones_own_organisation(here: Desk) -> None:
    id = here.somebody().add(LOCKS)
    here.somebody("c", organisation="other").add("What another organisation has.")
    reviewer = here.reviewer()
    reviewer.told("POST", f"/pending/{id}/approve", {"public": True})
    told = reviewer.told("GET", "/stats")
    assert (told["approved"], told["pending"], told["published"], told["contributed"]) == (1, 0, 1, 1)


def test_the_feeds_can_be_read_to_their_end(here: Desk) -> None:
    reviewer, other = here.reviewer(), here.reviewer("other")
    own = [here.somebody().add(f"What was learned on day {number}.") for number in range(5)]
    foreign = here.somebody("c", organisation="other").add("What another organisation shares.")
    for id in own:
        reviewer.told("POST", f"/pending/{id}/approve", {"public": id == own[0]})
    other.told("POST", f"/pending/{foreign}/approve", {"public": True})
    read: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = reviewer.told("GET", "/items", limit=2, **cursor)
        read += page["items"]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert [one["id"] for one in read] == own[::-1]
    public = reviewer.told("GET", "/items", feed="public")["items"]
    assert [(one["id"], one["orgAttribution"], one["agent"] is not None) for one in public] == [
        (foreign, "other", False),
        (own[0], "Acme DAO", True),
    ]
