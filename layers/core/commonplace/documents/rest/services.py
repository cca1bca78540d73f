"""The services that the endpoints of documents use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b

from starlette.requests import Request

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Summary
from commonplace.documents.content.library import Library
from commonplace.documents.findings import Searcher
from commonplace.documents.rendering.renderer import Renderer
from commonplace.web.representations import PageCache
from commonplace.web.rest.declaration import Site, part
from commonplace.web.settings import Audience


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
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    explanations: Explanations = Explanations()
    pages: PageCache = field(default_factory=PageCache)
    renderer: Renderer = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "renderer", Renderer(self.library, self.addresses))


def computed(using: Services, document: Summary) -> dict[str, str | None]:
    """Return what an answer says of a document that is not stored, by field: addresses of this deployment."""
    banner = using.library.edition().catalogue.banner(document)
    web = document.banner if document.banner and document.banner.startswith(("https://", "http://")) else None
    return {
        "document_url": using.addresses.of(document),
        "banner_url": using.addresses.of_attachment(banner) if banner else web,
    }


def etag(stored: str, told: Mapping[str, str | None]) -> str:
    """Of an answer that consists of what is stored, whose entity tag is given, and of what is computed."""
    return f"{stored}-{blake2b(repr(told).encode(), digest_size=4).hexdigest()}"


def services(request: Request) -> Services:
    return part(request, Services)
