"""The routes that the capability of documents declares."""

from __future__ import annotations

from collections.abc import Mapping

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.composition import deferred_search
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.library import Library
from commonplace.documents.rest import connections, documents, machines, ontology, search, status
from commonplace.documents.rest.services import Explanations, Services
from commonplace.web.rest.declaration import RestContext, Routes

TAGS = (
    {"name": "Documents", "description": "Lists of documents, and documents by type and id or by source path."},
    {"name": "Search", "description": "By words and by meaning."},
    {"name": "Connections", "description": "Links between documents, groups, releases, tags, attachments."},
    {"name": "Vocabulary", "description": "Types and fields of documents, as data."},
)

DESCRIPTION = """\
The published knowledge of one organisation, for web sites, feeds, static builds and AI agents to read.

Everything here comes from Markdown files in a Git repository whose authors have marked them as published. A push to
the repository shows here within seconds. No document can be written here, and nobody has to sign in to read one.

* **A document** has a type and an id: `/entries/{contentType}/{id}`. Both last: a document that is moved or renamed
  keeps answering to the name it had; the answer's `Content-Location` says the present one.
* **People read it at `documentUrl`**: link and cite that. `url` is what the document is about, `sourceUrl` its file on
  GitHub at the commit it was read at.
* **Bodies are Markdown as authored**, down to the line endings: GitHub's dialect, callouts, raw HTML. They are not
  sanitised. Whoever renders them must do so.
"""


def document_routes(services: Services) -> Routes:
    return Routes(
        services=services,
        routers=(documents.router, search.router, connections.router, ontology.router, status.router),
        root_routers=(status.health_router, machines.router),
        tags=TAGS,
        description=DESCRIPTION,
        searches=frozenset({"/search"}),
        # Monitors must learn the truth, not their own quota.
        unlimited=frozenset({"/health"}),
        examples=lambda: services.library.edition().catalogue.once(parameter_examples),
    )


def parameter_examples(catalogue: Catalogue) -> Mapping[str, str]:
    """Return values of parameters that lead to something: of the document that has the most, and of one attachment."""
    found: dict[str, str | None] = {}
    if documents := catalogue.entries:
        entry = max(documents, key=lambda one: (bool(one.tags), bool(one.group), bool(one.release), bool(one.status)))
        tag = next(iter(entry.tags), None)
        folder, _, _ = entry.path.rpartition("/")
        found |= {"contentType": entry.content_type, "id": entry.id, "path": entry.path, "q": entry.title}
        found |= {"around": entry.ref, "expect": entry.ref, "pathPrefix": f"{folder}/" if folder else None}
        found |= {"group": entry.group, "release": entry.release, "status": entry.status, "tags": tag, "tagsAny": tag}
        found |= {"author": next(iter(entry.author), None), "alias": next(iter(entry.aliases), None)}
    if attachments := catalogue.manifest.attachments:
        found["name"] = min(one.name for one in attachments)
    return {name: value for name, value in found.items() if value}


def routes(context: RestContext) -> Routes:
    """As a deployment answers. What only a search needs (index, vectors, models) is loaded at the first search."""
    settings, library = context.settings, Library(context.objects)
    explanations = Explanations(settings.explain, settings.operator_key_hash)
    addresses = DocumentAddresses(settings.document_url, context.site.base_url)
    search = deferred_search(settings, context.objects, library)
    return document_routes(Services(library, search, context.site, addresses, explanations=explanations))
