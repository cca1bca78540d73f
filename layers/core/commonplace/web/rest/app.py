"""The REST application: routers of capabilities under `/api/v1`, some at the root too, within shared middleware."""

from collections.abc import Sequence
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.middleware import Middleware

from commonplace import __version__
from commonplace.kernel.limits import Limiter
from commonplace.web.challenges import Accounts
from commonplace.web.middleware import exception_handlers
from commonplace.web.representations import API
from commonplace.web.rest import account, openapi
from commonplace.web.rest.declaration import Routes, Site
from commonplace.web.rest.documentation import build_openapi
from commonplace.web.rest.errors import render
from commonplace.web.rest.middleware import layers, limits_of
from commonplace.web.rest.parameters import known_parameters
from commonplace.web.rest.services import Services


class RestApp(FastAPI):
    """FastAPI whose OpenAPI document is built on first use."""

    site: Site
    declared: Sequence[Routes]

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = build_openapi(self, self.site, self.declared)
        return self.openapi_schema


def create_app(
    declared: Sequence[Routes],
    site: Site,
    limiter: Limiter,
    *,
    accounts: Accounts | None = None,
    private: Middleware | None = None,
) -> FastAPI:
    """The application over these parts. Endpoints call them directly, without threads: one process, one request.

    `private` is what lets on who may read.
    """
    limits = limits_of(limiter, site.reads_per_minute, site.searches_per_minute, declared)
    app = RestApp(
        dependencies=[Depends(known_parameters)],
        title=f"{site.name} API",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        middleware=layers(limits, private),
        exception_handlers=exception_handlers(render, RequestValidationError),
    )
    app.site, app.declared = site, declared
    app.state.services = Services(site, limits, {type(each.services): each.services for each in declared}, accounts)
    at_root_too = [*(router for each in declared for router in each.root_routers), openapi.router]
    for router in (*(router for each in declared for router in each.routers), account.router, *at_root_too):
        app.include_router(router, prefix=API)
    for router in at_root_too:
        app.include_router(router, include_in_schema=False)
    return app
