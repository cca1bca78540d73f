"""Where a document can be read: for people to follow, for clients to open."""

from urllib.parse import quote

from commonplace.documents.content.document import DocumentRef
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.web.mcp.declaration import Call, Link


def citation(call: Call, ref: DocumentRef, source_url: str | None) -> str:
    """The file at the commit it was read from; without one, its text at this deployment."""
    return source_url or f"{call.base_url}/api/v1/entries/{quote(ref)}.md"


def document_uri(using: KnowledgeServices, ref: DocumentRef) -> str:
    return f"mcp://{using.uri_host}/documents/{quote(ref)}"


def link(using: KnowledgeServices, ref: DocumentRef, title: str) -> Link:
    """The document as a resource."""
    return Link(uri=document_uri(using, ref), name=ref, title=title)
