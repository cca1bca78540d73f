"""The pages that the capability of documents declares."""

from __future__ import annotations

from pathlib import Path

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.composition import deferred_search
from commonplace.documents.content.document import SHOWS_EVERYTHING
from commonplace.documents.content.library import Library
from commonplace.documents.pages import diagrams, document, feeds, home, search
from commonplace.documents.pages.map import map_routes
from commonplace.documents.pages.services import HERE, Services
from commonplace.documents.rendering.renderer import Renderer
from commonplace.web.pages.declaration import Edition, Pages
from commonplace.web.pages.frame import PageContext

FOLDER = Path(__file__).parent


def pages(context: PageContext) -> Pages:
    """As a deployment shows them. What only a search needs is loaded at the first search."""
    settings, library = context.settings, Library(context.objects)

    addresses = DocumentAddresses(settings.document_url, context.frame.base_url)
    searcher, renderer = deferred_search(settings, context.objects, library), Renderer(library, HERE)
    return document_pages(Services(library, searcher, renderer, context.frame, addresses, settings.site_logo))


def document_pages(services: Services) -> Pages:
    def build() -> Edition | None:
        manifest = services.library.manifest()
        if not manifest.commit_sha:
            return None
        source = next((entry.source_url for entry in manifest.documents if entry.source_url), "")
        repository, blob, _ = source.partition("/blob/")
        url = f"{repository}/commit/{manifest.commit_sha}" if blob else None
        commit = "" if manifest.working_copy else manifest.commit_sha
        return Edition(commit, manifest.synced_at, url, SHOWS_EVERYTHING if manifest.everything else "")

    return Pages(
        routes=[
            *home.routes(services),
            *search.routes(services),
            *document.routes(services),
            *diagrams.routes(services.frame),
            *map_routes(services.frame, services.library),
            *feeds.routes(services),
            document.Moved(services),
        ],
        templates=FOLDER / "templates",
        filters={"label": home.label},
        assets=FOLDER / "assets",
        files={"mermaid.js": diagrams.MERMAID} if diagrams.MERMAID else {},
        searches=frozenset({"/search"}),
        nearest=lambda path: [*home.nearest(services, path), *document.nearest(services, path)],
        edition=build,
    )
