"""The documents as of one edition of the library, for subscriptions to compare."""

import re
from collections.abc import Set
from dataclasses import dataclass

from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.library import Edition
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.web.mcp.declaration import Snapshot
from commonplace.web.mcp.uri_templates import match, pattern_of


def snapshot(using: KnowledgeServices, fresh: bool) -> Snapshot:
    """What is published. Raises Unavailable."""
    root = f"mcp://{using.uri_host}"
    return _Published(
        using.library.edition(fresh=fresh),
        pattern_of(f"{root}/documents/{{contentType}}/{{id}}"),
        pattern_of(f"{root}/raw/{{+path}}"),
    )


@dataclass(frozen=True, slots=True)
class _Published:
    """A document is found by its address, also by one it had earlier, and by that of its file."""

    edition: Edition
    documents: re.Pattern[str]
    files: re.Pattern[str]

    def find(self, uri: str) -> str | None:
        catalogue = self.edition.catalogue
        if (named := match(self.documents, uri)) is not None:
            resolved = catalogue.resolve(named["contentType"], named["id"])
            return resolved.entry.ref if resolved else None
        if (named := match(self.files, uri)) is not None:
            entry = catalogue.manifest.by_path.get(named["path"])
            return entry.ref if entry else None
        return None

    def version(self, name: str) -> int | None:
        entry = self.edition.manifest.by_ref.get(DocumentRef(name))
        return entry.generation if entry else None

    def names(self) -> Set[str]:
        return self.edition.manifest.by_ref.keys()
