"""An MCP application with tools made for tests, behind the gateway, and the events that reach it."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any, cast

from commonplace.identity.principals import ANONYMOUS, Principal, Principals
from commonplace.kernel.errors import NotFound
from commonplace.kernel.limits import Limiter
from commonplace.web.gateway import Gateway
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.calls import CallRecord, Surface
from commonplace.web.mcp.declaration import (
    Answer,
    Argument,
    Arguments,
    Call,
    Cost,
    NoArguments,
    Output,
    Prompt,
    Resource,
    Template,
    Tool,
    Toolset,
)
from commonplace.web.mcp.throttle import Throttle

BASE_URL = "https://kb.example.org"
HOST = "kb.example.org"
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
}
SECRET = "the database's password is swordfish"

Answered = dict[str, Any]


class Said(Arguments):
    text: str


class Heard(Output):
    text: str


class Counters:
    def __init__(self) -> None:
        self.totals: dict[str, int] = {}

    def add(self, key: str, amount: int, expires_at: int) -> int:
        self.totals[key] = self.totals.get(key, 0) + amount
        return self.totals[key]


class Clock:
    """Epoch seconds that a test moves."""

    now = 1_000_020.0

    def __call__(self) -> float:
        return self.now


@dataclass
class ByToken:
    """Knows accounts by their bearer tokens."""

    accounts: Mapping[str, Principal] = field(default_factory=dict)

    def identify(self, headers: Mapping[str, str], resource: str) -> Principal:
        from commonplace.kernel.errors import Unauthorized

        token = headers.get("authorization", "").removeprefix("Bearer ")
        if token and token not in self.accounts:
            raise Unauthorized("This token is not known.", hint="Sign in again.")
        return self.accounts.get(token, ANONYMOUS)

    def used(self, principal: Principal, address: str) -> None:
        pass

    def denied(self, principal: Principal, reason: str, wanted: str, address: str) -> None:
        pass


@dataclass
class Context:
    """What Lambda says of an invocation."""

    milliseconds_left: int = 29_000

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds_left


def heard(_: Call, said: Said) -> Answer:
    return Answer(said.text, Heard(text=said.text))


def crash(_: Call, __: NoArguments) -> Answer:
    raise RuntimeError(SECRET)


def miss(_: Call, __: NoArguments) -> Answer:
    raise NotFound("There is no such thing.", hint="Ask for another.")


async def narrate(call: Call, said: Said) -> Answer:
    """Tells of its progress, then answers."""
    await call.context.session.report_progress(1, 2, said.text)
    return Answer(said.text, Heard(text=said.text))


def read_template(_: Call, variables: Mapping[str, str]) -> tuple[str, str]:
    if variables["id"] != "one":
        raise NotFound("There is no such thing.")
    return "one thing", "text/plain"


def tool(name: str, run: Callable[..., Any], arguments: type[Arguments] = NoArguments, **more: Any) -> Tool:
    return Tool(
        name=name, title=name.title(), description=f"To {name}.", arguments=arguments, output=Heard, run=run, **more
    )


def probe(release: Event) -> Toolset:
    """Everything that a request can meet. `wait` ends when `release` is set."""

    def wait(_: Call, said: Said) -> Answer:
        release.wait(60)
        return Answer(said.text, Heard(text=said.text))

    async def narrate_and_wait(call: Call, said: Said) -> Answer:
        import anyio

        await call.context.session.report_progress(1, 2, "begun")
        await anyio.sleep_forever()
        raise AssertionError

    return Toolset(
        name="probe",
        title="Probe",
        instructions="For tests.",
        tools=(
            tool("echo", heard, Said),
            tool("find", heard, Said, cost="search"),
            tool("keep", heard, Said, cost="write", read_only=False, tier="public"),
            tool("members", heard, Said, tier="member"),
            tool("crash", crash),
            tool("miss", miss),
            tool("wait", wait, Said),
            tool("narrate", narrate, Said),
            tool("narrate_and_wait", narrate_and_wait, Said),
        ),
        resources=(
            Resource(
                uri="mcp://probe/fixed",
                name="fixed",
                title="Fixed",
                description="Always the same.",
                mime_type="text/plain",
                read=lambda _: "fixed",
            ),
        ),
        templates=(
            Template(
                uri_template="mcp://probe/things/{id}",
                name="thing",
                title="Thing",
                description="One thing.",
                mime_type="text/plain",
                read=read_template,
            ),
        ),
        prompts=(
            Prompt(
                name="ask",
                title="Ask",
                description="Asks.",
                arguments=(Argument(name="topic", description="What about."),),
                render=lambda _, given: f"Tell me about {given['topic']}.",
            ),
        ),
    )


OTHER = Toolset(name="other", title="Other", instructions="For tests too.", tools=(tool("echo", heard, Said),))

NO_LIMITS: Mapping[Cost, int] = {"read": 0, "search": 0, "write": 0}


@dataclass
class World:
    base_url: str = BASE_URL
    origins: tuple[str, ...] = ()
    limits: Mapping[Cost, int] = field(default_factory=lambda: NO_LIMITS)
    toolset_limits: Mapping[str, Mapping[Cost, int]] = field(default_factory=dict)
    read_only: bool = False
    default: tuple[str, ...] = ("probe",)
    principals: Principals = field(default_factory=ByToken)
    counters: Counters = field(default_factory=Counters)
    clock: Clock = field(default_factory=Clock)
    release: Event = field(default_factory=Event)
    records: list[CallRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        throttle = Throttle(Limiter(self.counters, self.clock), self.limits, toolsets=self.toolset_limits)
        surface = Surface(base_url=self.base_url, spend=throttle.spend, record=self.records.append)
        self.app = create_app(
            [probe(self.release), OTHER],
            surface,
            throttle=throttle,
            default=self.default,
            origins=self.origins,
            read_only=self.read_only,
            principals=self.principals,
        )
        self.handler = Gateway(self.app)

    def ask(self, event: dict[str, Any], *, milliseconds_left: int = 29_000) -> Answered:
        return self.handler(event, cast(Any, Context(milliseconds_left)))


def event(
    body: bytes | str,
    headers: Mapping[str, str | None] | None = None,
    *,
    verb: str = "POST",
    path: str = "/mcp",
    address: str = "192.0.2.1",
) -> dict[str, Any]:
    """Payload 2.0. A header of None is not sent."""
    raw = body.encode() if isinstance(body, str) else body
    sent: dict[str, str | None] = {
        "host": HOST,
        "x-forwarded-proto": "https",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    sent |= {name.lower(): value for name, value in (headers or {}).items()}
    return {
        "version": "2.0",
        "routeKey": "ANY /mcp",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {name: value for name, value in sent.items() if value is not None},
        "requestContext": {
            "domainName": "abc123.execute-api.eu-central-1.amazonaws.com",
            "http": {"method": verb, "path": path, "protocol": "HTTP/1.1", "sourceIp": address, "userAgent": "test"},
            "requestId": "request",
            "stage": "$default",
        },
        "body": base64.b64encode(raw).decode(),
        "isBase64Encoded": True,
    }


def modern(
    method: str, params: dict[str, Any] | None = None, headers: Mapping[str, str | None] | None = None, **more: Any
) -> dict[str, Any]:
    """A request of 2026-07-28, or a notification with `id=None`."""
    params = {"_meta": META} | (params or {})
    named = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(method, "")
    sent: dict[str, str | None] = {"mcp-protocol-version": MODERN, "mcp-method": method}
    if isinstance(params.get(named), str):
        sent["mcp-name"] = params[named]
    return event(message(method, params, more.pop("id", 1)), sent | dict(headers or {}), **more)


def legacy(
    method: str, params: dict[str, Any] | None = None, headers: Mapping[str, str | None] | None = None, **more: Any
) -> dict[str, Any]:
    """A request of 2025-11-25, or a notification with `id=None`."""
    return event(
        message(method, params, more.pop("id", 1)), {"mcp-protocol-version": LEGACY} | dict(headers or {}), **more
    )


def message(method: str, params: dict[str, Any] | None, request_id: Any) -> str:
    told: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if request_id is not None:
        told["id"] = request_id
    if params is not None:
        told["params"] = params
    return json.dumps(told)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """The params of a tool's call."""
    return {"name": name, "arguments": arguments}


def body_of(answer: Answered) -> Any:
    """The JSON of an answer; of a stream, its last message. None for no body."""
    text = answer.get("body") or ""
    if answer.get("isBase64Encoded"):
        text = base64.b64decode(text).decode()
    if answer["headers"].get("content-type", "").startswith("text/event-stream"):
        text = [line for line in text.splitlines() if line.startswith("data:")][-1].removeprefix("data:")
    return json.loads(text) if text else None
