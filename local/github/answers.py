"""Answers in GitHub's shapes: media types, errors, entity tags."""

import hashlib
import json
from typing import Any

from werkzeug.wrappers import Request, Response

DOCUMENTATION = "https://docs.github.com/rest"


class Refused(Exception):
    """The request is answered with an error."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"message": message, **more, "documentation_url": DOCUMENTATION, "status": str(status)}

    def response(self) -> Response:
        return json_response(self.body, self.status)


def not_found() -> Refused:
    """What GitHub says of anything absent, and of anything the caller may not see."""
    return Refused(404, "Not Found")


def json_body(request: Request) -> dict[str, Any]:
    """What was sent. Raises Refused 400 unless it is a JSON object."""
    body = request.get_json(force=True, silent=True)
    if not isinstance(body, dict):
        raise Refused(400, "Problems parsing JSON")
    return body


def json_response(body: Any, status: int = 200, *, tag: str | None = None) -> Response:
    """A JSON answer; `tag` is what its entity tag is made from, by default the body."""
    raw = json.dumps(body, separators=(",", ":")).encode()
    response = Response(raw, status, content_type="application/json; charset=utf-8")
    if status == 200:
        response.set_etag(hashlib.sha256(tag.encode() if tag else raw).hexdigest(), weak=True)
    return response


def raw_response(body: bytes, media_type: str, *, tag: str) -> Response:
    response = Response(body, content_type=f"{media_type}; charset=utf-8")
    response.set_etag(hashlib.sha256(f"{media_type} {tag}".encode()).hexdigest())
    return response


def wants(request: Request, kind: str) -> bool:
    """Whether `Accept` asks for a media type of GitHub's own, with or without `+json` and the `v3` of old clients."""
    accept = request.headers.get("Accept", "").replace("application/vnd.github.v3.", "application/vnd.github.")
    return any(
        part.split(";")[0].strip().removesuffix("+json") == f"application/vnd.github.{kind}"
        for part in accept.split(",")
    )
