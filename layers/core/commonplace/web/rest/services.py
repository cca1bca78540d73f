"""What the endpoints work with, put together once per application."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, Protocol, cast

from starlette.requests import Request

from commonplace.documents.content.library import Library
from commonplace.search.model import SearchRequest, SearchResults
from commonplace.web.rest.pages import PageCache

if TYPE_CHECKING:
    from commonplace.web.challenges import Accounts
    from commonplace.web.rest.middleware import Limits


class Searcher(Protocol):
    """The search capability. Both raise Unavailable when the index does not answer."""

    def search(self, request: SearchRequest) -> SearchResults: ...

    def check(self) -> None:
        """Does nothing if a search could be answered."""
        ...


@dataclass(frozen=True, slots=True)
class Site:
    """How this deployment presents itself."""

    name: str = "Commonplace"
    base_url: str = ""
    """Public origin without trailing slash; empty makes addresses relative. Never a request's Host: caches would keep
    whatever somebody wrote there."""
    reads_per_minute: int = 600
    searches_per_minute: int = 60
    explain: Literal["operators", "anyone"] = "operators"
    """Who may ask why a search answers as it does."""
    operator_key_hash: str | None = None
    """Of the operators' key, as `commonplace.kernel.operator_key.key_hash` makes it; None means that nobody has one."""


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Services:
    library: Library
    search: Searcher
    site: Site
    limits: "Limits"
    clock: Callable[[], datetime] = utc_now
    pages: PageCache = field(default_factory=PageCache)
    accounts: "Accounts | None" = None
    """None where nobody can sign in."""


def services(request: Request) -> Services:
    return cast(Services, request.app.state.services)
