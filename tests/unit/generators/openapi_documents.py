"""Small API documents, as tests write them."""

import json
from collections.abc import Mapping
from typing import Any

from commonplace.reference.model import Entry
from generators.generated import Generated
from generators.plan import generate


def document(paths: Mapping[str, Any], *, version: str = "3.0.3", **more: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {"title": "Tides", "version": "1"}, "paths": paths, **more}


def made(given: Any, **options: Any) -> Generated:
    """Of a document, or of the bytes of one."""
    raw = given if isinstance(given, bytes) else json.dumps(given).encode()
    return generate("openapi", raw, source="openapi.json", options=options)


def operation(body: Mapping[str, Any], *, method: str = "get", path: str = "/visits", **more: Any) -> dict[str, Any]:
    return document({path: {method: {"responses": {"200": {"description": "Fine"}}, **body}}}, **more)


def entry(given: Any, **options: Any) -> Entry:
    """The one entry of a document with one operation."""
    (found,) = made(given, **options).entries
    return found


def told(given: Any, **options: Any) -> list[str]:
    """What could not be read of it."""
    return [f"{one.where}: {one.what}" for one in made(given, **options).unread]
