"""The application that shows pages: those of capabilities, their assets, and errors as pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from commonplace.kernel.errors import BadRequest, CommonplaceError, MethodNotAllowed, NotFound
from commonplace.kernel.limits import Limiter
from commonplace.web.compression import Compression
from commonplace.web.limits import Limits, Sizes
from commonplace.web.middleware import Errors, HeadAsGet, RateLimits, SecurityHeaders, exception_handlers
from commonplace.web.pages.declaration import Pages
from commonplace.web.pages.frame import ASSETS_PATH, Frame
from commonplace.web.private import Public
from commonplace.web.representations import NO_STORE

CACHEABLE = "public, max-age=60, stale-while-revalidate=600"
"""Of every page that says nothing else: shorter than data, for whoever saves a file looks at its page."""
IMMUTABLE = "public, max-age=31536000, immutable"


def create_app(
    declared: Sequence[Pages],
    frame: Frame,
    limiter: Limiter,
    *,
    reads: int,
    searches: int,
    private: Middleware | None = None,
) -> Starlette:
    """The application over these pages. Endpoints call services directly: one process, one request.

    `reads` and `searches` are calls a minute of one address; `private` is what lets on who may read.
    """
    frame.declared.extend(declared)

    def render(scope: Scope, error: Exception) -> Response:
        return frame.error(Request(scope), ours(error))

    limits = Limits(limiter, reads, searches, frozenset(path for each in declared for path in each.searches))
    app = Starlette(
        routes=[*(route for each in declared for route in each.routes), asset_route(frame, ASSETS_PATH)],
        middleware=[
            Middleware(HeadAsGet),
            *([] if private else [Middleware(Public), Middleware(Compression)]),
            Middleware(
                SecurityHeaders,
                headers={"x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin"},
                cached={"cache-control": CACHEABLE},
                uncached=NO_STORE,
            ),
            Middleware(RateLimits, count=limits.spend_address, render=render),
            Middleware(Errors, render=render, quoted=True),
            *([private] if private else []),
            Middleware(Sizes),
        ],
        exception_handlers=exception_handlers(render),
    )
    app.router.redirect_slashes = False
    return app


def asset_route(frame: Frame, path: str) -> Route:
    """Files of the folders of the frame and of those who use it, below this path."""

    async def get_asset(request: Request) -> Response:
        found = frame.asset(request.path_params["name"])
        if found is None:
            raise NotFound("There is no such file.")
        answer = found.answer(request)
        if request.query_params.get("v") == found.etag[:12]:
            answer.headers["cache-control"] = IMMUTABLE
        return answer

    return Route(f"{path}/{{name}}", get_asset)


def ours(error: Exception) -> CommonplaceError:
    """What a framework raises, in our words."""
    match error:
        case HTTPException(status_code=404):
            return NotFound("There is nothing at this address.")
        case HTTPException(status_code=405):
            return MethodNotAllowed("This page is for reading.")
        case HTTPException():
            return BadRequest("The request cannot be read.")
    return cast(CommonplaceError, error)
