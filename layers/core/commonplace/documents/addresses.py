"""Where people read documents: what answers, feeds and citations lead to."""

import re
from dataclasses import dataclass
from typing import Protocol, overload
from urllib.parse import quote, unquote

SITE_PAGE = "/d/{type}/{id}"  # Of a document on this deployment's own site

ATTACHMENTS = "/api/v1/attachments/"

_PLACEHOLDER = re.compile(r"\{(type|id)\}")


class Named(Protocol):
    @property
    def content_type(self) -> str: ...

    @property
    def id(self) -> str: ...


class Stored(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def blob_sha(self) -> str: ...


@dataclass(frozen=True, slots=True)
class DocumentAddresses:
    """Made when a request is answered, never stored: another template holds at once, for every document.

    `template` is the setting `documentUrl`. Without one documents are read on this deployment's own site, whose
    addresses are relative where `base_url` is empty.
    """

    template: str | None = None
    base_url: str = ""

    @overload
    def of(self, document: Named, /) -> str: ...
    @overload
    def of(self, content_type: str, document_id: str, /) -> str: ...
    def of(self, document: Named | str, document_id: str = "", /) -> str:
        if not isinstance(document, str):
            return self.of(document.content_type, document.id)
        values = {"type": quote(document, safe=""), "id": quote(document_id, safe="")}
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self._pattern)

    def named(self, address: str) -> tuple[str, str] | None:
        """Type and id of the document that is read at this address, or at a heading of it."""
        known: set[str] = set()
        expected = ""
        for at, part in enumerate(_PLACEHOLDER.split(self._pattern)):
            if at % 2:
                expected += f"(?P={part})" if part in known else f"(?P<{part}>[^/?#&]+)"
                known.add(part)
            else:
                expected += re.escape(part)
        found = re.fullmatch(rf"{expected}(#.*)?", address)
        return (unquote(found["type"]), unquote(found["id"])) if found else None

    @property
    def _pattern(self) -> str:
        return self.template or self.base_url + SITE_PAGE

    def of_tag(self, name: str, /) -> str:
        """Return the list of the documents with a tag, on this deployment's own site."""
        return f"{self.base_url}/t/{quote(name, safe='')}"

    def of_attachment(self, attachment: Stored, /) -> str:
        """On this deployment; it names the very version, which may be kept for ever."""
        return f"{self.base_url}{ATTACHMENTS}{quote(attachment.name, errors='replace')}?v={attachment.blob_sha}"
