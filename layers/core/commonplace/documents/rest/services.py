"""The services that the endpoints of documents use."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from starlette.requests import Request

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.library import Library
from commonplace.documents.rendering.renderer import Renderer
from commonplace.search.model import SearchRequest, SearchResults
from commonplace.web.representations import PageCache
from commonplace.web.rest.declaration import Site
from commonplace.web.rest.services import part
from commonplace.web.rest.settings import Audience


class Searcher(Protocol):
    """The search capability. Both raise Unavailable when the index does not answer."""

    def search(self, request: SearchRequest) -> SearchResults: ...

    def check(self) -> None:
        """Does nothing if a search could be answered."""
        ...


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Explanations:
    """Permission to have a search explained."""

    audience: Audience = "operators"
    operator_key_hash: str | None = None
    """Of the operators' key, as `commonplace.kernel.operator_key.key_hash` makes it; None means that nobody has one."""


@dataclass(frozen=True, slots=True)
class Services:
    library: Library
    search: Searcher
    site: Site
    addresses: DocumentAddresses
    clock: Callable[[], datetime] = utc_now
    explanations: Explanations = Explanations()
    pages: PageCache = field(default_factory=PageCache)
    renderer: Renderer = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "renderer", Renderer(self.library, self.addresses))


def services(request: Request) -> Services:
    return part(request, Services)
