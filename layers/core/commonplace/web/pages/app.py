"""The application that shows pages: those of capabilities, their assets, and errors as pages; built from settings."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from commonplace.identity.principals import Principal, Tier
from commonplace.kernel.errors import BadRequest, CommonplaceError, MethodNotAllowed, NotFound, Unauthorized
from commonplace.kernel.limits import Limiter
from commonplace.web.browsers import SIGN_IN, cookie_of, to_sign_in
from commonplace.web.middleware import exception_handlers
from commonplace.web.pages.declaration import Pages
from commonplace.web.pages.frame import ASSETS_PATH, Frame
from commonplace.web.settings import SiteSettings
from commonplace.web.stack import REVALIDATED, Find, Limits, Private, stack

if TYPE_CHECKING:
    from commonplace.identity.sessions import Visitors

CACHEABLE = "public, max-age=60, stale-while-revalidate=600"
"""Where a page says nothing else: shorter than data, for whoever saves a file looks at its page."""
IMMUTABLE = "public, max-age=31536000, immutable"
UNGUARDED = ("/assets/", "/icon.png", "/favicon.ico", "/robots.txt")
"""Paths of the code, not of the knowledge base: the sign-in page needs the first, crawlers the last."""


def create_app(
    declared: Sequence[Pages],
    frame: Frame,
    limiter: Limiter,
    *,
    reads: int,
    searches: int,
    private: Middleware | None = None,
    fresh: bool = False,
) -> Starlette:
    """Return the application over these pages. Endpoints call services directly: one process, one request.

    `reads` and `searches` are calls a minute of one address; `private` is what lets on who may read. Where pages are
    `fresh`, browsers ask for each of them again: whoever saves a file looks at its page.
    """
    frame.declared.extend(declared)

    def render(scope: Scope, error: Exception) -> Response:
        return frame.error(Request(scope), ours(error))

    limits = Limits(limiter, reads, searches, frozenset(path for each in declared for path in each.searches))
    app = Starlette(
        routes=[*(route for each in declared for route in each.routes), asset_route(frame, ASSETS_PATH)],
        middleware=stack(
            limits,
            render,
            headers={"x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin"},
            cached=REVALIDATED if fresh else {"cache-control": CACHEABLE},
            open_to_all=private is None,
            private=private,
        ),
        exception_handlers=exception_handlers(render),
    )
    app.router.redirect_slashes = False
    return app


def asset_route(frame: Frame, path: str) -> Route:
    """Return the route of files of the folders of the frame and of those who use it, below this path."""

    async def get_asset(request: Request) -> Response:
        found = frame.asset(request.path_params["name"])
        if found is None:
            raise NotFound("There is no such file.")
        answer = found.answer(request)
        # They are the code's, and a frame that is closed in has an origin of its own.
        answer.headers["cross-origin-resource-policy"] = "cross-origin"
        if request.query_params.get("v") == found.etag[:12]:
            answer.headers["cache-control"] = IMMUTABLE
        return answer

    return Route(f"{path}/{{name}}", get_asset)


def ours(error: Exception) -> CommonplaceError:
    """Return what a framework raises in our words."""
    match error:
        case HTTPException(status_code=404):
            return NotFound("There is nothing at this address.")
        case HTTPException(status_code=405):
            return MethodNotAllowed("This page is for reading.")
        case HTTPException():
            return BadRequest("The request cannot be read.")
    return cast(CommonplaceError, error)


def application(
    settings: SiteSettings, declared: Sequence[Pages], frame: Frame, environ: Mapping[str, str]
) -> Starlette:
    """`frame` is the one that the pages were built with; `environ` says who signs in, in a private deployment."""
    # The console takes parts of this module, and its store with the first request alone.
    from commonplace.kernel.limit_store import counters_of

    limiter = Limiter(counters_of(settings), time.time, secret=settings.counter_secret)
    reads, searches = settings.reads_per_minute, settings.searches_per_minute
    private = members(settings.site_tier, environ) if settings.site_tier != "public" else None
    fresh = settings.on_this_machine
    return create_app(declared, frame, limiter, reads=reads, searches=searches, private=private, fresh=fresh)


def members(tier: Tier, environ: Mapping[str, str]) -> Middleware:
    """Return what shows the pages to whoever has signed in. Raises SettingsError where nobody could."""
    # What knows people is loaded where somebody is kept out.
    from commonplace.identity.composition import visitors
    from commonplace.identity.settings import SessionSettings

    find = readers(visitors(SessionSettings.from_environ(environ)))
    return Middleware(Private, tier=tier, find=find, unguarded=UNGUARDED)


def readers(found: Visitors) -> Find:
    """Find readers by their sessions; send anybody else to sign in."""
    from commonplace.identity.sessions import COOKIE

    def find(request: Request) -> Principal | Response:
        visitor = found.find(cookie_of(request, COOKIE))
        if visitor is not None:
            return visitor.principal
        if request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
            raise Unauthorized("This is for people who have signed in.", hint=f"Sign in at {SIGN_IN}.")
        return to_sign_in(request)

    return find
