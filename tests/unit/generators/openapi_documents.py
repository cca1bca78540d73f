"""Small API documents, as tests write them."""

import json
from collections.abc import Mapping
from typing import Any

from commonplace.reference.model import Entry, Parameter
from commonplace_generators.generated import Generated
from commonplace_generators.plan import generate


def document(paths: Mapping[str, Any], *, version: str = "3.0.3", **more: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {"title": "Tides", "version": "1"}, "paths": paths, **more}


def made(given: Any, files: Mapping[str, Any] | None = None, **options: Any) -> Generated:
    """Of a document, or of the bytes of one, and of what is beside it by path."""
    held = {path: _bytes(one) for path, one in (files or {}).items()}
    return generate("openapi", _bytes(given), source="openapi.json", options=options, read=held.get)


def _bytes(given: Any) -> bytes:
    return given if isinstance(given, bytes) else json.dumps(given).encode()


def operation(body: Mapping[str, Any], *, method: str = "get", path: str = "/visits", **more: Any) -> dict[str, Any]:
    return document({path: {method: {"responses": {"200": {"description": "Fine"}}, **body}}}, **more)


def entry(given: Any, **options: Any) -> Entry:
    """The one entry of a document with one operation."""
    (found,) = made(given, **options).entries
    return found


def parameters(given: Any, **options: Any) -> dict[str, Parameter]:
    """Of the one operation of a document, by name."""
    return {one.name: one for one in entry(given, **options).parameters or ()}


def fields(schema: Any, *, media: str = "application/json", **more: Any) -> dict[str, Parameter]:
    """What a required body of that schema has for parameters."""
    body = {"required": True, "content": {media: {"schema": schema}}}
    return parameters(operation({"requestBody": body}, method="post", **more))


def lines(given: Any, **options: Any) -> list[str]:
    """The parameters of the one operation as an answer has them."""
    return [one.line for one in entry(given, **options).parameters or ()]


def told(given: Any, **options: Any) -> list[str]:
    """What could not be read of it."""
    return [f"{one.where}: {one.what}" for one in made(given, **options).unread]
