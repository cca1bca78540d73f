"""Where documents are read."""

from urllib.parse import quote

from commonplace.documents.content.document import Entry
from commonplace.web.rest.pages import API


def entry_url(entry: Entry) -> str:
    return f"{API}/entries/{quote(entry.content_type)}/{quote(entry.id)}"
