"""What the pages of documents are made with, and the addresses of this site."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Attachment, Entry
from commonplace.documents.content.library import Edition, Library
from commonplace.documents.findings import Searcher
from commonplace.documents.rendering.renderer import Renderer
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.web.pages.frame import Frame
from commonplace.web.representations import API, Page, PageCache

HERE = DocumentAddresses()  # On this site, wherever else documents may be read

PER_PAGE = 50
MAX_PAGE = 20_000


def list_url(path: str, name: str) -> str:
    """Return the page of one type, group, release or tag."""
    return f"{path}/{quote(name, safe='')}"


class Urls:
    """Paths of this site, for templates."""

    def document(self, entry: Entry) -> str:
        return HERE.of(entry)

    def markdown(self, entry: Entry) -> str:
        return f"{API}/entries/{quote(entry.content_type, safe='')}/{quote(entry.id, safe='')}.md"

    def attachment(self, attachment: Attachment) -> str:
        return HERE.of_attachment(attachment)

    def type(self, name: str) -> str:
        return list_url("/types", name)

    def group(self, name: str) -> str:
        return list_url("/groups", name)

    def release(self, name: str) -> str:
        return list_url("/releases", name)

    def tag(self, name: str) -> str:
        return HERE.of_tag(name)

    def folder(self, path: str) -> str:
        return f"/types?{urlencode({'folder': path}, safe='/')}" if path else "/types"

    def search(self, **parameters: str | list[str]) -> str:
        told = {name: value for name, value in parameters.items() if value}
        return f"/search?{urlencode(told, doseq=True)}" if told else "/search"


@dataclass(frozen=True, slots=True)
class Services:
    library: Library
    search: Searcher
    renderer: Renderer
    frame: Frame
    addresses: DocumentAddresses  # Where citations lead
    logo: str | None = None  # Its path in the repository
    urls: Urls = field(default_factory=Urls)
    pages: PageCache = field(default_factory=PageCache)

    def answer(
        self, request: Request, template: str, key: tuple[str, ...], values: Callable[[Edition], Mapping[str, Any]]
    ) -> Response:
        """Return the page under this key, made once for each edition."""
        return self.kept(request, key, lambda edition: self.page(request, template, **values(edition)))

    def kept(self, request: Request, key: tuple[str, ...], build: Callable[[Edition], Page]) -> Response:
        edition = self.library.edition()
        return self.pages.page(edition.etag, key, lambda: build(edition)).answer(request)

    def page(self, request: Request, template: str, **values: Any) -> Page:
        return self.frame.page(request, template, url=self.urls, **values)


@dataclass(frozen=True, slots=True)
class Window:
    """One page of a list. `number` counts from 1."""

    number: int
    total: int
    per_page: int = PER_PAGE

    @property
    def start(self) -> int:
        return (self.number - 1) * self.per_page

    @property
    def end(self) -> int:
        return min(self.start + self.per_page, self.total)

    @property
    def last(self) -> int:
        return max(1, -(-self.total // self.per_page))

    def check(self) -> None:
        """Raises NotFound behind the last page."""
        if self.number > self.last:
            pages = "one page" if self.last == 1 else f"{self.last} pages"
            raise NotFound("There is no such page.", hint=f"This list has {pages}.")


def page_number(parameters: QueryParams) -> int:
    """Raises InvalidInput."""
    given = parameters.get("page", "1")
    if given.isascii() and given.isdigit() and len(given) <= 6 and 1 <= int(given) <= MAX_PAGE:
        return int(given)
    raise InvalidInput(f"page must be a number from 1 to {MAX_PAGE}.", hint="Leave it out for the first page.")
