"""Every way a request can be right or wrong, in both eras: status and JSON-RPC code, through the handler itself."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.unit.web.mcp.world import LEGACY, META, SECRET, Answered, World, body_of, call, event, legacy, modern

Era = Callable[..., dict[str, Any]]
Outcome = tuple[int, int | str]

OK: Outcome = (200, "result")
FAILED: Outcome = (200, "isError")
ACCEPTED: Outcome = (202, "empty")
REFUSED: Outcome = (400, -32600)
UNREADABLE: Outcome = (400, -32700)
MISMATCH: Outcome = (400, -32020)
INVALID: Outcome = (400, -32602)
INVALID_WITHIN: Outcome = (200, -32602)

ECHO = call("echo", text="hello")
INITIALIZE = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}
PROGRESS = {"_meta": META | {"progressToken": "p"}}


@dataclass(frozen=True)
class Case:
    name: str
    ask: Callable[[Era], dict[str, Any]]
    modern: Outcome
    legacy: Outcome
    milliseconds_left: int = 29_000


def case(name: str, ask: Callable[[Era], dict[str, Any]], *outcomes: Outcome, left: int = 29_000) -> Case:
    """One outcome is that of both eras."""
    return Case(name, ask, outcomes[0], outcomes[-1], left)


def listing(**headers: str | None) -> Callable[[Era], dict[str, Any]]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda era: era("tools/list", headers=sent)


def verb(name: str) -> Callable[[Era], dict[str, Any]]:
    return lambda era: era("tools/list", verb=name)


def raw(body: bytes | str, **headers: str | None) -> Callable[[Era], dict[str, Any]]:
    """The body as it is, under the headers of a `tools/list`."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda era: era("tools/list", headers=sent) | {"body": event(body)["body"]}


def asking(method: str, params: dict[str, Any] | None = None, **more: Any) -> Callable[[Era], dict[str, Any]]:
    return lambda era: era(method, params, **more)


def told(**changes: Any) -> Callable[[Era], dict[str, Any]]:
    """A `tools/list` whose body differs; None leaves a member out."""
    whole = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}} | changes
    return raw(json.dumps({name: value for name, value in whole.items() if value is not None}))


