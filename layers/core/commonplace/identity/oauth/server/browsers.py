"""Requests of browsers: their origin, bounded forms and JSON, refusals as pages, sessions and cookies.

What the store knows of a session is encrypted under the browser's cookie.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, cast
from urllib.parse import parse_qsl, urlencode

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from commonplace.identity import secrets, telemetry
from commonplace.identity.accounts import Profile
from commonplace.identity.oauth.authorization_request import LocalRefusal
from commonplace.identity.oauth.pages.html import GUARDED, refused
from commonplace.identity.oauth.server.endpoint import (
    FORM,
    MAX_FORM_BYTES,
    envelope,
    media_type,
    read_body,
    spend_network,
)
from commonplace.identity.oauth.server.services import OAuthServices
from commonplace.identity.oidc_sessions import ReadsClaims, SignInOver
from commonplace.identity.ports import SignInStore
from commonplace.identity.records import (
    CHALLENGE_SECONDS,
    REQUEST_SECONDS,
    SESSION_SECONDS,
    AuthorizationRequest,
    Session,
)
from commonplace.kernel.errors import BadRequest, CommonplaceError, Forbidden, TooLarge
from commonplace.web.middleware import Errors

Handler = Callable[[Request], Awaitable[Response]]

PAGE_HEADER = "x-commonplace-page"
"""Sent by our scripts. A page of another site cannot send it: CORS would ask here first, and is never allowed."""
MAX_JSON_BYTES = 40 * 1024
MAX_FIELDS = 60

SESSION_COOKIE = "__Host-cp_session"
CHALLENGE_COOKIE = "__Host-cp_challenge"
OIDC_COOKIE = "__Host-cp_oidc"
LOCAL_COOKIE = "__Host-cp_local"
REQUEST_COOKIE = "__Host-cp_request_"
MAX_REQUESTS = 10
"""That wait for one browser at a time."""
PURPOSE = "session"
MAX_COOKIE_CHARACTERS = 100


def page_route(services: OAuthServices, path: str, handler: Handler, *methods: str) -> Route:
    """A route to a page: what is refused is a page as well, unless a script of ours called."""
    return _route(services, path, handler, methods)


def script_route(services: OAuthServices, path: str, handler: Handler, *methods: str) -> Route:
    """A route that scripts of ours call: it answers JSON, whatever happens."""
    return _route(services, path, handler, methods, script=True)


def _route(
    services: OAuthServices, path: str, handler: Handler, methods: Sequence[str], *, script: bool = False
) -> Route:
    site = services.settings.site_name

    async def answer(request: Request) -> Response:
        spend_network(services, request, path.strip("/").replace("/", "-"))
        return await handler(request)

    def render(scope: Scope, error: Exception) -> Response:
        if isinstance(error, LocalRefusal):
            telemetry.record("denied", "denied", error.reason or "local_refusal")
            return refused(site, BadRequest(error.message), "This app cannot be connected")
        ours = cast(CommonplaceError, error)
        return envelope(ours) if script or wants_json(Request(scope)) else refused(site, ours)

    errors = Middleware(Errors, render=render, expected=(LocalRefusal, CommonplaceError))
    return Route(path, answer, methods=list(methods), middleware=[GUARDED, errors])


def seen(url: str, status: int = 303) -> Response:
    """Sends the browser on, without a word to there of where it comes from."""
    return Response(status_code=status, headers={"location": url})


def wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def from_elsewhere(request: Request, issuer: str) -> bool:
    """Whether another site had the browser send this. Browsers say so; what is no browser says nothing.

    A form of ours comes with `Origin: null`, because of its page's Referrer-Policy; Sec-Fetch-Site distinguishes it.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site not in (None, "same-origin", "none"):  # none: typed into the address bar
        return True
    return origin is not None and origin != issuer and not (origin == "null" and site == "same-origin")


def must_be_ours(request: Request, issuer: str) -> None:
    """For what a script of ours sends with a session. Raises Forbidden."""
    if from_elsewhere(request, issuer) or PAGE_HEADER not in request.headers:
        raise Forbidden("Only a page of this site may ask for this.")


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


