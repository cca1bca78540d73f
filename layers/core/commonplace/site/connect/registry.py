"""`server.json`: the entry of a deployment in the MCP registry (schema of 2025-12-11)."""

from typing import Any
from urllib.parse import urlsplit

from commonplace.site.connect.clients import Endpoint

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
DESCRIPTION = "An organisation's knowledge: search it, look up its terms, read and cite its documents."
"""At most 100 characters, as the schema says."""

MAX_TITLE_CHARACTERS = 100


def server_json(at: Endpoint, version: str) -> dict[str, Any]:
    """Return the entry of a deployment. Its namespace is its host name backwards, which DNS can prove."""
    parts = urlsplit(at.url)
    namespace = ".".join(reversed((parts.hostname or "localhost").split(".")))
    origin = f"{parts.scheme}://{parts.netloc}"
    return {
        "$schema": SCHEMA,
        "name": f"{namespace}/{at.name}",
        "title": at.title[:MAX_TITLE_CHARACTERS],
        "description": DESCRIPTION,
        "version": version,
        "websiteUrl": f"{origin}/connect",
        "icons": [{"src": f"{origin}/icon.png", "mimeType": "image/png", "sizes": ["128x128"]}],
        "remotes": [{"type": "streamable-http", "url": at.url}],
    }
