"""What answers say beside their status: headers, hints, CORS, hosts, and who a request is from."""

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from starlette.types import Message

from commonplace.identity.principals import Principal
from commonplace.kernel.errors import Unavailable
from commonplace.web.mcp.guard import asks_for_reading
from tests.unit.documents.rest.events import payload_1
from tests.unit.web.mcp.world import BASE_URL, META, ByToken, World, body_of, call, event, legacy, modern

MEMBER = Principal(subject="0xmember", tier="member", token="t1", scopes=frozenset({"probe:read"}))
LAPTOP = "http://127.0.0.1:8000"


@pytest.fixture
def world() -> Iterator[World]:
    world = World(principals=ByToken({"good": MEMBER}))
    yield world
    world.release.set()


def headers_of(answer: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = answer["headers"]
    return found


def names(answer: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in body_of(answer)["result"]["tools"]]


@pytest.mark.parametrize("verb", ["GET", "HEAD", "DELETE"])
def test_another_method_is_told_which_there_are(world: World, verb: str) -> None:
    answer = world.ask(modern("x", verb=verb))
    assert headers_of(answer)["allow"] == "POST, OPTIONS"
    assert (answer["body"] == "") is (verb == "HEAD")


def test_nothing_is_cached_on_the_way_or_sniffed(world: World) -> None:
    for answer in (world.ask(modern("tools/list")), world.ask(modern("x", verb="GET"))):
        assert (headers_of(answer)["cache-control"], headers_of(answer)["x-content-type-options"]) == (
            "no-store",
            "nosniff",
        )


def test_no_session_is_ever_begun(world: World) -> None:
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    answer = world.ask(legacy("initialize", start, {"mcp-session-id": "mine", "mcp-protocol-version": None}))
    assert body_of(answer)["result"]["protocolVersion"] == "2025-06-18"
    assert "mcp-session-id" not in headers_of(answer)


def test_a_preflight_names_what_a_browser_may_send() -> None:
    answer = World(origins=("https://app.example.org",)).ask(
        event("", {"origin": "https://app.example.org", "access-control-request-method": "POST"}, verb="OPTIONS")
    )
    told = headers_of(answer)
    assert (answer["statusCode"], told["access-control-allow-origin"]) == (204, "https://app.example.org")
    assert "POST" in told["access-control-allow-methods"]
    assert {"authorization", "content-type", "mcp-protocol-version", "mcp-name"} <= set(
        told["access-control-allow-headers"].lower().split(", ")
    )
    assert int(told["access-control-max-age"]) > 0


def test_a_preflight_allows_headers_of_parameters_that_are_asked_for() -> None:
    asked = "authorization,mcp-param-region"
    sent = {"origin": BASE_URL, "access-control-request-headers": asked}
    assert headers_of(World().ask(event("", sent, verb="OPTIONS")))["access-control-allow-headers"] == asked
    odd = sent | {"access-control-request-headers": "a: b\x00"}
    assert "\x00" not in headers_of(World().ask(event("", odd, verb="OPTIONS")))["access-control-allow-headers"]


def test_a_browser_may_read_the_challenge_and_the_limits(world: World) -> None:
    answer = world.ask(modern("tools/list", headers={"origin": BASE_URL}))
    exposed = headers_of(answer)["access-control-expose-headers"].lower()
    for name in ("www-authenticate", "mcp-session-id", "retry-after", "ratelimit-remaining"):
        assert name in exposed
    assert headers_of(answer)["vary"] == "Origin"


def test_a_caller_without_an_origin_is_no_browser_and_hears_nothing_of_cors(world: World) -> None:
    assert not [name for name in headers_of(world.ask(modern("tools/list"))) if name.startswith("access-control")]


def test_an_origin_that_is_refused_gets_no_leave_to_read_the_refusal(world: World) -> None:
    answer = world.ask(modern("tools/list", headers={"origin": "https://evil.example"}))
    assert "access-control-allow-origin" not in headers_of(answer)


def test_every_origin_may_be_let_in() -> None:
    answer = World(origins=("*",)).ask(modern("tools/list", headers={"origin": "https://anybody.example"}))
    assert (answer["statusCode"], headers_of(answer)["access-control-allow-origin"]) == (200, "*")


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1:8000", None, 200),
        ("localhost:9999", None, 200),
        ("localhost", "http://localhost:6274", 200),
        ("127.0.0.1:8000", "http://127.0.0.1:1", 200),
        ("127.0.0.1:8000", "http://localhost.evil.example", 403),
        ("127.0.0.1:8000", "http://localhost@evil.example", 403),
        ("127.0.0.1:8000", "https://kb.example.org", 403),
        ("127.0.0.1:8000", "file://", 403),
        ("evil.example:8000", None, 421),
        ("localhost.evil.example", None, 421),
        ("abc123.execute-api.eu-central-1.amazonaws.com", None, 421),
        (None, None, 421),
    ],
)
def test_a_laptop_answers_its_own_names_alone(host: str | None, origin: str | None, status: int) -> None:
    answer = World(base_url=LAPTOP).ask(modern("tools/list", headers={"host": host, "origin": origin}))
    assert answer["statusCode"] == status


