"""Where people read documents: what answers, feeds and citations lead to."""

import re
from dataclasses import dataclass
from typing import overload
from urllib.parse import quote

from commonplace.documents.content.document import Summary

SITE_PAGE = "/d/{type}/{id}"
"""Of a document on this deployment's own site."""

_PLACEHOLDER = re.compile(r"\{(type|id)\}")


@dataclass(frozen=True, slots=True)
class DocumentAddresses:
    """Made when a request is answered, never stored: another template holds at once, for every document.

    `template` is the setting `documentUrl`. Without one documents are read on this deployment's own site, whose
    addresses are relative where `base_url` is empty.
    """

    template: str | None = None
    base_url: str = ""

    @overload
    def of(self, document: Summary, /) -> str: ...
    @overload
    def of(self, content_type: str, document_id: str, /) -> str: ...
    def of(self, document: Summary | str, document_id: str = "", /) -> str:
        if isinstance(document, Summary):
            return self.of(document.content_type, document.id)
        values = {"type": quote(document, safe=""), "id": quote(document_id, safe="")}
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self.template or self.base_url + SITE_PAGE)
