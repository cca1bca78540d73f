"""Endpoints that programs call: methods, CORS, strict bodies, OAuth's errors, and limits by network and client.

OAuth's endpoints fail with OAuth's JSON, everything else with our envelope.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl

from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, request_response
from starlette.types import Scope

from commonplace.identity import telemetry
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.server.composition import OAuthServices
from commonplace.identity.records import Client
from commonplace.kernel.errors import CommonplaceError
from commonplace.kernel.limits import Quota, network
from commonplace.web.browsers import FORM, MAX_FORM_BYTES, media_type, read_body
from commonplace.web.middleware import CORS, Errors, client_address, error_headers, spend

JSON = "application/json"
NO_STORE = {"cache-control": "no-store", "pragma": "no-cache"}
CACHED = {"cache-control": "public, max-age=300"}

_UNSAYABLE = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")  # RFC 6749, section 5.2

MAX_PARAMETERS = 50

Handler = Callable[[Request], Awaitable[Response]]

EVENT = "event"
"""In a request's state: what it turned out to be about, in place of what its address is mostly for."""

SENT = ("Authorization", "Content-Type", "MCP-Protocol-Version")
EXPOSED = ("WWW-Authenticate", "Retry-After")

SHARED_FACTOR = 5
"""So many clients' worth of requests may come from one network: a household, an office, a hosted client."""


def json_answer(body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(text, status, headers, JSON)


def oauth_answer(error: OAuthError) -> Response:
    """Return the error as RFC 6749, section 5.2, writes it."""
    body = {name: _UNSAYABLE.sub("'", text) for name, text in error.body().items()}
    return json_answer(body, error.status, error.headers)


def server_error() -> OAuthError:
    """Return what a client sees of a defect: nothing of it."""
    return OAuthError("server_error", "Something went wrong here. It has been noted.", status=500)


def as_oauth(error: CommonplaceError) -> OAuthError:
    """An error of our own in OAuth's words: what says when to come back keeps saying it, the rest is a bad request."""
    if error.status in (429, 503):
        seconds = getattr(error, "retry_after_seconds", None)
        sentence = "Too many requests." if error.status == 429 else "A part that this depends on does not answer."
        description = f"{sentence} Send the same again in {seconds} seconds."
        return OAuthError("temporarily_unavailable", description, status=error.status, headers=error_headers(error))
    if error.status >= 500:
        return server_error()
    status = 413 if error.status == 413 else 400
    return OAuthError("invalid_request", error.message, status=status, reason=error.code.lower())


def envelope(error: CommonplaceError, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer of every other surface of ours (seed 000, section 10)."""
    return json_answer(error.envelope(), error.status, error_headers(error) | dict(headers or {}))


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


def _refused(description: str, reason: str) -> OAuthError:
    return OAuthError("invalid_request", description, reason=reason)


def route(path: str, method: str, handler: Handler, *, cors: bool, event: telemetry.Event | None = None) -> Route:
    """A route that answers every method: `method`, beside OPTIONS with `cors`, and HEAD for GET, and 405 for others.

    Failures are logged as `event`. With `cors` any page may call, and brings no cookies: credentials are not allowed.
    """
    methods = ("GET", "HEAD") if method == "GET" else (method,)
    allowed = (*methods, "OPTIONS") if cors else methods

    async def answer(request: Request) -> Response:
        if request.method not in methods:
            headers = {"allow": ", ".join(allowed)}
            return oauth_answer(OAuthError("invalid_request", f"Use {method} here.", status=405, headers=headers))
        return await handler(request)

    def render(scope: Scope, error: Exception) -> Response:
        if isinstance(error, ClientDisconnect):
            return oauth_answer(OAuthError("invalid_request", "The body did not arrive whole."))
        failed = error if isinstance(error, OAuthError) else as_oauth(cast(CommonplaceError, error))
        known: telemetry.Event | None = scope.get("state", {}).get(EVENT, event)
        if known is not None:
            telemetry.record(
                "reuse" if failed.reason in telemetry.REUSED else known,
                telemetry.outcome_of(failed.status),
                failed.reason,
            )
        return oauth_answer(failed)

    public = Middleware(
        CORS, allow_origins="*", allow_methods=allowed, allow_headers=SENT, expose_headers=EXPOSED, max_age=86_400
    )
    expected = (OAuthError, CommonplaceError, ClientDisconnect)
    endpoint = Errors(request_response(answer), render=render, expected=expected)
    return Route(path, endpoint, middleware=[public] if cors else None)


def network_of(request: Request) -> str:
    """Return who calls, as far as it is known without a credential."""
    return network(client_address(request.scope))


def spend_network(services: OAuthServices, request: Request, endpoint: str) -> None:
    """Counts a request before anything of it is read. Raises RateLimited."""
    calls = services.settings.requests_per_minute * SHARED_FACTOR
    _spend(services, Quota(f"auth-{endpoint}-network", calls), network_of(request))


def spend_client(services: OAuthServices, request: Request, endpoint: str, client: Client) -> None:
    """Counts a request of a client that is known now. Raises RateLimited.

    A public client is what many people have installed: those of one network are counted together, no others.
    """
    who = [client.id] if client.confidential else [client.id, network_of(request)]
    _spend(services, Quota(f"auth-{endpoint}", services.settings.requests_per_minute), json.dumps(who))


def _spend(services: OAuthServices, quota: Quota, client: str) -> None:
    spend(services.limiter, quota, client, what="requests", hint="Wait as long as Retry-After says.")
