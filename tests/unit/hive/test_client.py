"""`commonplace.hive.client`: every method over the real endpoints, and refusals as errors."""

import httpx
import pytest

from commonplace.hive.client import HiveClient, HiveError
from tests.fakes.access_tokens import ISSUER
from tests.unit.hive.rest.desks import LOCKS, Desk, client_of


def test_a_contribution_goes_all_its_way() -> None:
    desk = Desk()
    agent, reviewer = client_of(desk, desk.somebody().token), client_of(desk, desk.reviewer().token)
    id = agent.add(LOCKS, "bug_fix", confidence=0.9, tags=["sql"], runId="run-7", version=None)["contributionId"]
    assert [one["status"] for one in agent.list(status="pending", category=None)["contributions"]] == ["pending"]
    desk.reviewer().told("POST", f"/pending/{id}/approve", {})
    assert agent.search("lock rows", limit=1)["results"][0]["id"] == id
    assert agent.fetch(id)["tags"] == ["sql"]
    assert reviewer.publish(id)["isPublic"]
    assert not reviewer.publish(id, is_public=False)["isPublic"]
    assert agent.report(id, "solved")["helpfulCount"] == 1
    assert agent.delete(id)["deleted"]


def test_a_refusal_says_what_to_do() -> None:
    desk = Desk()
    agent = client_of(desk, desk.somebody().token)
    with pytest.raises(HiveError) as refused:
        agent.add(LOCKS, "gossip")
    assert (refused.value.status, refused.value.code) == (422, "INVALID_INPUT")
    assert "bug_fix" in refused.value.hint
    with pytest.raises(HiveError) as away:
        agent.add("Gone are the calm days.", "general")
    assert (away.value.code, bool(away.value.retry_after_seconds)) == ("UNAVAILABLE", True)
    with pytest.raises(HiveError) as unsigned:
        client_of(desk, None).list()
    assert unsigned.value.status == 401


def test_a_gateway_without_our_envelope_is_an_error_too() -> None:
    broken = httpx.MockTransport(lambda _: httpx.Response(502, text="<html>Bad Gateway</html>"))
    with HiveClient(ISSUER, "t", transport=broken) as client, pytest.raises(HiveError) as refused:
        client.list()
    assert (refused.value.status, refused.value.code) == (502, "UNKNOWN")
