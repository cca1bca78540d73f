"""The REST application over parts of a test, as the function composes it from what capabilities declare."""

from collections.abc import Callable
from datetime import UTC, datetime

from fastapi import FastAPI
from starlette.middleware import Middleware

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.library import Library
from commonplace.documents.findings import Searcher
from commonplace.documents.rest.routes import document_routes
from commonplace.documents.rest.services import Explanations, Services
from commonplace.kernel.limits import Limiter
from commonplace.site.rest import page_routes
from commonplace.web.challenges import Accounts
from commonplace.web.pages.frame import Frame
from commonplace.web.rest.app import create_app
from commonplace.web.rest.declaration import Site

EXPLANATIONS = Explanations()


def rest_app(
    library: Library,
    search: Searcher,
    site: Site,
    limiter: Limiter,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    *,
    accounts: Accounts | None = None,
    private: Middleware | None = None,
    explanations: Explanations = EXPLANATIONS,
    document_url: str | None = None,
) -> FastAPI:
    addresses = DocumentAddresses(document_url, site.base_url)
    documents = document_routes(Services(library, search, site, addresses, clock, explanations))
    frame = Frame(site.name, base_url=site.base_url)
    return create_app([documents, page_routes(frame)], site, limiter, accounts=accounts, private=private)
