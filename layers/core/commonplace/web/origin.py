"""Behind a front door a function answers only what came through it: requests carry a value that only the door knows.

The door (infra/edge.py) writes two headers over whatever a caller has put there: the value, and the caller's address,
which the gateway would otherwise tell as one of the door's own. Both end here; nothing further in sees them.
Standard library only: the webhook function carries no third-party package.
"""

import ipaddress
import json
from collections.abc import Callable, Mapping
from typing import Any

from commonplace.kernel.errors import CommonplaceError, Forbidden

ORIGIN_HEADER = "x-commonplace-origin"
VIEWER_HEADER = "x-commonplace-viewer"

Knows = Callable[[str], bool]
"""Whether this is a value of the door's. Raises Unavailable when nobody can tell."""


def entered(event: Mapping[str, Any], knows: Knows | None) -> Mapping[str, Any]:
    """The event as its caller sent it. Without a door (`knows` is None) every event passes as it is.

    Raises Forbidden for an event that went round the door, and what `knows` raises.
    """
    if knows is None:
        return event
    headers = {name.lower(): str(value) for name, value in (event.get("headers") or {}).items()}
    presented = headers.pop(ORIGIN_HEADER, "")
    if not presented or not knows(presented):
        raise Forbidden(
            "This address answers only what comes through the public one.",
            hint="Use the public address of this deployment; its operators know it.",
        )
    caller = _address(headers.pop(VIEWER_HEADER, ""))
    passed = dict(event) | {"headers": headers}
    if many := event.get("multiValueHeaders"):
        passed["multiValueHeaders"] = {name: values for name, values in many.items() if name.lower() in headers}
    return passed | {"requestContext": _told(event.get("requestContext") or {}, caller)} if caller else passed


def refused(error: CommonplaceError) -> dict[str, Any]:
    """The gateway's answer for an event that did not come in."""
    headers = {"content-type": "application/json", "cache-control": "no-store"}
    if retry := error.details.get("retryAfterSeconds"):
        headers["retry-after"] = str(retry)
    return {
        "statusCode": error.status,
        "headers": headers,
        "body": json.dumps(error.envelope()),
        "isBase64Encoded": False,
    }


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


def _told(context: Mapping[str, Any], caller: str) -> dict[str, Any]:
    """The request's context with the caller's address, at its place in payload 2.0 (`http`) and 1.0 (`identity`)."""
    places = {name: dict(context[name]) | {"sourceIp": caller} for name in ("http", "identity") if name in context}
    return dict(context) | places
