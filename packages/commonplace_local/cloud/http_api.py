"""The HTTP API: every request becomes an invocation with events and answers of payload format 2.0.

Source of the rules: API Gateway developer guide, "Working with AWS Lambda proxy integrations for HTTP APIs" and
"Create routes for HTTP APIs". `rawPath` is percent-decoded: the service delivers it so, unlike function URLs.

Methods of a REST API that streams answer at the same address, as behind the front door: their events have format 1.0,
and what a function writes is passed on at once, for as long as it takes.
"""

import base64
import binascii
import json
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from itertools import chain
from typing import IO, Any, cast
from urllib.parse import parse_qsl, unquote

from werkzeug.serving import DechunkedInput

from commonplace_local.cloud.environment import ACCOUNT
from commonplace_local.cloud.runtime import MAX_PAYLOAD_BYTES, FunctionFailed, Outcome
from commonplace_local.cloud.servers import Loopback, LoopbackHandler

# Other types arrive as base64, forms among them.
_TEXT = re.compile(r"text/|application/(?:json|xml|javascript)(?:$|[;\s])", re.IGNORECASE)
_OWN_HEADERS = frozenset({"connection", "transfer-encoding", "date"})

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_HEADER_BYTES = 10_240
INTEGRATION_SECONDS = 30.0

Invoke = Callable[[str, bytes, float], Outcome | None]
Pages = Callable[[str], str | None]
"""The HTML of a path that the laptop alone has, and that no function answers."""
PAGE = (
    ("content-type", "text/html; charset=utf-8"),
    *(("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"), ("cache-control", "no-store")),
    ("content-security-policy", "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'"),
)


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
    """A route key such as `POST /a`, `ANY /b/{proxy+}` or `$default`, and the function behind it."""

    key: str
    function: str
    streams: bool = False
    """It is a method of a REST API, and comes before those of the HTTP API."""

    def __post_init__(self) -> None:
        _, _, path = self.key.partition(" ")
        if self.key != "$default" and (not path.startswith("/") or "{" in path.removesuffix("{proxy+}")):
            known = "`METHOD /path`, `METHOD /path/{proxy+}` or `$default`"
            raise ValueError(f"A route key is {known}, not {self.key!r}.")

    @property
    def rank(self) -> tuple[bool, bool, bool, int, bool]:
        """The most specific first: full matches, then the longest greedy one; `ANY` after a method; `$default`."""
        method, _, path = self.key.partition(" ")
        return not self.streams, self.key == "$default", path.endswith("{proxy+}"), -path.count("/"), method == "ANY"

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """Return the path parameters; None when the route is not for this request."""
        own_method, _, own = self.key.partition(" ")
        if self.key == "$default":
            return {}
        if own_method not in ("ANY", method):
            return None
        if own == path:
            return {}
        stem = own.removesuffix("{proxy+}")
        # A route key cannot end in a slash: `/a/` is taken by `/a/{proxy+}`, though `/` is not by `/{proxy+}`.
        if stem == own or not path.startswith(stem) or path == "/":
            return None
        return {"proxy": path.removeprefix(stem)}