async def read_fields(request: Request) -> Mapping[str, list[str]]:
    """A form whose fields may come several times, as ticked boxes do. Raises BadRequest, TooLarge."""
    if media_type(request) != FORM:
        raise BadRequest(f"The body must be a form: Content-Type {FORM}.")
    body = await read_body(request, MAX_FORM_BYTES)
    if body is None:
        raise TooLarge(f"The body must not be larger than {MAX_FORM_BYTES} bytes.")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise BadRequest("The form cannot be read.") from None
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


def one(fields: Mapping[str, list[str]], name: str) -> str:
    """A field that may come once; empty when it is absent. Raises BadRequest."""
    values = fields.get(name, [""])
    if len(values) > 1:
        raise BadRequest(f"The field {name} came more than once.")
    return values[0]


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


@dataclass(frozen=True, slots=True)
class Sessions:
    """Opened by a sign-in, ended by signing out or after twelve hours."""

    store: SignInStore
    claims: ReadsClaims
    subject_hash: Callable[[str], str]
    clock: Callable[[], float]

    @classmethod
    def over(cls, services: OAuthServices) -> Self:
        return cls(services.sign_ins, services.claims, services.subject_hash, services.clock)

    def open(self, profile: Profile) -> str:
        """The value of the cookie: known to the browser alone."""
        cookie, now = secrets.fresh(secrets.SESSION), int(self.clock())
        sealed = secrets.seal(cookie, PURPOSE, profile.as_json())
        session = Session(
            hash=secrets.digest(cookie),
            subject_hash=self.subject_hash(profile.subject),
            sealed_profile=sealed,
            created_at=now,
            expires_at=now + SESSION_SECONDS,
        )
        self.store.put_session(session)
        return cookie

    def find(self, cookie: str) -> Profile | None:
        """Who has signed in with this browser; None when nobody has, it was too long ago, or their provider has taken
        it back. Raises Unavailable.
        """
        session = self.store.session(secrets.digest(cookie)) if cookie else None
        if session is None or session.expires_at <= self.clock():
            return None
        try:
            profile = Profile.from_json(secrets.unseal(cookie, PURPOSE, session.sealed_profile))
            return replace(profile, claims=self.claims.claims(profile))
        except (secrets.SealBroken, SignInOver):
            return None

    def end(self, cookie: str) -> None:
        if cookie:
            self.store.end_session(secrets.digest(cookie))


def cookie_of(request: Request, name: str) -> str:
    """The cookie's value; empty when there is none that could be ours."""
    value = request.cookies.get(name, "")
    return value if len(value) <= MAX_COOKIE_CHARACTERS else ""


def request_cookie(handle: str) -> str:
    """The name of the cookie that binds a request to its browser: one for each, so that two tabs both work."""
    return f"{REQUEST_COOKIE}{secrets.digest(handle)[:8]}"


def keep_session(answer: Response, cookie: str) -> None:
    _set(answer, SESSION_COOKIE, cookie, SESSION_SECONDS)


def keep_request(request: Request, answer: Response, handle: str, cookie: str) -> None:
    """Beside those of a few requests before: a client that asks again and again must not fill the browser's headers."""
    known = [name for name in request.cookies if name.startswith(REQUEST_COOKIE)]
    for name in known[: max(0, len(known) + 1 - MAX_REQUESTS)]:  # browsers send the oldest first (RFC 6265, 5.4)
        drop(answer, name)
    _set(answer, request_cookie(handle), cookie, REQUEST_SECONDS)


def keep_challenge(answer: Response, cookie: str) -> None:
    """Strict: only pages of ours bring it along, so nobody's browser is signed in from elsewhere."""
    _set(answer, CHALLENGE_COOKIE, cookie, CHALLENGE_SECONDS, strict=True)


def keep_oidc(answer: Response, cookie: str) -> None:
    """Lax: the provider sends the browser back from its own site."""
    _set(answer, OIDC_COOKIE, cookie, REQUEST_SECONDS)


def keep_local(answer: Response, cookie: str) -> None:
    """As long as a session: a sign-in page may stay open for a while."""
    _set(answer, LOCAL_COOKIE, cookie, SESSION_SECONDS)


def drop(answer: Response, name: str) -> None:
    _set(answer, name, "", 0, strict=name == CHALLENGE_COOKIE)


def _set(answer: Response, name: str, value: str, seconds: int, *, strict: bool = False) -> None:
    same_site: Literal["strict", "lax"] = "strict" if strict else "lax"
    answer.set_cookie(name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite=same_site)
