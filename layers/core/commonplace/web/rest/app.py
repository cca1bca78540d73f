"""The REST application: routers of capabilities under `/api/v1`, some at the root too, within shared middleware.

It is built from settings; what verifies tokens is loaded with the first.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from commonplace import __version__
from commonplace.identity.composition import token_principals, visitors
from commonplace.identity.principals import APART
from commonplace.identity.resources import Resources
from commonplace.identity.settings import SessionSettings
from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limit_store import counters_of
from commonplace.kernel.limits import Limiter
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.envelopes import METHODS, allowed
from commonplace.web.middleware import exception_handlers
from commonplace.web.representations import API, Page, encode
from commonplace.web.rest import account
from commonplace.web.rest.declaration import Routes, Services, Site
from commonplace.web.rest.documentation import answers, build_openapi, with_examples
from commonplace.web.rest.errors import render
from commonplace.web.rest.parameters import known_parameters
from commonplace.web.settings import RestSettings
from commonplace.web.stack import REVALIDATED, Limits, Private, stack

CACHEABLE = "public, max-age=300, stale-while-revalidate=3600"
"""Where an answer says nothing else (seed 000, section 8.1)."""

EXPOSED = (
    *("ETag", "Link", "Content-Location", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"),
    *("RateLimit-Policy", "WWW-Authenticate"),
)

router = APIRouter(tags=["For machines"])


class RestApp(FastAPI):
    """FastAPI whose OpenAPI document is built on first use."""

    site: Site
    declared: Sequence[Routes]

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = build_openapi(self, self.site, self.declared)
        return self.openapi_schema


@router.get(
    "/openapi.json",
    operation_id="getOpenApi",
    summary="Get this description",
    response_class=Response,
    responses=answers(
        {"openapi": "3.1.0", "info": {"title": "Commonplace API", "version": __version__}, "paths": {}},
        description="OpenAPI 3.1.",
        schema={"type": "object", "required": ["openapi", "info", "paths"]},
    ),
)
async def get_openapi(request: Request) -> Response:
    """This document, for client generators and API browsers. Its examples of parameters are names of what there is."""
    return described(request.app)[1].answer(request)


def described(app: RestApp) -> tuple[dict[str, Any], Page]:
    """Return the OpenAPI document with examples of what is published, and encoded; made anew when that changes."""
    try:
        published = {name: value for each in app.declared if each.examples for name, value in each.examples().items()}
    except Unavailable:
        published = {}  # the description has examples of its own
    if not hasattr(app.state, "openapi") or app.state.openapi[0] != published:
        document = with_examples(app.openapi(), published)
        app.state.openapi = published, (document, Page.of(encode(document)))
    found: tuple[dict[str, Any], Page] = app.state.openapi[1]
    return found


def create_app(
    declared: Sequence[Routes],
    site: Site,
    limiter: Limiter,
    *,
    accounts: Accounts | None = None,
    private: Middleware | None = None,
) -> FastAPI:
    """Return the application. Endpoints call services directly, without threads: one process, one request.

    `private` is what lets on who may read.
    """
    unlimited = [path for each in declared for path in each.unlimited]
    limits = Limits(
        limiter,
        site.reads_per_minute,
        site.searches_per_minute,
        frozenset(f"{API}{path}" for each in declared for path in each.searches),
        frozenset([*unlimited, *(f"{API}{path}" for path in unlimited)]),
    )
    app = RestApp(
        dependencies=[Depends(known_parameters)],
        title=f"{site.name} API",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        middleware=stack(
            limits,
            render,
            headers={"x-content-type-options": "nosniff", "cross-origin-resource-policy": "cross-origin"},
            cached=REVALIDATED if site.fresh else {"cache-control": CACHEABLE},
            cors={
                "allow_origins": "*",
                "allow_methods": METHODS,
                "allow_headers": ["*", "Authorization"],
                "expose_headers": EXPOSED,
                "max_age": 86_400,
                "allowed": allowed,
            },
            quoted=False,
            open_to_all=private is None,
            private=private,
        ),
        exception_handlers=exception_handlers(render, RequestValidationError),
    )
    app.site, app.declared = site, declared
    app.state.services = Services(site, limits, {type(each.services): each.services for each in declared}, accounts)
    at_root_too = [*(one for each in declared for one in each.root_routers), router]
    for one in (*(one for each in declared for one in each.routers), account.router, *at_root_too):
        app.include_router(one, prefix=API)
    for one in at_root_too:
        app.include_router(one, include_in_schema=False)
    app.router.routes.extend(page for each in declared for page in each.pages)
    return app


def site(settings: RestSettings) -> Site:
    return Site(
        name=settings.site_name,
        base_url=settings.base_url or "",
        reads_per_minute=settings.reads_per_minute,
        searches_per_minute=settings.searches_per_minute,
        fresh=settings.on_this_machine,
    )


def application(
    settings: RestSettings, identity: SessionSettings | None, routes: Sequence[Routes], served: tuple[str, ...]
) -> FastAPI:
    """`served` are the names of all toolsets that scopes are granted for; without `identity` nobody signs in."""
    accounts: Accounts | None = None
    private: Middleware | None = None
    if identity is not None:
        resources = Resources(identity.issuer, tuple(one for one in served if one not in APART), served)
        principals = token_principals(identity, settings.activity_table, names=True)
        accounts = Accounts(principals, Challenges(resources), resources.api)
    if settings.site_tier != "public":
        if identity is None or accounts is None:
            message = "SITE_TIER is set. It must be public where IDENTITY_TABLE is not set: nobody can sign in."
            raise SettingsError(message)
        find, unguarded = account.readers(accounts, visitors(identity)), account.UNGUARDED
        tier, monitored = settings.site_tier, account.MONITORED
        private = Middleware(Private, tier=tier, find=find, unguarded=unguarded, monitored=monitored)
    limiter = Limiter(counters_of(settings), time.time, secret=settings.counter_secret)
    return create_app(routes, site(settings), limiter, accounts=accounts, private=private)
