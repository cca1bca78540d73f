"""Whatever is sent: never a 5xx, always JSON or nothing, and nothing of how it is made inside."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.unit.web.mcp.world import LEGACY, META, MODERN, SECRET, Answered, World, body_of, event

INTERNALS = (
    SECRET,
    "Traceback",
    'File "',
    "pydantic",
    "site-packages",
    "Error(",
    "commonplace.web",
    "commonplace.documents",
    "0x7f",
)

METHODS = st.sampled_from(
    [
        *("initialize", "ping", "server/discover", "tools/list", "tools/call", "prompts/list", "prompts/get"),
        *("resources/list", "resources/read", "resources/templates/list", "completion/complete", "logging/setLevel"),
        *("subscriptions/listen", "resources/subscribe", "notifications/initialized", "notifications/cancelled"),
        *("tasks/get", "elicitation/create", "sampling/createMessage", "roots/list", "rpc.discover", "", " "),
    ]
)
NAMES = st.sampled_from(
    ["echo", "find", "miss", "crash", "members", "narrate", "ask", "mcp://probe/things/one", "nothing"]
)
TEXTS = st.text(max_size=40) | st.sampled_from(["\x00", "\ud800", "=?base64?!?=", "../../etc/passwd", "%00", "{id}"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "_meta": st.just(META) | st.just(META | {"progressToken": 1}) | ANYTHING,
        "name": NAMES | ANYTHING,
        "uri": NAMES | ANYTHING,
        "cursor": ANYTHING,
        "arguments": st.dictionaries(st.sampled_from(["text", "topic"]) | TEXTS, ANYTHING, max_size=3) | ANYTHING,
        "protocolVersion": st.sampled_from([LEGACY, MODERN]) | ANYTHING,
        "capabilities": ANYTHING,
        "clientInfo": ANYTHING,
        "ref": st.fixed_dictionaries({"type": st.just("ref/prompt"), "name": NAMES}) | ANYTHING,
        "argument": st.fixed_dictionaries({"name": TEXTS, "value": TEXTS}) | ANYTHING,
        "notifications": ANYTHING,
        "requestState": ANYTHING,
        "inputResponses": ANYTHING,
    },
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={"id": st.integers() | TEXTS | ANYTHING, "method": METHODS | ANYTHING, "params": PARAMS | ANYTHING},
)
BODIES = (
    (MESSAGES | ANYTHING | st.lists(MESSAGES, max_size=3)).map(lambda said: json.dumps(said).encode())
    | st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
HEADER_TEXTS = st.text(st.characters(min_codepoint=9, max_codepoint=255, exclude_characters="\r\n"), max_size=40)
HEADERS = st.dictionaries(
    st.sampled_from(
        [
            *("mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "mcp-param-text", "accept"),
            *("content-type", "origin", "host", "x-mcp-readonly", "authorization", "last-event-id", "cookie"),
            *("access-control-request-headers", "content-length", "x-forwarded-proto", "traceparent"),
        ]
    ),
    st.none()
    | st.sampled_from([LEGACY, MODERN, "tools/list", "tools/call", "echo", "application/json", "*/*", "null", "true"])
    | HEADER_TEXTS,
    max_size=5,
)
VERBS = st.sampled_from(
    ["POST"] * 8 + ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "QUERY"]
)
PATHS = st.sampled_from(["/mcp", "/mcp/", "/mcp/probe", "/mcp/all/"]) | TEXTS.map(lambda text: f"/mcp/{text}")

THOROUGH = settings(max_examples=examples(60, soak=4_000), deadline=None, suppress_health_check=[HealthCheck.too_slow])

WORLD = World()


def check(answer: Answered) -> None:
    """What holds for every answer."""
    assert answer["statusCode"] < 500, answer
    told = json.dumps(answer)
    assert not [word for word in INTERNALS if word in told]
    said = body_of(answer)
    for body in said if isinstance(said, list) else [said] if said is not None else []:  # a batch has a list
        assert body["jsonrpc"] == "2.0"
        assert ("result" in body) != ("error" in body)
        assert answer["statusCode"] != 202


@THOROUGH
@given(body=BODIES, headers=HEADERS, verb=VERBS, path=PATHS)
def test_anything_at_all_is_answered_decently(body: bytes, headers: dict[str, Any], verb: str, path: str) -> None:
    check(WORLD.ask(event(body, headers, verb=verb, path=path)))


@THOROUGH
@given(message=MESSAGES, version=st.sampled_from([None, LEGACY, MODERN]), stream=st.booleans())
def test_messages_under_fitting_headers_are_answered_decently(message: Any, version: str | None, stream: bool) -> None:
    """Past the checks of headers, so that params reach the handlers."""
    params = message.get("params")
    if version == MODERN and isinstance(params, dict):
        message = message | {"params": params | {"_meta": META | ({"progressToken": 1} if stream else {})}}
    named = params.get("name", params.get("uri")) if isinstance(params, dict) else None
    method = message.get("method")
    headers = {
        "mcp-protocol-version": version,
        "mcp-method": method if isinstance(method, str) and method.isascii() and method.isprintable() else None,
        "mcp-name": named if isinstance(named, str) and named.isascii() and named.isprintable() else None,
    }
    check(WORLD.ask(event(json.dumps(message), headers)))


@pytest.mark.parametrize("version", [None, LEGACY, MODERN])
@pytest.mark.parametrize("text", ["\ud800", "\x00", "\u2028", "🌱" * 300])
def test_odd_text_is_no_defect(text: str, version: str | None) -> None:
    params = {"name": "echo", "arguments": {"text": text}, "_meta": META}
    headers = {"mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "echo"}
    check(WORLD.ask(event(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}), headers)))
