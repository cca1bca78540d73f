"""What the tools of the knowledge base work with."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from commonplace.documents.content.library import Library
from commonplace.documents.proposals.ports import Proposals
from commonplace.identity.principals import Tier
from commonplace.search.model import SearchRequest, SearchResults


class Searcher(Protocol):
    """The search capability. Both raise Unavailable when the index does not answer."""

    def search(self, request: SearchRequest) -> SearchResults: ...

    def check(self) -> None:
        """Does nothing if a search could be answered."""
        ...


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeServices:
    library: Library
    search: Searcher
    proposals: Proposals | None = None
    """Where drafts go; None where this deployment cannot write to GitHub."""
    site_name: str = "Commonplace"
    uri_host: str = "superbenefit"
    """The host part of resource addresses: `mcp://{uri_host}/…`."""
    full_text_tier: Tier = "member"
    """Who may read whole documents here. A courtesy: the REST API serves the same bodies to everybody."""
    names_authors: bool = False
    """Whether a pull request names the wallet or ENS name it comes from."""
    clock: Callable[[], datetime] = utc_now
