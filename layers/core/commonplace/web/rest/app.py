"""The REST application: every router under `/api/v1`, some at the root too, one surface round all of it."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.responses import RedirectResponse

from commonplace.documents.content.library import Library
from commonplace.documents.rest import attachments, documents, facets, feed, llms, ontology, search, status
from commonplace.kernel.limits import Limiter
from commonplace.site.connect import routes
from commonplace.web.challenges import Accounts
from commonplace.web.middleware import exception_handlers
from commonplace.web.rest import account, openapi
from commonplace.web.rest.documentation import API_VERSION, build_openapi
from commonplace.web.rest.errors import render
from commonplace.web.rest.middleware import Limits, layers
from commonplace.web.rest.pages import API
from commonplace.web.rest.services import Searcher, Services, Site, utc_now

ROUTERS: tuple[APIRouter, ...] = (
    documents.router,
    search.router,
    facets.router,
    attachments.router,
    ontology.router,
    status.router,
    account.router,
)
ROUTERS_AT_ROOT_TOO: tuple[APIRouter, ...] = (feed.router, llms.router, openapi.router, status.health_router)


class RestApp(FastAPI):
    """FastAPI whose OpenAPI document is built when it is first asked for."""

    site: Site

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = build_openapi(self, self.site)
        return self.openapi_schema


def create_app(
    library: Library,
    search: Searcher,
    settings: Site,
    limiter: Limiter,
    clock: Callable[[], datetime] = utc_now,
    *,
    accounts: Accounts | None = None,
) -> FastAPI:
    """The application over these parts. Endpoints call them directly, without threads: one process, one request."""
    limits = Limits(limiter, settings.reads_per_minute, settings.searches_per_minute)
    app = RestApp(
        title=f"{settings.name} API",
        version=API_VERSION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        middleware=layers(limits),
        exception_handlers=exception_handlers(render, RequestValidationError),
    )
    app.site = settings
    app.state.services = Services(library, search, settings, limits, clock, accounts=accounts)
    for router in (*ROUTERS, *ROUTERS_AT_ROOT_TOO):
        app.include_router(router, prefix=API)
    for router in (*ROUTERS_AT_ROOT_TOO, routes.router):
        app.include_router(router, include_in_schema=False)
    app.add_api_route("/", _to_docs, include_in_schema=False)
    return app


async def _to_docs() -> RedirectResponse:
    return RedirectResponse("/docs", 307)
