"""Published documents as HTML that can do nothing but be read."""

import json

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import DocumentRef, Entry
from commonplace.documents.content.library import Library
from commonplace.documents.rendering.model import Rendered
from commonplace.kernel.byte_cache import ByteCache

CACHE_BYTES = 24_000_000


class Renderer:
    """Renders documents of a library, and remembers what it has rendered as long as nothing newer is published.

    Links lead where the sync has found that they lead. Any thread may ask. The parser, the highlighter and the
    sanitiser are imported by the first document. Raises Unavailable when the store does not answer.
    """

    def __init__(self, library: Library, addresses: DocumentAddresses) -> None:
        self._library = library
        self._addresses = addresses
        self._known: ByteCache[tuple[str | None, DocumentRef], Rendered] = ByteCache(
            CACHE_BYTES, lambda rendered: len(rendered.html) + 1000
        )

    def render(self, entry: Entry, content: str) -> Rendered:
        """Return the body of a document, without its title: one `h1` is left to the page."""
        from commonplace.documents.rendering.references import Shelf
        from commonplace.documents.rendering.text import render

        edition = self._library.edition()
        key = (edition.etag, entry.ref)
        if (known := self._known.get(key)) is not None:
            return known
        shelf = Shelf(edition.catalogue, self._library.graph(), self._addresses, self._read)
        rendered = render(shelf, entry, content)
        self._known.put(key, rendered)
        return rendered

    def _read(self, entry: Entry) -> str | None:
        (stored,) = self._library.documents([entry])
        return str(json.loads(stored.body)["content"]) if stored else None
