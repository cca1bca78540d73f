"""`commonplace.client`: operations as methods over the real endpoints, and refusals as errors."""

import inspect
import subprocess
import sys
from functools import partial
from typing import Any

import httpx
import pytest

from commonplace.client import Client
from commonplace.hive.operations import OPERATIONS
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound, Unauthorized, Unavailable
from tests.fakes.access_tokens import ISSUER
from tests.unit.hive.rest.desks import LOCKS, Desk, client_of


def test_a_contribution_goes_all_its_way() -> None:
    desk = Desk()
    agent, reviewer = client_of(desk, desk.somebody().token).hive, client_of(desk, desk.reviewer().token).hive
    added = agent.add_knowledge(LOCKS, "bug_fix", confidence=0.9, tags=["sql"], run_id="run-7", version=None)
    id = added["contributionId"]
    assert [one["status"] for one in agent.list_knowledge(status="pending", category=None)] == ["pending"]
    assert reviewer.answer("list_pending", limit=1)["waiting"] == 1
    reviewer.approve(id)
    assert agent.search("lock rows", limit=1)["results"][0]["id"] == id
    assert agent.fetch(id)["tags"] == ["sql"]
    assert reviewer.publish_knowledge(id, is_public=True)["isPublic"]
    assert not reviewer.publish_knowledge(id, is_public=False)["isPublic"]
    assert agent.report_outcome(id, "solved")["helpfulCount"] == 1
    assert reviewer.invalidate(id, "2099-01-01")["invalidAt"].startswith("2099-01-01")
    assert reviewer.invalidate(id, None)["invalidAt"] is None
    assert agent.delete_knowledge(id)["deleted"]


def test_a_listing_goes_through_all_its_pages() -> None:
    desk = Desk()
    texts = [f"What was learned on day {number}." for number in range(5)]
    ids = [desk.somebody().add(text) for text in texts]
    agent = client_of(desk, desk.somebody().token).hive
    assert {one["id"] for one in agent.list_knowledge(limit=2)} == set(ids)
    first = agent.answer("list_knowledge", limit=2)
    assert len([*agent.list_knowledge(limit=2, cursor=first["nextCursor"])]) == 3


def test_a_refusal_says_what_to_do() -> None:
    desk = Desk()
    agent = client_of(desk, desk.somebody().token).hive
    with pytest.raises(InvalidInput, match="category") as refused:
        agent.add_knowledge(LOCKS, "gossip")
    assert "bug_fix" in str(refused.value.hint)
    with pytest.raises(Unavailable) as away:
        agent.add_knowledge("Gone are the calm days.", "general")
    assert away.value.retry_after_seconds
    with pytest.raises(Unauthorized):
        next(client_of(desk, None).hive.list_knowledge())


def test_a_refusal_has_the_details_and_the_code_of_the_server() -> None:
    desk = Desk()
    id = desk.somebody().add(LOCKS)
    reviewer = client_of(desk, desk.reviewer().token).hive
    reviewer.reject(id, "It is in the manual.")
    with pytest.raises(Conflict) as decided:
        reviewer.approve(id)
    assert decided.value.details["status"] == "rejected"
    own = {"error": {"code": "TOO_SENSITIVE", "message": "No.", "details": {"hint": "Shorten it.", "share": 0.5}}}
    answered = httpx.MockTransport(lambda _: httpx.Response(422, json=own))
    with pytest.raises(InvalidInput) as refused:
        Client(ISSUER, "t", transport=answered).hive.fetch("hv_1")
    error = refused.value
    assert (error.code, error.status, error.hint) == ("TOO_SENSITIVE", 422, "Shorten it.")
    assert error.details == {"share": 0.5}


@pytest.mark.parametrize("id", ["", ".", "..", "a/../b", "\ud800"])
def test_an_id_that_is_no_part_of_an_address_reaches_no_other_operation(id: str) -> None:
    desk = Desk()
    desk.somebody().add(LOCKS)
    reviewer = client_of(desk, desk.reviewer().token).hive
    for read in (reviewer.fetch, reviewer.get_review, reviewer.delete_knowledge):
        with pytest.raises(NotFound):
            read(id)


def test_half_a_character_is_no_outage() -> None:
    hive = client_of(desk := Desk(), desk.somebody().token).hive
    for call in (hive.search, partial(hive.add_knowledge, category="general")):
        with pytest.raises(InvalidInput, match="lone surrogate"):
            call("Half of it: \ud800.")


@pytest.mark.parametrize("name", ["web", "kernel", "nothing"])
def test_what_is_no_capability_is_no_attribute(name: str) -> None:
    with pytest.raises(AttributeError, match=f"There is no capability {name}"):
        getattr(Client(ISSUER), name)


def test_a_gateway_without_our_envelope_is_an_error_too() -> None:
    broken = httpx.MockTransport(lambda _: httpx.Response(502, text="<html>Bad Gateway</html>"))
    with Client(ISSUER, "t", transport=broken) as client, pytest.raises(Unavailable, match="502"):
        client.hive.fetch("hv_1")


@pytest.mark.parametrize("one", [one for one in OPERATIONS if one.rest], ids=lambda one: one.name)
def test_every_operation_is_a_method_with_its_arguments(one: Any) -> None:
    method = getattr(Client(ISSUER).hive, one.name)
    assert method.__doc__ == one.description
    assert [*inspect.signature(method).parameters] == sorted(
        one.input.model_fields, key=lambda name: not one.input.model_fields[name].is_required()
    )
    with pytest.raises(TypeError):
        method(nonsense=1)


def test_what_is_no_operation_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="list_knowledge"):
        _ = Client(ISSUER).hive.forget_everything
    with pytest.raises(AttributeError):
        _ = Client(ISSUER).nonsense


def test_the_client_loads_no_server() -> None:
    loaded = "import sys; from commonplace.client import Client; c = Client('http://127.0.0.1'); c.hive; c.memory;"
    loaded += "print([one for one in ('fastapi', 'mcp', 'starlette', 'boto3', 'opensearchpy') if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