@pytest.mark.parametrize(("called", "status"), [("api.example.org", 200), ("other.example.org", 421)])
def test_behind_another_front_the_gateways_own_name_is_ours(called: str, status: int) -> None:
    """Whoever stands before the gateway calls it by its name, not by the public one."""
    sent = modern("tools/list", headers={"host": called})
    sent["requestContext"]["domainName"] = "api.example.org"
    assert World().ask(sent)["statusCode"] == status


def test_both_payloads_of_the_gateway_are_understood(world: World) -> None:
    second = modern("tools/call", call("echo", text="grüße"))
    sent = {name: value for name, value in second["headers"].items() if name != "host"}
    first = payload_1("/mcp", method="POST", Host="kb.example.org", **sent)
    answer = world.ask(first | {"body": second["body"], "isBase64Encoded": True})
    assert body_of(answer)["result"]["structuredContent"] == {"text": "grüße"}


def test_a_path_that_is_none_names_those_there_are(world: World) -> None:
    error = body_of(world.ask(modern("tools/list", path="/mcp/nothing")))["error"]
    assert error["data"]["paths"] == ["/mcp", "/mcp/probe", "/mcp/other", "/mcp/all"]
    assert "/mcp/probe" in error["message"]


def test_each_path_serves_its_own_tools(world: World) -> None:
    assert names(world.ask(modern("tools/list", path="/mcp/other"))) == ["echo"]
    assert "find" in names(world.ask(modern("tools/list")))
    everything = names(world.ask(modern("tools/list", path="/mcp/all")))
    assert {"probe_echo", "other_echo", "find"} <= set(everything)
    called = world.ask(modern("tools/call", call("other_echo", text="x"), path="/mcp/all"))
    assert body_of(called)["result"]["structuredContent"] == {"text": "x"}


def test_a_default_toolset_that_is_none_stops_the_deployment() -> None:
    with pytest.raises(ValueError, match="There is no toolset memory"):
        World(default=("memory",))


def test_a_path_of_nothing_by_default_serves_everything() -> None:
    assert "other_echo" in names(World(default=()).ask(modern("tools/list")))


def test_a_refusal_in_plain_text_becomes_json_with_a_hint(world: World) -> None:
    body = body_of(world.ask(modern("tools/list", headers={"accept": "text/html"}, id="mine")))
    assert body["id"] == "mine"
    assert "application/json" in body["error"]["message"]


@pytest.mark.parametrize("era", [modern, legacy])
def test_a_stream_that_has_begun_ends_with_the_error(world: World, era: Any) -> None:
    params = call("narrate_and_wait", text="x") | {"_meta": META | {"progressToken": "p"}}
    answer = world.ask(era("tools/call", params, id="mine"), milliseconds_left=1_250)
    events = [json.loads(line[5:]) for line in answer["body"].splitlines() if line.startswith("data:")]
    assert events[0]["params"]["progressToken"] == "p"
    assert (events[-1]["id"], events[-1]["error"]["code"]) == ("mine", -32603)


def test_tools_that_talk_are_streamed_to_older_clients_unasked(world: World) -> None:
    talking = world.ask(legacy("tools/call", call("narrate", text="x")))
    quiet = world.ask(legacy("tools/call", call("echo", text="x")))
    assert headers_of(talking)["content-type"].startswith("text/event-stream")
    assert headers_of(quiet)["content-type"] == "application/json"


