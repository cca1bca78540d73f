"""MCP messages as events of an HTTP API, in either era of the protocol, and two servers that answer them: ours, and the
SDK's own with as little round it as Lambda allows.

Their tools return a prepared answer, so that what is measured is what stands between an event and a tool.
"""

import http.client
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Annotated, Any
from urllib.parse import urlsplit

from mangum import Mangum
from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field
from starlette.applications import Starlette
from starlette.routing import Route

from commonplace.identity.principals import Principals, Tier
from commonplace.kernel.limits import Limiter
from commonplace.web.challenges import Challenges
from commonplace.web.gateway import Gateway
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.calls import Surface, record
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Output, Tool, Toolset
from commonplace.web.mcp.throttle import Throttle

MODERN, LEGACY = "2026-07-28", "2025-11-25"
HOST = "mcp.example.org"
BASE_URL = f"https://{HOST}"
PATH = "/mcp"
CLIENT = {"name": "bench", "version": "1.0.0"}
CONTEXT = SimpleNamespace(aws_request_id="bench", get_remaining_time_in_millis=lambda: 29_000)


def modern(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return one POST without a handshake: metadata with every request, method and name in headers as well."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    given = dict(params or {})
    headers = {"mcp-protocol-version": MODERN, "mcp-method": method}
    if name := given.get("name") or given.get("uri"):
        headers["mcp-name"] = name
    return event(method, given | {"_meta": meta}, headers)


def legacy(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    headers = {} if method == "initialize" else {"mcp-protocol-version": LEGACY}
    return event(method, dict(params or {}), headers)


def initialize() -> dict[str, Any]:
    return legacy("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT})


def event(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """Return an event of payload format 2.0."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    sent = {
        "host": HOST,
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "content-length": str(len(body)),
        "x-forwarded-proto": "https",
        "x-forwarded-port": "443",
        "x-forwarded-for": "192.0.2.1",
        "user-agent": "bench",
        **headers,
    }
    http = {"method": "POST", "path": PATH, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "bench"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": PATH,
        "rawQueryString": "",
        "headers": sent,
        "requestContext": {"domainName": HOST, "stage": "$default", "requestId": "bench", "http": http},
        "body": body,
        "isBase64Encoded": False,
    }


def result(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON-RPC result. Raises ValueError where there is none: figures of failures would mean nothing."""
    body = answer["body"]
    if "text/event-stream" in answer["headers"].get("content-type", ""):
        body = next(line[6:] for line in reversed(body.splitlines()) if line.startswith("data: "))
    message: dict[str, Any] = json.loads(body)
    if "result" not in message:
        raise ValueError(f"{answer['statusCode']}: {body[:400]}")
    found: dict[str, Any] = message["result"]
    return found


Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

TOOLS = 13
HITS = 5
DESCRIPTION = (
    "Search a knowledge base for passages that answer a question. Use it before you answer from memory. "
    "Returns the best passages with title, address and score; ask for whole documents with another tool."
)
QUERY, LIMIT, TAGS = "What to look for, in plain words.", "How many hits to return.", "Only what has these tags."


class Hit(Output):
    title: str
    url: str
    passage: str
    score: float


class Hits(Output):
    results: list[Hit]
    total: int


class Question(Arguments):
    query: str = Field(description=QUERY, min_length=1, max_length=500)
    limit: int = Field(default=5, ge=1, le=20, description=LIMIT)
    tags: list[str] | None = Field(default=None, max_length=20, description=TAGS)


PASSAGE = "Circles share work by asking who has energy for it, and write down what they decide. " * 4
DATA = Hits(
    results=[Hit(title=f"How to share work {n}", url=f"{BASE_URL}/{n}", passage=PASSAGE, score=1 / (n + 1))
             for n in range(HITS)],
    total=HITS,
)  # fmt: skip
TEXT = "\n\n".join(f"{hit.title}\n{hit.url}\n{hit.passage}" for hit in DATA.results)


@contextmanager
def logging_as_on_lambda() -> Iterator[None]:
    """Format our line for each call and drop it; the SDK's and the adapter's lines are off, as in the product."""
    for name in ("mangum", "mcp"):
        logging.getLogger(name).setLevel(logging.WARNING)
    ours, nowhere = logging.getLogger("commonplace"), _Nowhere()
    before = ours.level, ours.propagate
    ours.addHandler(nowhere)
    ours.setLevel(logging.INFO)
    ours.propagate = False
    try:
        yield
    finally:
        ours.removeHandler(nowhere)
        ours.setLevel(before[0])
        ours.propagate = before[1]


class _Nowhere(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        self.format(record)


def toolset(name: str = "bench", tier: Tier = "public") -> Toolset:
    """Return tools as the product declares them."""

    def run(_: Call, __: Any) -> Answer:
        return Answer(text=TEXT, data=DATA)

    tools = tuple(
        Tool(
            name=f"search_{number}",
            title="Search",
            description=DESCRIPTION,
            arguments=Question,
            output=Hits,
            run=run,
            cost="search",
            tier=tier,
        )
        for number in range(TOOLS)
    )
    return Toolset(name=name, title="Bench", instructions="Search before you answer.", tools=tools)


def ours(
    tools: Toolset | None = None, principals: Principals | None = None, challenges: Challenges | None = None
) -> Handler:
    """Return the product's frame, edge, gateway and log lines. No rate is limited: that would be a call of a store."""
    counters: Any = SimpleNamespace(add=lambda key, amount, expires_at: amount)  # noqa: ARG005 - the port's shape
    throttle = Throttle(Limiter(counters, time.time), {"read": 0, "search": 0, "write": 0})
    surface = Surface(name="bench", base_url=BASE_URL, spend=throttle.spend, record=record)
    served = tools or toolset()
    return Gateway(create_app([served], surface, throttle=throttle, principals=principals, challenges=challenges))


def bare(*, json_response: bool) -> Handler:
    """Return `MCPServer`, a manager for each request, Mangum: what the SDK does by itself on Lambda, and no more.

    The SDK answers JSON or a stream of events by its setting; ours chooses by the request, so there are two of these.
    """
    server = MCPServer("bench", instructions="Search before you answer.", log_level="WARNING")
    for number in range(TOOLS):
        server.tool(
            name=f"search_{number}",
            title="Search",
            description=DESCRIPTION,
            annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
        )(_bare_tool)
    server.streamable_http_app()
    inner = server.session_manager.app
    security = TransportSecuritySettings(allowed_hosts=[HOST], allowed_origins=[BASE_URL])

    async def endpoint(scope: Any, receive: Any, send: Any) -> None:
        manager = StreamableHTTPSessionManager(
            app=inner, stateless=True, security_settings=security, json_response=json_response
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    app = Starlette(routes=[Route(PATH, endpoint=_Instance(endpoint))])
    return Mangum(app, lifespan="off", text_mime_types=["text/", "application/json"])


def _bare_tool(
    query: Annotated[str, Field(description=QUERY, min_length=1, max_length=500)],  # noqa: ARG001 - a schema
    limit: Annotated[int, Field(ge=1, le=20, description=LIMIT)] = 5,  # noqa: ARG001
    tags: Annotated[list[str] | None, Field(max_length=20, description=TAGS)] = None,  # noqa: ARG001
) -> Annotated[CallToolResult, Hits]:
    """Answer as ours does: a text for readers and the same as data."""
    return CallToolResult(
        content=[TextContent(type="text", text=TEXT)],
        structured_content=DATA.model_dump(mode="json", by_alias=True, exclude_none=True),
    )


class _Instance:
    """An endpoint that the router takes for an application, and not for a function of a request."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)


class Caller:
    """One open connection to a server of MCP. Not for use from several threads."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def post(self, path: str, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the message that answers, an error too."""
        event = modern(method, params)
        headers = {name: event["headers"][name] for name in event["headers"] if name.startswith(("mcp-", "accept"))}
        self._connection.request("POST", path, event["body"], headers | {"content-type": "application/json"})
        answer: dict[str, Any] = json.loads(self._connection.getresponse().read())
        return answer

    def __call__(self, path: str, method: str, params: Mapping[str, Any], *, failed: bool = False) -> dict[str, Any]:
        """Return the result. Raises ValueError for anything else, and for a call that failed unless those count too."""
        return result_of(self.post(path, method, params), failed=failed)

    def close(self) -> None:
        self._connection.close()


def result_of(answer: Mapping[str, Any], *, failed: bool = False) -> dict[str, Any]:
    """Return the result of a message. Raises ValueError as `Caller` does."""
    if "result" not in answer or (answer["result"].get("isError") and not failed):
        raise ValueError(json.dumps(answer)[:400])
    found: dict[str, Any] = answer["result"]
    return found
