"""Toolsets that stand apart, levels of their own, reads counted by toolset, lists as resources."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference
from pydantic import create_model
from starlette.routing import Route

from commonplace.identity import principals
from commonplace.identity.principals import Principal, covers, parse_scopes, reach
from commonplace.identity.resources import Resources
from commonplace.kernel.capability import Scopes
from commonplace.kernel.limits import Limiter
from commonplace.web.faces import face
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Caller, Toolset
from commonplace.web.mcp.edge import Path
from commonplace.web.mcp.offer import match, pattern_of
from commonplace.web.mcp.server import build_server
from commonplace.web.mcp.throttle import Throttle
from commonplace.web.operation_tools import templates_of
from commonplace.web.operations import Actor, Input, listing, operation
from tests.fakes.toolsets import as_caller
from tests.unit.web.mcp.world import Clock, Counters, World, body_of, modern

BASE = "https://kb.example.org"
CALLER = Caller(Principal(subject="0x1", organisation="acme", tier="member", scopes=frozenset({"hive:read"})))


def test_what_stands_apart_is_at_its_own_path_alone() -> None:
    here = Resources(BASE, ("knowledge",), ("knowledge", "council"), frozenset({"council"}))
    assert here.toolsets(f"{BASE}/mcp/council") == ("council",)
    assert (here.toolsets(f"{BASE}/mcp/all"), here.toolsets(here.api)) == (("knowledge",), ("knowledge",))
    assert "council:write" in here.every_scope()
    assert not [one for one in here.catalogue(here.api) if one.startswith("council")]
    with pytest.raises(ValueError, match="its own path alone"):
        Resources(BASE, ("council",), ("council",), frozenset({"council"}))


def test_the_server_offers_what_stands_apart_at_its_own_path_alone() -> None:
    sets = [Toolset(name=name, title=name, instructions=name) for name in ("knowledge", "council")]
    throttle = Throttle(Limiter(Counters(), Clock()), {"read": 0, "search": 0, "write": 0})
    app = create_app(sets, Surface(base_url=BASE), throttle=throttle, apart={"council"})
    paths = {
        route.path: [one.name for one in route.endpoint._guard._offer.toolsets]
        for route in app.routes
        if isinstance(route, Route) and isinstance(route.endpoint, Path)
    }
    assert (paths["/mcp"], paths["/mcp/all"], paths["/mcp/council"]) == (["knowledge"], ["knowledge"], ["council"])
    with pytest.raises(ValueError, match="its own path alone"):
        create_app(sets, Surface(), throttle=throttle, default=["council"], apart={"council"})


@pytest.fixture
def council(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(principals.LEVELS, "council", ("read", "write", "decide"))
    monkeypatch.setitem(principals.ALIASES, "swarmrise:governance", "council:decide")


@pytest.mark.usefixtures("council")
def test_a_toolset_can_have_levels_of_its_own() -> None:
    assert covers(["council:decide"], "council:write")
    assert not covers(["council:write"], "council:decide")
    assert not covers(["council:admin", "hive:admin"], "council:read")
    assert reach(["council:decide"], ["council:write"]) == ("council:write",)
    assert parse_scopes("swarmrise:governance council:decide") == ("council:decide",)
    here = Resources(BASE, ("knowledge",), ("knowledge", "council"), frozenset({"council"}))
    assert here.catalogue(f"{BASE}/mcp/council") == ("council:decide", "council:read", "council:write")


@pytest.mark.parametrize(
    "wrong",
    [
        {"levels": ("write", "read")},
        {"levels": ("read",), "words": {"admin": "x"}},
        {"aliases": {"x:read": "other:read"}},
        {"aliases": {"council:read": "council:write"}},
        {"membership": True},
        {"always": ("organisation",)},
    ],
)
def test_levels_and_aliases_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="council"):
        Scopes(**{"toolset": "council", "words": {}, "tiers": {}, "kinds": (), **wrong})


@dataclass(frozen=True)
class Message:
    id: str
    text: str


class InChannel(Input):
    channel_id: str
    newest: bool = False
    order: Literal["up", "down"] = "down"


@listing(
    "hive",
    title="Messages",
    input=InChannel,
    row=face("MessageRow", Message, "id text"),
    of="messages",
    line=lambda row: row.text,
    address="probe://channels/{channelId}/messages{?newest,order,limit,cursor}",
)
def list_messages(_: Any, __: Actor, given: Any, after: str | None) -> Iterator[Message]:
    """Messages, newest first."""
    for number in range(7, 0, -1):
        if after is None or f"m{number}" < after:
            yield Message(f"m{number}", f"In {given.channel_id}, number {number}.")


@operation(
    "hive",
    title="Message",
    input=create_model("OneMessage", __base__=InChannel, message_id=(str, ...)),
    output=face("MessageFace", Message, "id text"),
    address="probe://channels/{channelId}/messages/{messageId}",
)
def read_message(_: Any, __: Actor, given: Any) -> Message:
    """One message."""
    return Message(given.message_id, f"In {given.channel_id}.")


TOOLSET = Toolset(
    name="hive", title="Hive", instructions="x", templates=templates_of([list_messages, read_message], None)
)
FIRST = "probe://channels/ch%201/messages?limit=3"


async def _read(client: Client, uri: str) -> Any:
    return json.loads((await client.read_resource(uri)).contents[0].text)  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_list_is_read_page_by_page_by_its_addresses(mode: Any) -> None:
    async def walk() -> None:
        async with Client(as_caller(build_server([TOOLSET], Surface()), CALLER), mode=mode) as client:
            uri, seen = FIRST, list[str]()
            while uri:
                page = await _read(client, uri)
                seen += [one["id"] for one in page["messages"]]
                last, uri = uri, page.get("next")
            assert seen == [f"m{number}" for number in range(7, 0, -1)]
            assert page["messages"][0]["text"].startswith("In ch 1,")
            refusals = {
                last.replace("ch%201", "ch2"): "Read the address that `next`",
                f"{FIRST}&colour=1": "limit, cursor",
                f"{FIRST}&limit=3": "limit came more than once",
            }
            for bad, hint in refusals.items():
                with pytest.raises((MCPError, BaseExceptionGroup)) as refused:
                    await _read(client, bad)
                assert hint in str(refused.value)
            one = await _read(client, "probe://channels/ch%201/messages/m1")
            assert one == {"id": "m1", "text": "In ch 1."}

    anyio.run(walk)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_variable_of_an_address_can_be_completed(mode: Any) -> None:
    async def complete() -> None:
        async with Client(as_caller(build_server([TOOLSET], Surface()), CALLER), mode=mode) as client:
            for name, typed, found in (("newest", "t", ["true"]), ("order", "", ["up", "down"]), ("limit", "", [])):
                where = ResourceTemplateReference(uri=list_messages.address)
                answer = await client.complete(where, {"name": name, "value": typed})
                assert answer.completion.values == found

    anyio.run(complete)


def test_an_address_with_a_query_is_of_its_template_alone() -> None:
    pattern = pattern_of("x://{id}/list{?limit,cursor}")
    assert match(pattern, "x://a/list?limit=1&cursor=%2F") == {"id": "a", "?": "limit=1&cursor=%2F"}
    assert match(pattern, "x://a/list") == {"id": "a"}
    assert match(pattern, "x://../list?limit=1") is None
    assert match(pattern_of("x://{id}/list"), "x://a/list?limit=1") is None


def test_reads_of_resources_count_by_toolset() -> None:
    here = World(limits={"read": 5, "search": 0, "write": 0}, toolset_limits={"probe": {"read": 1}})
    read = [here.ask(modern("resources/read", {"uri": "mcp://probe/fixed"})) for _ in range(2)]
    assert [one["statusCode"] for one in read] == [200, 429]
    assert body_of(here.ask(modern("tools/list")))["result"]
