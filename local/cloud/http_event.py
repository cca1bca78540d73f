"""Between HTTP and a function: events and answers of an API Gateway HTTP API, payload format 2.0. Pure.

Source of the rules: API Gateway developer guide, "Working with AWS Lambda proxy integrations for HTTP APIs" and
"Create routes for HTTP APIs". `rawPath` is percent-decoded: the service delivers it so, unlike function URLs.
"""

import base64
import binascii
import json
import re
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote

from local.cloud.environment import ACCOUNT

# Other types arrive as base64, forms among them.
_TEXT = re.compile(r"text/|application/(?:json|xml|javascript)(?:$|[;\s])", re.IGNORECASE)
_OWN_HEADERS = frozenset({"connection", "transfer-encoding", "date"})


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came in. `target` is the raw path and query; `headers` keep their order and duplicates."""

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    source_ip: str
    protocol: str = "HTTP/1.1"
    port: int = 80

    @property
    def path(self) -> str:
        return unquote(self.target.partition("?")[0], errors="replace")

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


@dataclass(frozen=True, slots=True)
class Route:
    """A route key such as `POST /a/{x}`, `ANY /b/{proxy+}` or `$default`, and the function behind it."""

    key: str
    function: str
    _method: str = field(init=False, repr=False)
    _segments: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        method, _, path = self.key.partition(" ")
        if self.key != "$default" and not path.startswith("/"):
            raise ValueError(f"A route key is `METHOD /path` or `$default`, not {self.key!r}.")
        object.__setattr__(self, "_method", method)
        object.__setattr__(self, "_segments", tuple(path.split("/")[1:]))

    @property
    def rank(self) -> tuple[bool, bool, int, bool]:
        """The most specific first: full matches, then the longest greedy one; `ANY` after a method; `$default`."""
        greedy = bool(self._segments) and self._segments[-1].endswith("+}")
        fixed = sum(not segment.startswith("{") for segment in self._segments)
        return self.key == "$default", greedy, -fixed, self._method == "ANY"

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """The path parameters, or `None` when the route is not for this request."""
        if self.key == "$default":
            return {}
        if self._method not in ("ANY", method):
            return None
        given, parameters = path.split("/")[1:], dict[str, str]()
        for index, segment in enumerate(self._segments):
            if segment.endswith("+}"):
                rest = "/".join(given[index:])
                # A route key cannot end in a slash: `/a/` is taken by `/a/{x+}`, though `/` is not by `/{x+}`.
                return parameters | {segment[1:-2]: rest} if rest or 0 < index < len(given) else None
            if index >= len(given) or (not segment.startswith("{") and segment != given[index]):
                return None
            if segment.startswith("{"):
                parameters[segment[1:-1]] = given[index]
        return parameters if len(given) == len(self._segments) else None


def find(routes: Iterable[Route], method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The route that answers and its parameters; `None` when the gateway itself says 404."""
    for route in sorted(routes, key=lambda route: route.rank):
        parameters = route.match(method, path)
        if parameters is not None:
            return route, parameters
    return None


def event(request: Request, route: Route, parameters: dict[str, str], api_id: str) -> dict[str, Any]:
    """The event of payload format 2.0."""
    headers, cookies = _headers(request)
    now = time.time()
    made: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route.key,
        "rawPath": request.path,
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": api_id,
            "domainName": headers.get("host", "").partition(":")[0],
            "domainPrefix": headers.get("host", "").partition(".")[0],
            "http": {
                "method": request.method,
                "path": request.path,
                "protocol": request.protocol,
                "sourceIp": request.source_ip,
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": uuid.uuid4().hex[:16],
            "routeKey": route.key,
            "stage": "$default",
            "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
            "timeEpoch": int(now * 1000),
        },
        "isBase64Encoded": False,
    }
    if cookies:
        made["cookies"] = cookies
    if request.query:
        made["queryStringParameters"] = _joined(parse_qsl(request.query, keep_blank_values=True))
    if parameters:
        made["pathParameters"] = parameters
    if request.body:
        made["body"], made["isBase64Encoded"] = _encoded(request.body, headers.get("content-type", ""))
    return made


def _headers(request: Request) -> tuple[dict[str, str], list[str]]:
    cookies = [part.strip() for name, value in request.headers if name.lower() == "cookie" for part in value.split(";")]
    headers = _joined((name.lower(), value) for name, value in request.headers if name.lower() != "cookie")
    headers["x-forwarded-for"] = ", ".join(filter(None, [headers.get("x-forwarded-for"), request.source_ip]))
    headers["x-forwarded-proto"], headers["x-forwarded-port"] = "http", str(request.port)
    headers.setdefault("content-length", str(len(request.body)))
    return headers, [cookie for cookie in cookies if cookie]


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Duplicates are joined by commas, in their order."""
    joined: dict[str, str] = {}
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _encoded(body: bytes, content_type: str) -> tuple[str, bool]:
    """Text as it is, byte for byte (a webhook's signature is over the bytes); everything else as base64."""
    if _TEXT.match(content_type):
        try:
            return body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(body).decode(), True


def own_answer(status: HTTPStatus, message: str) -> Response:
    """What the gateway says when no function does."""
    body = json.dumps({"message": message}, separators=(",", ":")).encode()
    return Response(status, [("content-type", "application/json")], body)


NOT_FOUND = own_answer(HTTPStatus.NOT_FOUND, "Not Found")
TOO_LARGE = own_answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Request Entity Too Large")
BAD_REQUEST = own_answer(HTTPStatus.BAD_REQUEST, "Bad Request")
HEADERS_TOO_LARGE = own_answer(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "Request Header Fields Too Large")
TIMED_OUT = own_answer(HTTPStatus.SERVICE_UNAVAILABLE, "Service Unavailable")
FAILED = own_answer(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal Server Error")


def response(payload: bytes) -> Response:
    """A function's answer. Without `statusCode` it is JSON with status 200; unreadable, it is the gateway's 500."""
    try:
        answer = json.loads(payload)
        if not isinstance(answer, dict) or "statusCode" not in answer:
            return Response(200, [("content-type", "application/json")], payload)
        status = int(answer["statusCode"])
        headers = [(str(name), _text(value)) for name, value in (answer.get("headers") or {}).items()]
        headers = [(name, value) for name, value in headers if name.lower() not in _OWN_HEADERS]
        headers += [("set-cookie", str(cookie)) for cookie in answer.get("cookies") or []]
        body = answer.get("body") or ""
        content = base64.b64decode(body, validate=True) if answer.get("isBase64Encoded") else body.encode()
    except (ValueError, TypeError, AttributeError, binascii.Error):
        return FAILED
    if not 100 <= status <= 599 or any("\r" in text or "\n" in text for pair in headers for text in pair):
        return FAILED
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("content-type", "text/plain;charset=UTF-8"))
    return Response(status, headers, content)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
