"""A batch of 2025-03-26: each message is judged and counted by itself, and one array answers them all."""

import json
from typing import Any

import pytest

from commonplace.identity.principals import Principal
from tests.unit.web.mcp.world import ByToken, World, body_of, call, event

MEMBER = Principal(subject="0xmember", tier="member", token="t1", scopes=frozenset({"probe:read"}))
VERSION = {"mcp-protocol-version": "2025-03-26"}


def rpc(id: Any, method: str = "tools/call", params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def said(id: Any, text: str) -> dict[str, Any]:
    return rpc(id, params=call("echo", text=text))


def send(world: World, batch: Any, headers: dict[str, str | None] | None = None, **more: Any) -> dict[str, Any]:
    return world.ask(event(json.dumps(batch), VERSION | (headers or {})), **more)


NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/initialized"}
RESPONSE = {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("version", ["2025-03-26", None])
def test_a_batch_is_answered_by_one_array(version: str | None) -> None:
    answer = send(
        World(),
        [said(1, "a"), NOTIFICATION, rpc("x", "tools/list"), RESPONSE, said(2, "b")],
        {"mcp-protocol-version": version},
    )
    assert (answer["statusCode"], answer["headers"]["content-type"]) == (200, "application/json")
    found = {one["id"]: one for one in body_of(answer)}
    assert list(found) == [1, "x", 2]
    assert [found[id]["result"]["content"][0]["text"] for id in (1, 2)] == ["a", "b"]
    assert len(found["x"]["result"]["tools"]) > 5


def test_each_message_fails_by_itself() -> None:
    batch = [
        said(1, "a"),
        7,
        [said(5, "nested")],
        rpc(None),
        rpc(
            2,
            "initialize",
            {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
        ),
        rpc(3, "no/such"),
        rpc(4, params=call("crash")),
        rpc(6, params=call("narrate", text="n")),
    ]
    found = body_of(send(World(), batch))
    codes = [(one["id"], one.get("error", {}).get("code")) for one in found]
    assert codes == [
        (1, None),
        (None, -32600),
        (None, -32600),
        (None, -32600),
        (2, -32600),
        (3, -32601),
        (4, None),
        (6, None),
    ]
    assert found[6]["result"]["isError"] is True
    assert found[7]["result"]["content"][0]["text"] == "n"


def test_messages_without_answers_are_accepted_without_a_body() -> None:
    answer = send(World(), [NOTIFICATION, RESPONSE, NOTIFICATION])
    assert (answer["statusCode"], answer["body"]) == (202, "")


@pytest.mark.parametrize("batch", [[], [NOTIFICATION] * 21, [said(1, "a")] * 21])
def test_a_batch_has_one_to_twenty_messages(batch: list[Any]) -> None:
    answer = send(World(), batch)
    assert (answer["statusCode"], body_of(answer)["error"]["code"]) == (400, -32600)


def test_a_batch_is_nested_no_deeper_than_a_message() -> None:
    deep = json.loads("[" * 900 + "]" * 900)
    answer = send(World(), [said(1, "a"), rpc(2, "ping", {"deep": deep})])
    assert (answer["statusCode"], body_of(answer)["error"]["code"]) == (400, -32600)


def test_twenty_messages_are_answered_and_recorded_each() -> None:
    world = World()
    assert [one["id"] for one in body_of(send(world, [said(at, "a") for at in range(20)]))] == list(range(20))
    assert len(world.records) == 20


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_no_other_version_has_batches(version: str) -> None:
    answer = send(World(), [said(1, "a")], {"mcp-protocol-version": version})
    assert (answer["statusCode"], body_of(answer)["error"]["code"]) == (400, -32600)


def test_each_message_is_counted() -> None:
    world = World(limits={"read": 3, "search": 0, "write": 0})
    found = body_of(send(world, [said(at, "a") for at in range(4)]))
    refused = [one for one in found if one["result"].get("isError")]
    assert [one["result"]["_meta"]["commonplace/error"]["code"] for one in refused] == ["RATE_LIMITED"]
    answer = send(World(limits={"read": 2, "search": 0, "write": 0}), [rpc(at, "ping") for at in range(4)])
    assert [one.get("error", {}).get("code") for one in body_of(answer)] == [None, None, 429, 429]
    assert answer["headers"]["ratelimit-limit"] == "2"


def test_responses_and_notifications_are_counted_too() -> None:
    world = World(limits={"read": 3, "search": 0, "write": 0})
    send(world, [RESPONSE, NOTIFICATION, RESPONSE])
    assert body_of(send(world, [rpc(1, "ping")]))[0]["error"]["code"] == 429


def test_a_token_that_is_none_refuses_the_whole_batch_over_http() -> None:
    world = World(principals=ByToken({"good": MEMBER}))
    answer = send(world, [said(1, "a"), said(2, "b")], {"authorization": "Bearer bad"})
    assert (answer["statusCode"], answer["headers"]["www-authenticate"]) == (401, "Bearer")
    assert [(one["id"], one["error"]["code"]) for one in body_of(answer)] == [(1, 401), (2, 401)]


def test_each_message_is_guarded() -> None:
    world = World(principals=ByToken({"good": MEMBER}))
    batch = [rpc(1, params=call("members", text="a")), said(2, "b")]
    denied, allowed = body_of(send(world, batch))
    assert denied["result"]["isError"] is True
    assert allowed["result"]["content"][0]["text"] == "b"
    assert not any(
        one["result"].get("isError") for one in body_of(send(world, batch, {"authorization": "Bearer good"}))
    )


def test_one_deadline_holds_for_all_and_costs_nobody_else_an_answer() -> None:
    world = World()
    batch = [rpc(at, params=call("wait", text="w")) for at in range(3)] + [said(9, "a")]
    try:
        found = body_of(send(world, batch, milliseconds_left=1_500))
    finally:
        world.release.set()
    assert [one.get("error", {}).get("message") for one in found] == ["Request timed out"] * 3 + [None]
    assert found[3]["result"]["content"][0]["text"] == "a"


@pytest.mark.parametrize("version", ["1999-01-01", "2025-13-01", "x", "DRAFT-2026-v1"])
@pytest.mark.parametrize("method", ["ping", "tools/list", "initialize"])
def test_an_unknown_version_is_told_which_there_are(version: str, method: str) -> None:
    answer = World().ask(event(json.dumps(rpc(5, method)), {"mcp-protocol-version": version}))
    error = body_of(answer)["error"]
    assert (answer["statusCode"], body_of(answer)["id"], error["code"]) == (400, 5, -32022)
    assert error["data"] == {
        "supported": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
        "requested": version,
    }
