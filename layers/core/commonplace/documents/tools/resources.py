"""Resources: a guide to search, the vocabulary, every document as text and as a file, and their snapshot."""

import json
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, overload

from commonplace.documents import views
from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content import facets
from commonplace.documents.content.document import Attachment, DocumentRef, Entry
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.facets import Facet
from commonplace.documents.content.library import Edition
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.tools import completions
from commonplace.documents.tools.completions import completer
from commonplace.documents.tools.documents import page
from commonplace.documents.tools.pagination import body_of
from commonplace.documents.tools.services import FIRST_HOST, KnowledgeServices, document_uri
from commonplace.kernel.errors import NotFound, TooLarge
from commonplace.repository import markdown
from commonplace.repository.comments import visible
from commonplace.web.mcp.declaration import Call, Listed, Resource, Snapshot, Template, Text
from commonplace.web.mcp.offer import match, pattern_of

KNOWLEDGE_SEARCH = Path(__file__).with_name("knowledge_search.txt").read_text("utf-8")

JSON = "application/json"
PLAIN = "text/plain"
MARKDOWN = "text/markdown"

MOST_LISTED = 1_000  # Groups or releases in one resource, as in one answer of the REST API

MAX_FILE_BYTES = 4_000_000
"""The largest file in an answer: it travels as base64, and a Lambda function answers at most 6 MB."""

TEXTUAL = ("text/", "application/json", "application/xml", "image/svg+xml")


def snapshot(using: KnowledgeServices, fresh: bool) -> Snapshot:
    """Return what is published. Raises Unavailable."""
    return _Published(
        using.library.edition(fresh=fresh),
        [pattern_of(f"mcp://{host}/documents/{{contentType}}/{{id}}") for host in _hosts(using)],
        [pattern_of(f"mcp://{host}/raw/{{+path}}") for host in _hosts(using)],
    )


@dataclass(frozen=True, slots=True)
class _Published:
    """A document is found by its address, also by one it had earlier, and by that of its file."""

    edition: Edition
    documents: Sequence[re.Pattern[str]]
    files: Sequence[re.Pattern[str]]

    def find(self, uri: str) -> str | None:
        catalogue = self.edition.catalogue
        if (named := _first(self.documents, uri)) is not None:
            resolved = catalogue.resolve(named["contentType"], named["id"])
            return resolved.entry.ref if resolved else None
        if (named := _first(self.files, uri)) is not None:
            entry = catalogue.manifest.by_path.get(named["path"])
            return entry.ref if entry else None
        return None

    def version(self, name: str) -> int | None:
        entry = self.edition.manifest.by_ref.get(DocumentRef(name))
        return entry.generation if entry else None

    def names(self) -> Set[str]:
        return self.edition.manifest.by_ref.keys()


def _first(patterns: Sequence[re.Pattern[str]], uri: str) -> Mapping[str, str] | None:
    return next((named for pattern in patterns if (named := match(pattern, uri)) is not None), None)


def resources(using: KnowledgeServices) -> tuple[Resource, ...]:
    counted = {
        "groups": partial(_counted, using, "groups", facets.groups, views.group),
        "releases": partial(_counted, using, "releases", facets.releases, views.release),
    }
    guide = "For a system prompt: when to search, how to cite, what not to invent."
    ontology = "Content types with their parents, fields and folders."
    rows: list[tuple[str, str, str, str, Callable[[Call], str]]] = [
        ("prompts/knowledge-search", "How to search this knowledge base", guide, PLAIN, lambda _: KNOWLEDGE_SEARCH),
        ("data/ontology", "Ontology", ontology, JSON, lambda _: _json(ONTOLOGY.describe())),
    ]
    for name, read in counted.items():
        about = f"{name.capitalize()}, with their pages and how many documents each has."
        rows.append((f"data/{name}", name.capitalize(), about, JSON, read))
    return tuple(
        Resource(
            uri=f"mcp://{host}/{name}",
            name=name,
            title=title,
            description=description,
            mime_type=mime_type,
            read=read,
            listed=host == using.uri_host,
        )
        for host in _hosts(using)
        for name, title, description, mime_type, read in rows
    )


def _hosts(using: KnowledgeServices) -> tuple[str, ...]:
    """That of the addresses that are given out, and the first one."""
    return tuple(dict.fromkeys((using.uri_host, FIRST_HOST)))


def templates(using: KnowledgeServices) -> tuple[Template, ...]:
    return tuple(one for host in _hosts(using) for one in _templates(using, host))