def test_a_version_of_nobody_learns_which_there_are(world: World) -> None:
    params = {"_meta": META | {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}}
    error = body_of(world.ask(modern("tools/list", params, {"mcp-protocol-version": "2031-01-01"})))["error"]
    assert "2026-07-28" in error["data"]["supported"]


def test_a_bad_credential_is_401_with_a_challenge(world: World) -> None:
    answer = world.ask(modern("tools/list", headers={"authorization": "Bearer bad"}, id=9))
    assert (answer["statusCode"], headers_of(answer)["www-authenticate"]) == (401, "Bearer")
    body = body_of(answer)
    assert (body["id"], body["error"]["data"]["code"]) == (9, "UNAUTHORIZED")


def test_who_cannot_be_identified_now_is_told_to_come_back() -> None:
    class Down(ByToken):
        def identify(self, headers: Any, resource: str) -> Principal:
            raise Unavailable("The list of members does not answer.", retry_after_seconds=7)

    answer = World(principals=Down()).ask(modern("tools/list"))
    assert (answer["statusCode"], headers_of(answer)["retry-after"]) == (503, "7")


def test_a_defect_in_the_guard_is_500_and_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(ByToken):
        def identify(self, headers: Any, resource: str) -> Principal:
            raise RuntimeError("swordfish")

    answer = World(principals=Broken()).ask(modern("tools/list", id=4))
    assert (answer["statusCode"], body_of(answer)["id"], body_of(answer)["error"]["code"]) == (500, 4, -32603)
    assert "swordfish" not in answer["body"]
    assert "swordfish" in caplog.text


@pytest.mark.parametrize(
    ("value", "narrows"),
    [
        *((value, True) for value in ("true", "1", "yes", "", "what?", "false,true")),
        *((value, False) for value in ("false", " FALSE ", "0", "no", "off", None)),
    ],
)
def test_the_header_narrows_a_request_unless_it_plainly_says_no(value: str | None, narrows: bool) -> None:
    assert asks_for_reading(value) is narrows
    listed = names(World().ask(modern("tools/list", headers={"x-mcp-readonly": value})))
    assert ("keep" in listed) is not narrows


@pytest.mark.parametrize("value", ["false", "0", None])
def test_no_header_widens_a_deployment_that_only_reads(value: str | None) -> None:
    world = World(read_only=True)
    assert "keep" not in names(world.ask(modern("tools/list", headers={"x-mcp-readonly": value})))
    called = world.ask(modern("tools/call", call("keep", text="x"), {"x-mcp-readonly": value}))
    assert body_of(called)["error"]["code"] == -32602


def test_a_client_that_leaves_while_it_sends_is_not_answered() -> None:
    sent: list[Message] = []

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def keep(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(b"host", b"kb.example.org"), (b"content-type", b"application/json")],
        "query_string": b"",
    }
    anyio.run(World().app, scope, gone, keep)
    assert sent == []


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", None])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("ping", None),
        ("tools/list", None),
        ("tools/list", {"cursor": "nowhere"}),
        ("tools/call", call("echo", text="hällo \U0001f30a")),
        ("tools/call", call("echo")),
        ("tools/call", call("crash")),
        ("tools/call", call("narrate", text="a") | {"_meta": {"progressToken": 1}}),
        ("tools/call", call("nobody")),
        ("tools/call", {"name": 7}),
        ("resources/read", {"uri": "mcp://probe/fixed"}),
        ("resources/read", {"uri": "mcp://probe/nowhere"}),
        ("prompts/get", {"name": "ask", "arguments": {"topic": "tides"}}),
        ("logging/setLevel", {"level": "info"}),
        ("nothing/known", {}),
        ("server/discover", {}),
    ],
)
def test_a_plain_request_is_answered_as_the_sdk_answers_it(
    world: World, version: str | None, method: str, params: dict[str, Any] | None
) -> None:
    headers = {"mcp-protocol-version": version, "accept": "application/json"}
    plain = legacy(method, params, headers)
    told = {"jsonrpc": "2.0", "id": 1, "method": method, "of": "another extension"}
    through = event(json.dumps(told | ({} if params is None else {"params": params})), headers)

    answer, expected = world.ask(plain), world.ask(through)

    assert body_of(answer) == body_of(expected)
    assert answer["statusCode"] == expected["statusCode"]
    assert headers_of(answer)["content-type"] == headers_of(expected)["content-type"]