def find(routes: Iterable[Route], method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """Return the route that answers and its parameters; None when the gateway itself answers 404."""
    for route in sorted(routes, key=lambda route: route.rank):
        parameters = route.match(method, path)
        if parameters is not None:
            return route, parameters
    return None


def event(request: Request, route: Route, parameters: dict[str, str], api_id: str) -> dict[str, Any]:
    """The event of payload format 2.0."""
    given = ((name.lower(), value) for name, value in request.headers if name.lower() != "cookie")
    crumbs = (value.split(";") for name, value in request.headers if name.lower() == "cookie")
    cookies = [cookie for parts in crumbs for part in parts if (cookie := part.strip())]
    headers = _joined(given)
    headers["x-forwarded-for"] = ", ".join(filter(None, [headers.get("x-forwarded-for"), request.source_ip]))
    headers["x-forwarded-proto"], headers["x-forwarded-port"] = "http", str(request.port)
    headers.setdefault("content-length", str(len(request.body)))
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
        made["body"], made["isBase64Encoded"] = base64.b64encode(request.body).decode(), True
        if _TEXT.match(headers.get("content-type", "")):  # as it is: a webhook's signature is over the bytes
            with suppress(UnicodeDecodeError):
                made["body"], made["isBase64Encoded"] = request.body.decode(), False
    return made


def rest_event(request: Request, route: Route, parameters: dict[str, str], api_id: str) -> dict[str, Any]:
    """The event of payload format 1.0, as a REST API has it: without a version."""
    newer = event(request, route, parameters, api_id)
    many: dict[str, list[str]] = {}
    for name, value in request.headers:
        many.setdefault(name.lower(), []).append(value)
    query: dict[str, list[str]] = {}
    for name, value in parse_qsl(request.query, keep_blank_values=True):
        query.setdefault(name, []).append(value)
    context, http = newer["requestContext"], newer["requestContext"]["http"]
    return {
        "resource": route.key.partition(" ")[2],
        "path": request.path,
        "httpMethod": request.method,
        "headers": {name: values[-1] for name, values in many.items()},
        "multiValueHeaders": many,
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": parameters or None,
        "requestContext": {
            **{name: context[name] for name in ("accountId", "apiId", "domainName", "requestId")},
            "httpMethod": request.method,
            "identity": {"sourceIp": request.source_ip, "userAgent": http["userAgent"]},
            "path": request.path,
            "protocol": request.protocol,
            "requestTimeEpoch": context["timeEpoch"],
            "resourcePath": route.key.partition(" ")[2],
            "stage": "live",
        },
        "body": newer.get("body"),
        "isBase64Encoded": newer["isBase64Encoded"],
    }


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Duplicates are joined by commas, in their order."""
    joined: dict[str, str] = {}
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def own_answer(status: HTTPStatus, message: str) -> Response:
    """Return the gateway's own answer, where no function gives one."""
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
        headers = [
            (str(name), str(value).lower() if isinstance(value, bool) else str(value))
            for name, value in (answer.get("headers") or {}).items()
            if str(name).lower() not in _OWN_HEADERS
        ]
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


@dataclass(frozen=True, slots=True)
class Streamed:
    """An answer whose body comes piece by piece."""

    status: int
    headers: Sequence[tuple[str, str]]
    pieces: Iterator[bytes]


BROKEN_OFF = own_answer(HTTPStatus.BAD_GATEWAY, "Internal server error")
ZEROS = b"\0" * 8
"""Between the prelude of a streamed answer and its body."""


def streamed(pieces: Iterator[bytes]) -> Streamed | Response:
    """Return a streamed answer after its prelude; an error of the gateway where there is none."""
    head = b""
    try:
        while ZEROS not in head:
            head += next(pieces)
        prelude, _, first = head.partition(ZEROS)
        said = json.loads(prelude)
    except (StopIteration, ValueError, FunctionFailed):
        return BROKEN_OFF
    headers = [(str(name), str(value)) for name, value in said["headers"].items() if name.lower() not in _OWN_HEADERS]
    headers += [("set-cookie", str(cookie)) for cookie in said["cookies"]]
    return Streamed(int(said["statusCode"]), headers, chain([first] if first else [], pieces))


class HttpApi:
    """Answers on one port. Routes may be added until `start`."""

    def __init__(
        self,
        invoke: Invoke,
        port: int = 0,
        *,
        api_id: str = "laptop",
        pages: Pages | None = None,
        invoke_streaming: Callable[[str, bytes], Iterator[bytes]] | None = None,
    ) -> None:
        self._invoke, self._api_id, self._pages = invoke, api_id, pages
        self._invoke_streaming = invoke_streaming
        self.routes: list[Route] = []
        self._server = Loopback(_handler(self), port)

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return self._server.url

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def answer(self, request: Request) -> Response | Streamed:
        """Route, invoke within 30 seconds where the answer comes whole, and turn what comes back into HTTP."""
        if self._pages and request.method in ("GET", "HEAD") and (page := self._pages(request.path)) is not None:
            return Response(200, PAGE, page.encode())
        found = find(self.routes, request.method, request.path)
        if found is None:
            return NOT_FOUND
        route, parameters = found
        made = (rest_event if route.streams else event)(request, route, parameters, self._api_id)
        payload = json.dumps(made).encode()
        if len(payload) > MAX_PAYLOAD_BYTES:
            return TOO_LARGE
        if route.streams and self._invoke_streaming is not None:
            return streamed(self._invoke_streaming(route.function, payload))
        outcome = self._invoke(route.function, payload, INTEGRATION_SECONDS)
        if outcome is None:
            return TIMED_OUT
        return FAILED if outcome.failed else response(outcome.payload)


class Unreadable(Exception):
    """The request is refused before its body is read; the connection ends with the answer."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


def _handler(api: HttpApi) -> type[LoopbackHandler]:
    class Front(LoopbackHandler):
        pages = True  # which of them may do what is for the functions to say, as it is where they are deployed
        timeout = 75  # an idle connection, as long as the service keeps one

        def run_wsgi(self) -> None:
            """Any method. No WSGI: werkzeug asks for bodies of any length."""
            try:
                response = api.answer(self.request_read())
            except Unreadable as refusal:
                self.close_connection = True
                self.send(refusal.response)
                self.linger()
            else:
                self.send(response)

        def request_read(self) -> Request:
            if sum(len(name) + len(value) for name, value in self.headers.items()) > MAX_HEADER_BYTES:
                raise Unreadable(HEADERS_TOO_LARGE)
            target = self.path if self.path.startswith("/") else "/" + self.path.partition("://")[2].partition("/")[2]
            return Request(
                method=self.command,
                target=target,
                headers=self.headers.items(),
                body=self.body(),
                source_ip=str(self.client_address[0]),
                protocol=self.request_version,
                port=api.port,
            )

        def body(self) -> bytes:
            announced = self.headers.get("Content-Length", "0")
            if not announced.isdecimal():
                raise Unreadable(BAD_REQUEST)
            if int(announced) > MAX_BODY_BYTES:
                raise Unreadable(TOO_LARGE)
            self.invite()
            if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
                return self.rfile.read(int(announced))
            try:
                body = DechunkedInput(cast(IO[bytes], self.rfile)).read(MAX_BODY_BYTES + 1)
            except OSError as error:
                raise Unreadable(BAD_REQUEST) from error
            if len(body) > MAX_BODY_BYTES:
                raise Unreadable(TOO_LARGE)
            return body

        def send(self, response: Response | Streamed) -> None:
            if isinstance(response, Streamed):
                self.pass_on(response)
                return
            self.send_response_only(response.status)
            head = self.command == "HEAD"  # its length is that of the body a GET would get, which the function knows
            for name, value in response.headers:
                if name.lower() == "content-length" and not (head and value.isdecimal()):
                    continue
                self.send_header(name, value.encode().decode("latin-1"))  # UTF-8, as it came
            self.send_header("date", formatdate(usegmt=True))
            self.send_header("apigw-requestid", uuid.uuid4().hex[:16])
            known = head and any(name.lower() == "content-length" for name, _ in response.headers)
            if not known and response.status >= 200 and response.status != HTTPStatus.NO_CONTENT:
                self.send_header("content-length", str(len(response.body)))
            if self.close_connection:
                self.send_header("connection", "close")
            self.end_headers()
            if not head and response.status not in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED):
                self.wfile.write(response.body)

        def pass_on(self, response: Streamed) -> None:
            """Pass pieces on as they come. What breaks off is left without its end, so that the client knows."""
            bare = self.command == "HEAD" or response.status in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
            self.send_response_only(response.status)
            for name, value in response.headers:
                if name.lower() != "content-length":
                    self.send_header(name, value.encode().decode("latin-1"))
            self.send_header("date", formatdate(usegmt=True))
            self.send_header("x-amzn-requestid", str(uuid.uuid4()))
            if not bare:
                self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            self.wfile.flush()
            try:
                for piece in response.pieces:
                    if piece and not bare:
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                        self.wfile.flush()
            except FunctionFailed:
                self.close_connection = True
            else:
                self.wfile.write(b"" if bare else b"0\r\n\r\n")

    return Front