CASES = [
    # what is right
    case("list", asking("tools/list"), OK),
    case("call", asking("tools/call", ECHO), OK),
    case("read", asking("resources/read", {"uri": "mcp://probe/fixed"}), OK),
    case("read by template", asking("resources/read", {"uri": "mcp://probe/things/one"}), OK),
    case("prompt", asking("prompts/get", {"name": "ask", "arguments": {"topic": "seeds"}}), OK),
    case("resources", asking("resources/list"), OK),
    case("templates", asking("resources/templates/list"), OK),
    case("prompts", asking("prompts/list"), OK),
    case("discover", asking("server/discover"), OK, (200, -32601)),
    case("initialize", asking("initialize", INITIALIZE), (404, -32601), OK),
    case("ping", asking("ping"), (404, -32601), OK),
    case("id is a text", asking("tools/list", id="one"), OK),
    case("id is zero", asking("tools/list", id=0), OK),
    case("slash at the end", asking("tools/list", path="/mcp/"), OK),
    case("path of a toolset", asking("tools/list", path="/mcp/probe"), OK),
    case("path of all", asking("tools/list", path="/mcp/all/"), OK),
    # method
    case("GET", verb("GET"), (405, -32600)),
    case("GET for a stream", lambda era: era("x", headers={"accept": "text/event-stream"}, verb="GET"), (405, -32600)),
    case("DELETE", verb("DELETE"), (405, -32600)),
    case("PUT", verb("PUT"), (405, -32600)),
    case("PATCH", verb("PATCH"), (405, -32600)),
    case("HEAD", verb("HEAD"), (405, "empty")),
    case("OPTIONS", verb("OPTIONS"), (204, "empty")),
    # path
    case("unknown toolset", asking("tools/list", path="/mcp/nothing"), (404, 404)),
    case("below a toolset", asking("tools/list", path="/mcp/probe/tools"), (404, 404)),
    case("GET of an unknown toolset", lambda era: era("x", path="/mcp/no", verb="GET"), (404, 404)),
    # Accept
    case("no Accept", listing(accept=None), OK),
    case("empty Accept", listing(accept=""), OK),
    case("Accept of anything", listing(accept="*/*"), OK),
    case("Accept of JSON alone", listing(accept="application/json"), OK),
    case("Accept with qualities", listing(accept="text/event-stream;q=0.5, application/json;q=0.9"), OK),
    case("Accept of HTML", listing(accept="text/html"), (406, -32600)),
    case("Accept of streams alone", listing(accept="text/event-stream"), (406, -32600)),
    # Content-Type
    case("Content-Type with a charset", listing(content_type="application/json; charset=utf-8"), OK),
    case("Content-Type in capitals", listing(content_type="Application/JSON"), OK),
    case("no Content-Type", listing(content_type=None), REFUSED),
    case("Content-Type of text", listing(content_type="text/plain"), REFUSED),
    case("Content-Type of a form", listing(content_type="application/x-www-form-urlencoded"), REFUSED),
    case("Content-Type that only begins like JSON", listing(content_type="application/jsonp"), REFUSED),
    # Origin and Host
    case("own Origin", listing(origin="https://kb.example.org"), OK),
    case("Origin of another", listing(origin="https://evil.example"), (403, -32600)),
    case("Origin null", listing(origin="null"), (403, -32600)),
    case("Origin by http", listing(origin="http://kb.example.org"), (403, -32600)),
    case(
        "preflight of another",
        lambda era: era("x", headers={"origin": "https://no.example"}, verb="OPTIONS"),
        (403, -32600),
    ),
    case("Host of another", listing(host="evil.example"), (421, -32600)),
    case("Host with the default port", listing(host="kb.example.org:443"), OK),
    case("Host with another port", listing(host="kb.example.org:8443"), (421, -32600)),
    case("Host of the gateway", listing(host="abc123.execute-api.eu-central-1.amazonaws.com"), OK),
    case("Host of another gateway", listing(host="xyz.execute-api.eu-central-1.amazonaws.com"), (421, -32600)),
    # body
    case("empty body", raw(""), UNREADABLE),
    case("garbage", raw("{nope"), UNREADABLE),
    case("not UTF-8", raw(b'{"jsonrpc": "2.0", "id": "\xff"}'), UNREADABLE),
    case("200,000 brackets", raw("[" * 200_000), UNREADABLE),
    case("a number of 5,000 digits", raw('{"id": ' + "9" * 5_000 + "}"), UNREADABLE),
    case("NaN", raw('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": NaN}}'), UNREADABLE),
    case("nested too deeply", told(params={"_meta": META, "x": json.loads("[" * 100 + "]" * 100)}), REFUSED),
    case("one byte too many", raw(b" " * ((1 << 20) + 1)), (413, -32600)),
    case("a text", raw('"tools/list"'), REFUSED),
    case("null", raw("null"), REFUSED),
    # id
    case("id null", raw('{"jsonrpc": "2.0", "id": null, "method": "tools/list"}'), REFUSED),
    case("id true", told(id=True), REFUSED),
    case("id a fraction", told(id=1.5), REFUSED),
    case("id a list", told(id=[1]), REFUSED),
    case("id of 2,000 characters", told(id="x" * 2_000), REFUSED),
    # batch and envelope
    case("batch", raw(json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])), REFUSED),
    case("empty batch", raw("[]"), REFUSED),
    case("no jsonrpc", told(jsonrpc=None), REFUSED),
    case("jsonrpc 1.0", told(jsonrpc="1.0"), REFUSED),
    case("no method", told(method=None), REFUSED),
    case("method a number", told(method=7), REFUSED),
    case("an answer to a server", raw('{"jsonrpc": "2.0", "id": 1, "result": {}}'), REFUSED),
    case("params a list", told(params=[1]), INVALID),
    # headers of section 7
    case("spaces round a header", listing(mcp_protocol_version=None, **{"mcp-method": "  tools/list  "}), OK),
    case("no Mcp-Method", listing(mcp_method=None), MISMATCH, OK),
    case("another Mcp-Method", listing(mcp_method="tools/call"), MISMATCH, OK),
    case("Mcp-Method in capitals", listing(mcp_method="Tools/List"), MISMATCH, OK),
    case("Mcp-Method twice", listing(mcp_method="tools/list,tools/list"), MISMATCH, OK),
    case("no Mcp-Name", asking("tools/call", ECHO, headers={"mcp-name": None}), MISMATCH, OK),
    case("another Mcp-Name", asking("tools/call", ECHO, headers={"mcp-name": "find"}), MISMATCH, OK),
    case("Mcp-Name in base64", asking("tools/call", ECHO, headers={"mcp-name": "=?base64?ZWNobw==?="}), OK),
    case("a session id is ignored", listing(mcp_session_id="gone"), OK),
    case("Last-Event-ID is ignored", listing(last_event_id="7"), OK),
    case("16 KiB of headers", listing(x_padding="x" * 16_400), (431, -32600)),
    case("101 headers", listing(**{f"x_{number}": "1" for number in range(101)}), (431, -32600)),
    # version
    case("no version header", listing(mcp_protocol_version=None), OK),
    case("an older version", listing(mcp_protocol_version="2025-03-26"), OK),
    case(
        "a version of nobody",
        lambda _: modern(
            "tools/list",
            {"_meta": META | {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}},
            {"mcp-protocol-version": "2031-01-01"},
        ),
        (400, -32022),
    ),
    case("version header of nobody", listing(mcp_protocol_version="2031-01-01"), (400, -32022), (400, -32022)),
    case("no _meta", asking("tools/list", {"_meta": {}}), INVALID, OK),
    case("no params", told(params=None), INVALID, OK),
    # what is asked for
    case("unknown method", asking("tools/nothing"), (404, -32601), (200, -32601)),
    case("unknown tool", asking("tools/call", call("nothing")), INVALID, INVALID_WITHIN),
    case("no name of a tool", asking("tools/call", {"arguments": {}}), INVALID, INVALID_WITHIN),
    case("name of a tool a list", asking("tools/call", {"name": ["echo"]}), MISMATCH, INVALID_WITHIN),
    case("unknown prompt", asking("prompts/get", {"name": "nothing"}), INVALID, INVALID_WITHIN),
    case("missing argument of a prompt", asking("prompts/get", {"name": "ask"}), INVALID, INVALID_WITHIN),
    case("unknown resource", asking("resources/read", {"uri": "mcp://probe/nothing"}), INVALID, INVALID_WITHIN),
    case("resource that is gone", asking("resources/read", {"uri": "mcp://probe/things/2"}), INVALID, INVALID_WITHIN),
    case("bad cursor", asking("tools/list", {"cursor": "nonsense"}), INVALID, INVALID_WITHIN),
    # notifications
    case("notification", asking("notifications/initialized", id=None), ACCEPTED),
    case("unknown notification", asking("notifications/nothing", id=None), ACCEPTED),
    case("request sent as a notification", asking("tools/list", id=None), ACCEPTED),
    # tools that fail
    case("wrong arguments", asking("tools/call", call("echo")), FAILED),
    case("an error for the model", asking("tools/call", call("miss")), FAILED),
    case("a tool of members", asking("tools/call", call("members", text="x")), FAILED),
    case("a defect", asking("tools/call", call("crash")), FAILED),
    # the deadline
    case("a slow tool", asking("tools/call", call("wait", text="x")), (504, -32603), left=1_050),
    case("no time at all", asking("tools/call", call("wait", text="x")), (504, -32603), left=0),
    case(
        "slow after progress",
        asking("tools/call", call("narrate_and_wait", text="x") | PROGRESS),
        (200, -32603),
        left=1_250,
    ),
    case("progress in time", asking("tools/call", call("narrate", text="x") | PROGRESS), OK),
]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    world = World()
    yield world
    world.release.set()


def outcome(answer: Answered) -> Outcome:
    body = body_of(answer)
    if body is None:
        return answer["statusCode"], "empty"
    if "error" in body:
        return answer["statusCode"], body["error"]["code"]
    return answer["statusCode"], "isError" if body["result"].get("isError") else "result"


@pytest.mark.parametrize("era", [modern, legacy])
@pytest.mark.parametrize("asked", CASES, ids=lambda asked: asked.name)
def test_every_request_has_the_status_and_the_code_it_deserves(world: World, asked: Case, era: Era) -> None:
    answer = world.ask(asked.ask(era), milliseconds_left=asked.milliseconds_left)
    assert outcome(answer) == (asked.modern if era is modern else asked.legacy)
    assert type(answer["statusCode"]) is int
    assert (
        answer["headers"].get("content-type", "application/json").startswith(("application/json", "text/event-stream"))
    )
    told_of = json.dumps(answer)
    assert all(word not in told_of for word in (SECRET, "Traceback", "pydantic", "commonplace.", ".py"))
