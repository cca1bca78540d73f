"""How errors leave the authorization server: OAuth's JSON at OAuth's endpoints, our envelope everywhere else.

Bodies of requests, read strictly: the media type, the size, the encoding, and each parameter once.

One address of the authorization server that programs call: methods, CORS, and OAuth's way of failing.
"""

import json
import logging
import re
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.server import log
from commonplace.kernel.errors import CommonplaceError

JSON = "application/json"
NO_STORE = {"cache-control": "no-store", "pragma": "no-cache"}

_UNSAYABLE = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")  # RFC 6749, section 5.2


def json_answer(body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON that no cache keeps."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(text, status, media_type=JSON, headers=NO_STORE | dict(headers or {}))


def oauth_answer(error: OAuthError) -> Response:
    """As RFC 6749, section 5.2, writes it."""
    body = {name: _UNSAYABLE.sub("'", text) for name, text in error.body().items()}
    return json_answer(body, error.status, error.headers)


def server_error() -> OAuthError:
    """What a client sees of a defect: nothing of it."""
    return OAuthError("server_error", "Something went wrong here. It has been noted.", status=500)


def as_oauth(error: CommonplaceError) -> OAuthError:
    """An error of our own in OAuth's words: what says when to come back keeps saying it, the rest is a bad request."""
    seconds = getattr(error, "retry_after_seconds", None)
    headers = {} if seconds is None else {"retry-after": str(seconds)}
    if error.status in (429, 503):
        sentence = "Too many requests." if error.status == 429 else "A part that this depends on does not answer."
        description = f"{sentence} Send the same again in {seconds} seconds."
        return OAuthError("temporarily_unavailable", description, status=error.status, headers=headers)
    if error.status >= 500:
        return server_error()
    status = 413 if error.status == 413 else 400
    return OAuthError("invalid_request", error.message, status=status, reason=error.code.lower())


def envelope(error: CommonplaceError, headers: Mapping[str, str] | None = None) -> Response:
    """As every other surface of ours answers (seed 000, section 10)."""
    seconds = getattr(error, "retry_after_seconds", None)
    retry = {} if seconds is None else {"retry-after": str(seconds)}
    return json_answer(error.envelope(), error.status, retry | dict(headers or {}))


def told(error: BaseException) -> dict[str, str]:
    """A defect for the log: its kind and where it happened. Never its text, which may quote what somebody sent."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    where = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames))
    return {"error": type(error).__name__, "where": where}


FORM = "application/x-www-form-urlencoded"
MAX_FORM_BYTES = 16 * 1024
MAX_PARAMETERS = 50


async def read_form(request: Request) -> Mapping[str, str]:
    """The parameters of a form; the query string is never looked at. Raises OAuthError `invalid_request`.

    An empty value counts as absent (RFC 6749, section 3.1).
    """
    if media_type(request) != FORM:
        raise _refused(f"The body must be a form: Content-Type {FORM}.", "media_type")
    body = await read_body(request, MAX_FORM_BYTES)
    if body is None:
        raise _refused(f"The body must not be larger than {MAX_FORM_BYTES} bytes.", "too_large")
    try:
        pairs = parse_qsl(
            body.decode("utf-8"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except UnicodeDecodeError:
        raise _refused("The body must be UTF-8.", "encoding") from None
    except ValueError:
        raise _refused(f"The body must not have more than {MAX_PARAMETERS} parameters.", "too_many") from None
    if len({name for name, _ in pairs}) < len(pairs):
        raise _refused("A parameter was sent more than once.", "repeated")
    return {name: value for name, value in pairs if value}


async def read_body(request: Request, max_bytes: int) -> bytes | None:
    """None for a body that is larger; what is beyond the bound is not kept."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and len(announced) < 16 and int(announced) > max_bytes:
        return None
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            return None
        parts.append(part)
    return b"".join(parts)


def media_type(request: Request) -> str:
    """Lower case and without parameters; empty when there is none, or more than one."""
    values = request.headers.getlist("content-type")
    return values[0].partition(";")[0].strip().lower() if len(values) == 1 else ""


def header_map(request: Request) -> dict[str, str]:
    """By lower-case name; several of one name are joined, as gateways do."""
    found: dict[str, str] = {}
    for name, value in request.headers.items():
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def _refused(description: str, reason: str) -> OAuthError:
    return OAuthError("invalid_request", description, reason=reason)


logger = logging.getLogger(__name__)

Handler = Callable[[Request], Awaitable[Response]]

EVENT = "event"
"""In a request's state: what it turned out to be about, in place of what its address is mostly for."""

CORS = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "WWW-Authenticate, Retry-After",
}
"""Any page may call; none brings cookies along, for credentials are not allowed and none are read here."""
PREFLIGHT = {
    "access-control-allow-headers": "Authorization, Content-Type, MCP-Protocol-Version",
    "access-control-max-age": "86400",
}


class Endpoint:
    """Answers everything that is sent to its address, whatever happens on the way."""

    def __init__(self, method: str, handler: Handler, *, cors: bool, event: log.Event | None = None) -> None:
        """`method` is the one that it takes, beside OPTIONS, and HEAD for GET. Failures are told as `event`."""
        methods = ("GET", "HEAD") if method == "GET" else (method,)
        self._methods = (*methods, "OPTIONS") if cors else methods
        self._handler = handler
        self._cors = cors
        self._event = event

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        answer = await self._answer(request)
        if self._cors:
            answer.headers.update(CORS)
        if request.method == "HEAD":
            answer.body = b""
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        allow = {"allow": ", ".join(self._methods)}
        if request.method == "OPTIONS" and self._cors:
            methods = {"access-control-allow-methods": allow["allow"]}
            return Response(status_code=204, headers=allow | PREFLIGHT | methods | NO_STORE)
        if request.method not in self._methods:
            return oauth_answer(
                OAuthError("invalid_request", f"Use {self._methods[0]} here.", status=405, headers=allow)
            )
        try:
            return await self._handler(request)
        except OAuthError as error:
            return self._failed(request, error)
        except CommonplaceError as error:
            return self._failed(request, as_oauth(error))
        except ClientDisconnect:
            return oauth_answer(OAuthError("invalid_request", "The body did not arrive whole."))
        except Exception as error:  # noqa: BLE001 - the one boundary: nothing of a defect may leave it
            logger.error("request failed", extra=told(error) | {"path": request.url.path})
            return self._failed(request, server_error())

    def _failed(self, request: Request, error: OAuthError) -> Response:
        event: log.Event | None = getattr(request.state, EVENT, self._event)
        if event is not None:
            event = "reuse" if error.reason in log.REUSED else event
            log.record(event, log.outcome_of(error.status), error.reason)
        return oauth_answer(error)


def route(path: str, method: str, handler: Handler, *, cors: bool, event: log.Event | None = None) -> Route:
    """A route that takes every method, for its endpoint to answer."""
    return Route(path, Endpoint(method, handler, cors=cors, event=event))


def cached(answer: Mapping[str, str] | None = None) -> dict[str, str]:
    """Headers of what any cache may keep for five minutes."""
    return {"cache-control": "public, max-age=300", **(answer or {})}
