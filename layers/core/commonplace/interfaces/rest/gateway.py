"""Events of API Gateway, payload 2.0 and 1.0, to the application and back."""

import base64
import re
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from mangum import Mangum
from mangum.types import LambdaContext

TEXT_TYPES = [
    *("text/", "application/json", "application/feed+json", "application/schema+json"),
    *("application/javascript", "application/xml", "image/svg+xml"),
]
"""Bodies of these types travel as text, all others as base64."""

MAX_TEXT_BYTES = 2_900_000
"""Escaping can double a text inside the function's answer, which may have 6 MiB; base64 adds a third, always."""

_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?")


class Gateway:
    """A Lambda handler round the application. One event at a time, no lifespan."""

    def __init__(self, app: FastAPI) -> None:
        self._adapter = Mangum(app, lifespan="off", text_mime_types=TEXT_TYPES)

    def __call__(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        return _portable(self._adapter(_tame(event), context))


def _tame(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event without a Host header that is none: the adapter takes it apart without looking."""
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    if "host" not in headers or _HOST.fullmatch(headers["host"]):
        return dict(event) | {"headers": headers}
    headers["host"] = event.get("requestContext", {}).get("domainName") or "localhost"
    many = {name: values for name, values in (event.get("multiValueHeaders") or {}).items() if name.lower() != "host"}
    return dict(event) | {"headers": headers} | ({"multiValueHeaders": many} if many else {})


def _portable(answer: dict[str, Any]) -> dict[str, Any]:
    body = answer.get("body") or ""
    if answer.get("isBase64Encoded") or len(body) <= MAX_TEXT_BYTES // 4:
        return answer
    raw = body.encode()
    if len(raw) <= MAX_TEXT_BYTES:
        return answer
    return answer | {"body": base64.b64encode(raw).decode(), "isBase64Encoded": True}
