"""The services that the tools of the knowledge base use, and the addresses of documents as resources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.library import Library
from commonplace.documents.findings import Searcher
from commonplace.identity.principals import Tier
from commonplace.kernel.errors import Unavailable
from commonplace.web.mcp.budgets import DOCUMENT_TOKENS
from commonplace.web.mcp.declaration import Link

if TYPE_CHECKING:
    from commonplace.documents.proposals.github import GitHubProposals

HERE = DocumentAddresses()

FIRST_HOST = "superbenefit"  # In the resource addresses of seed 000, which answer in every deployment


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeServices:
    library: Library
    search: Searcher
    addresses: DocumentAddresses = HERE  # Where people read what an answer cites
    proposals: GitHubProposals | None = None
    """Where drafts go; None where this deployment cannot write to GitHub."""
    laptop: bool = False
    """Whether they wait in a stand-in of GitHub, until `commonplace proposals apply` puts them into the folder."""
    site_name: str = "Commonplace"
    site_description: str = ""
    everything: bool = False
    """Whether this laptop shows files that say nothing about publishing."""
    uri_host: str = FIRST_HOST
    """The host part of resource addresses: `mcp://{uri_host}/…`. Those with `FIRST_HOST` answer beside them."""
    document_tokens: int = DOCUMENT_TOKENS
    """Of an answer that gives whole documents, where the caller names none."""
    full_text_tier: Tier = "member"
    """Who may read whole documents here. A courtesy: the REST API serves the same bodies to everybody."""
    names_authors: bool = False  # Whether a pull request names the wallet or ENS name it comes from
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def catalogue(self) -> Catalogue:
        """Return what is published. Raises Unavailable before the first sync: nothing can be said to be missing yet."""
        edition = self.library.edition()
        if edition.etag is None:
            hint = "Its first sync is under way, or has not begun; sync_status says more."
            raise Unavailable("The knowledge base is not loaded yet.", hint=hint)
        return edition.catalogue


def title(using: KnowledgeServices) -> str:
    """Return the name of the knowledge base in one line, fit to stand in quotes."""
    return " ".join(using.site_name.replace('"', "'").split())


def document_uri(using: KnowledgeServices, ref: DocumentRef) -> str:
    return f"mcp://{using.uri_host}/documents/{quote(ref)}"


def link(using: KnowledgeServices, ref: DocumentRef, title: str) -> Link:
    """Return the document as a resource."""
    return Link(uri=document_uri(using, ref), name=ref, title=title)
