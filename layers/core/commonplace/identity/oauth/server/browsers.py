"""Requests of browsers to the authorization server: scripts of ours, refusals as pages, and cookies."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlencode

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from commonplace.identity import secrets, telemetry
from commonplace.identity.oauth.authorization_request import LocalRefusal
from commonplace.identity.oauth.pages.html import GUARDED, refused
from commonplace.identity.oauth.server.composition import OAuthServices
from commonplace.identity.oauth.server.endpoint import envelope, spend_network
from commonplace.identity.records import REQUEST_SECONDS, AuthorizationRequest
from commonplace.identity.sessions import Sessions
from commonplace.kernel.errors import BadRequest, CommonplaceError, Forbidden, TooLarge
from commonplace.web.browsers import from_elsewhere, media_type, read_body, set_cookie
from commonplace.web.middleware import Errors

Handler = Callable[[Request], Awaitable[Response]]

PAGE_HEADER = "x-commonplace-page"
"""Sent by our scripts. A page of another site cannot send it: CORS would ask here first, and is never allowed."""
MAX_JSON_BYTES = 40 * 1024

CHALLENGE_COOKIE = "__Host-cp_challenge"
OIDC_COOKIE = "__Host-cp_oidc"
LOCAL_COOKIE = "__Host-cp_local"
REQUEST_COOKIE = "__Host-cp_request_"
MAX_REQUESTS = 10
"""That wait for one browser at a time."""


def page_route(services: OAuthServices, path: str, handler: Handler, *methods: str) -> Route:
    """A route to a page: what is refused is a page as well, unless a script of ours called."""
    return _route(services, path, handler, methods)


def script_route(services: OAuthServices, path: str, handler: Handler, *methods: str) -> Route:
    """A route that scripts of ours call: it answers JSON, whatever happens."""
    return _route(services, path, handler, methods, script=True)


def _route(
    services: OAuthServices, path: str, handler: Handler, methods: Sequence[str], *, script: bool = False
) -> Route:
    frame = services.frame

    async def answer(request: Request) -> Response:
        spend_network(services, request, path.strip("/").replace("/", "-"))
        return await handler(request)

    def render(scope: Scope, error: Exception) -> Response:
        if isinstance(error, LocalRefusal):
            telemetry.record("denied", "denied", error.reason or "local_refusal")
            return refused(frame, Request(scope), BadRequest(error.message), "This app cannot be connected")
        ours = cast(CommonplaceError, error)
        return envelope(ours) if script or wants_json(Request(scope)) else refused(frame, Request(scope), ours)

    errors = Middleware(Errors, render=render, expected=(LocalRefusal, CommonplaceError))
    return Route(path, answer, methods=list(methods), middleware=[GUARDED, errors])


def wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def must_be_ours(request: Request, issuer: str) -> None:
    """Refuse what no script of ours sent. Raises Forbidden."""
    if from_elsewhere(request, issuer) or PAGE_HEADER not in request.headers:
        raise Forbidden("Only a page of this site may send this request.")


async def read_json(request: Request) -> Mapping[str, Any]:
    """An object. Raises BadRequest, TooLarge."""
    if media_type(request) != "application/json":
        raise BadRequest("The body must be JSON.", hint="Send it with Content-Type application/json.")
    body = await read_body(request, MAX_JSON_BYTES)
    if body is None:
        raise TooLarge(f"The body must not be larger than {MAX_JSON_BYTES} bytes.")
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise BadRequest("The body must be a JSON object.")
    return values


def again(request: AuthorizationRequest, *, ask: bool = False) -> str:
    """The path at which the same request starts over: after a sign-in. `ask` shows the consent page in any case."""
    values = {
        "response_type": "code",
        "client_id": request.client_id,
        "redirect_uri": request.redirect_uri if request.redirect_given else None,
        "resource": request.resource,
        "scope": " ".join(request.scopes),
        "code_challenge": request.challenge,
        "code_challenge_method": "S256",
        "state": request.state,
        "prompt": "consent" if ask else None,
    }
    given = {name: value for name, value in values.items() if value is not None}
    return f"/authorize?{urlencode(given, errors='surrogateescape')}"


def sessions(services: OAuthServices) -> Sessions:
    return Sessions(services.sign_ins, services.claims, services.clock)


def request_cookie(handle: str) -> str:
    """The name of the cookie that binds a request to its browser: one for each, so that two tabs both work."""
    return f"{REQUEST_COOKIE}{secrets.digest(handle)[:8]}"


def keep_request(request: Request, answer: Response, handle: str, cookie: str) -> None:
    """Beside those of a few requests before: a client that asks again and again must not fill the browser's headers."""
    known = [name for name in request.cookies if name.startswith(REQUEST_COOKIE)]
    for name in known[: max(0, len(known) + 1 - MAX_REQUESTS)]:  # browsers send the oldest first (RFC 6265, 5.4)
        drop(answer, name)
    set_cookie(answer, request_cookie(handle), cookie, REQUEST_SECONDS)


def drop(answer: Response, name: str) -> None:
    set_cookie(answer, name, "", 0, strict=name == CHALLENGE_COOKIE)
