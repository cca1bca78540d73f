"""Deliveries as GitHub sends them and API Gateway hands them on."""

import base64
import hashlib
import hmac
import json
from typing import Any

SECRET = "a secret of the webhook"
REPOSITORY = "octo/notes"
BRANCH = "main"
SHA = "5f" * 20

Event = dict[str, Any]


def push(**changes: Any) -> dict[str, Any]:
    payload = {
        "ref": f"refs/heads/{BRANCH}",
        "before": "3a" * 20,
        "after": SHA,
        "created": False,
        "deleted": False,
        "forced": False,
        "repository": {"id": 1, "full_name": REPOSITORY, "default_branch": BRANCH},
        "commits": [{"id": SHA, "added": ["a.md"], "removed": [], "modified": []}],
    }
    return payload | changes


def sign(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def delivery(
    payload: Any, *, event: str | None = "push", guid: str | None = "guid-1", signature: str | None = None
) -> Event:
    """Payload 2.0. A payload of bytes is sent as it is."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    headers = {"content-type": "application/json", "x-hub-signature-256": signature or sign(body)}
    if event is not None:
        headers["x-github-event"] = event
    if guid is not None:
        headers["x-github-delivery"] = guid
    return {
        "version": "2.0",
        "routeKey": "POST /webhooks/github",
        "rawPath": "/webhooks/github",
        "headers": headers,
        "requestContext": {"http": {"method": "POST", "path": "/webhooks/github", "sourceIp": "192.0.2.1"}},
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }
