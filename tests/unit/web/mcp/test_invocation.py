"""Calls of tools without any surface: what is judged, in which order, and what comes back."""

from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from commonplace.identity.principals import Principal
from commonplace.kernel.errors import InvalidInput, NotFound, RateLimited, Unavailable
from commonplace.web.mcp.declaration import Answer, Caller
from commonplace.web.mcp.invocation import AccessDenied, UnknownTool, invoke
from commonplace.web.mcp.offer import Offer, offer_of
from tests.unit.web.mcp.world import Said, heard, probe, tool

MEMBER = Principal(subject="0x", organisation="garden", tier="member", scopes=frozenset(["memory:write"]))


@pytest.fixture
def offer() -> Offer:
    toolset = probe(Event())
    own = (
        tool("echo_member", heard, Said, tier="member"),
        tool("note", heard, Said, tier="member", level="write", read_only=False, cost="write"),
    )
    return offer_of([replace(toolset, name="memory", tools=(*toolset.tools, *own))])


def asked(offer: Offer, caller: Caller, name: str, spent: list[Any] | None = None, **given: Any) -> Answer:
    counted: list[Any] = [] if spent is None else spent
    return invoke(offer, caller, name, given, spend=lambda _, cost, toolset: counted.append((cost, toolset)))


def test_a_call_gives_the_tools_own_answer(offer: Offer) -> None:
    spent: list[Any] = []
    answer = asked(offer, Caller(MEMBER), "echo_member", spent, Text="hello")
    assert answer.text == "hello"
    assert len(spent) == 1


def test_what_is_not_there_is_unknown_and_counts_nothing(offer: Offer) -> None:
    spent: list[Any] = []
    with pytest.raises(UnknownTool, match="Unknown tool: nothing"):
        asked(offer, Caller(MEMBER), "nothing", spent)
    assert spent == []


def test_a_tool_that_writes_is_unknown_where_only_reading_is_allowed(offer: Offer) -> None:
    with pytest.raises(UnknownTool):
        asked(offer, Caller(MEMBER, read_only=True), "note", text="x")


def test_who_may_not_is_refused_in_words_and_counted(offer: Offer) -> None:
    spent: list[Any] = []
    with pytest.raises(AccessDenied, match="requires member access"):
        asked(offer, Caller(replace(MEMBER, tier="public")), "echo_member", spent, text="x")
    assert len(spent) == 1
    with pytest.raises(AccessDenied, match="requires member access"):
        asked(offer, Caller(), "echo_member", text="x")
    with pytest.raises(Unavailable):
        asked(offer, Caller(replace(MEMBER, uncertain=True)), "echo_member", text="x")


def test_arguments_are_read_as_over_mcp(offer: Offer) -> None:
    with pytest.raises(InvalidInput):
        asked(offer, Caller(MEMBER), "echo_member")
    with pytest.raises(InvalidInput):
        asked(offer, Caller(MEMBER), "note", txet="x")


def test_what_a_tool_raises_and_a_limit_reach_the_caller(offer: Offer) -> None:
    def over(*_: Any) -> None:
        raise RateLimited("Too many.", retry_after_seconds=3)

    with pytest.raises(NotFound):
        asked(offer, Caller(MEMBER), "miss")
    with pytest.raises(RateLimited):
        invoke(offer, Caller(MEMBER), "echo_member", {"text": "x"}, spend=over)


def test_a_tool_that_talks_to_its_client_is_not_called_so(offer: Offer) -> None:
    with pytest.raises(TypeError, match="needs a client"):
        asked(offer, Caller(MEMBER), "narrate", text="x")