def _templates(using: KnowledgeServices, host: str) -> tuple[Template, ...]:
    base, listed = f"mcp://{host}", host == using.uri_host
    return (
        Template(
            uri_template=f"{base}/documents/{{contentType}}/{{id}}",
            name="document",
            title="Document",
            description="A document's text after a short frontmatter that says what it is and where it comes from.",
            mime_type=MARKDOWN,
            read=partial(_document, using),
            tier=using.full_text_tier,
            page=lambda given: page(using, given["contentType"], given["id"]),
            listed=listed,
            complete={
                "contentType": completer(using, completions.content_types),
                "id": completer(using, completions.ids),
            },
        ),
        Template(
            uri_template=f"{base}/raw/{{+path}}",
            name="file",
            title="File",
            description="The file of a published document, without its comments, or an attachment, byte for byte.",
            mime_type=None,
            read=partial(_file, using),
            tier=using.full_text_tier,
            page=lambda given: (
                using.addresses.of_attachment(found)
                if (found := _attachment(using.catalogue(), given["path"]))
                else page(using, None, given["path"])
            ),
            listed=listed,
            complete={"path": completer(using, completions.paths)},
        ),
    )


def documents(using: KnowledgeServices) -> Sequence[Listed]:
    """Return every document, by title."""
    return _DocumentRows(using, using.library.edition().catalogue.entries)


class _DocumentRows(Sequence[Listed]):
    """Rows made lazily: a page needs a few of many."""

    def __init__(self, using: KnowledgeServices, entries: Sequence[Entry]) -> None:
        self._using = using
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, at: int) -> Listed: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Listed]: ...
    def __getitem__(self, at: int | slice) -> Listed | Sequence[Listed]:
        if isinstance(at, slice):
            return _DocumentRows(self._using, self._entries[at])
        entry = self._entries[at]
        return Listed(
            uri=document_uri(self._using, entry.ref),
            name=entry.ref,
            title=entry.title,
            description=entry.description,
            mime_type=MARKDOWN,
            updated_at=views.moment(entry.updated_at),
        )


def _counted(
    using: KnowledgeServices,
    name: str,
    count: Callable[[Catalogue], Sequence[Facet]],
    show: Callable[[Facet, DocumentAddresses], Mapping[str, Any]],
    _: Call,
) -> str:
    found = count(using.catalogue())
    return _json({name: [show(facet, using.addresses) for facet in found[:MOST_LISTED]], "total": len(found)})


def _document(using: KnowledgeServices, _: Call, given: Mapping[str, str]) -> tuple[Text, str]:
    content_type, document_id = given["contentType"], given["id"]

    def choose(catalogue: Catalogue) -> Entry | None:
        resolved = catalogue.resolve(content_type, document_id)
        return resolved.entry if resolved else None

    if (found := using.library.find(choose)) is None:
        nearest = using.catalogue().nearest(content_type, document_id)
        near = ", ".join(document_uri(using, ref) for ref in nearest)
        raise NotFound("There is no such document.", hint=f"Nearest: {near}." if near else None, nearest=nearest)
    entry, stored = found
    return views.markdown(entry, using.addresses.of(entry), body_of(stored)).decode(), MARKDOWN


def _file(using: KnowledgeServices, _: Call, given: Mapping[str, str]) -> tuple[Text, str]:
    """Return a file that the manifest names: no key is made of what was sent unless a file has that very path."""
    path, catalogue = given["path"], using.catalogue()
    if (entry := catalogue.manifest.by_path.get(path)) is not None:
        raw = using.library.raw(entry).body
        parsed = markdown.parse(raw)
        body = parsed.body if isinstance(parsed, markdown.ParsedFile) else ""
        return _contents(raw[: len(raw) - len(body.encode())] + visible(body).encode(), MARKDOWN)
    if (attachment := _attachment(catalogue, path)) is None:
        raise NotFound("There is no published file at this path.", hint="Paths are those of the repository.")
    if attachment.size > MAX_FILE_BYTES:
        hint = f"Get it at {DocumentAddresses().of_attachment(attachment)}."
        raise TooLarge(f"The file has {attachment.size} bytes, more than an answer can contain.", hint=hint)
    return _contents(using.library.attachment(attachment).body, attachment.media_type)


def _attachment(catalogue: Catalogue, path: str) -> Attachment | None:
    return next((one for one in catalogue.manifest.attachments if one.path == path), None)


def _contents(body: bytes, media_type: str) -> tuple[Text, str]:
    """Text where it is text, else bytes."""
    if not media_type.startswith(TEXTUAL):
        return body, media_type
    try:
        return body.decode(), media_type
    except UnicodeDecodeError:
        return body, media_type


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
