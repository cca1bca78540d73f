"""The front door's secret: events that bypass CloudFront are refused.

The door (`infra/edge.py`) overwrites two headers of every request: the secret value, and the caller's address, which
the gateway would otherwise report as one of the door's own. Both are removed here.

The secret is JSON: `value`, which the door sends now, and `next`, which it sends after the next rotation. It is read
from Secrets Manager, cached, and read again when a request brings an unknown value. Every function knows the next value
a whole period before it is used, so a rotation needs no moment at which all switch.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from commonplace.kernel.deferred import deferred
from commonplace.kernel.errors import CommonplaceError, Forbidden, Unavailable
from commonplace.kernel.secrets import KeptSecret
from commonplace.web.settings import OriginSettings

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient


ORIGIN_HEADER = "x-commonplace-origin"
VIEWER_HEADER = "x-commonplace-viewer"

Knows = Callable[[str], bool]
"""Returns whether this is a value of the door's. Raises Unavailable when that cannot be decided."""

PAUSE_SECONDS = 30
"""The pause between two looks for an unknown value: strangers must not be able to load Secrets Manager."""
RETRY_SECONDS = 5
"""The pause between two tries when Secrets Manager does not answer: not every request waits for it."""
READ_SECONDS = 1.0


def entered(event: Mapping[str, Any], knows: Knows | None) -> Mapping[str, Any]:
    """Return the event as its caller sent it. Without a door (`knows` is None) every event passes as it is.

    Raises Forbidden for an event that went round the door, and what `knows` raises.
    """
    if knows is None:
        return event
    headers = {name.lower(): str(value) for name, value in (event.get("headers") or {}).items()}
    presented = headers.pop(ORIGIN_HEADER, "")
    if not presented or not knows(presented):
        raise Forbidden(
            "Use the public address of this deployment.",
            hint="Use the public address of this deployment; its operators know it.",
        )
    viewer, passed = headers.pop(VIEWER_HEADER, ""), dict(event) | {"headers": headers}
    if many := event.get("multiValueHeaders"):
        passed["multiValueHeaders"] = {name: values for name, values in many.items() if name.lower() in headers}
    try:
        caller = str(ipaddress.ip_address(viewer))
    except ValueError:
        return passed
    # The caller's address is at its place in payload 2.0 (`http`) and in 1.0 (`identity`).
    context = event.get("requestContext") or {}
    places = {name: dict(context[name]) | {"sourceIp": caller} for name in ("http", "identity") if name in context}
    return passed | {"requestContext": dict(context) | places}


def refused(error: CommonplaceError) -> dict[str, Any]:
    """Return the gateway's answer for an event that did not come in."""
    headers = {"content-type": "application/json", "cache-control": "no-store"}
    if retry := error.details.get("retryAfterSeconds"):
        headers["retry-after"] = str(retry)
    return {
        "statusCode": error.status,
        "headers": headers,
        "body": json.dumps(error.envelope()),
        "isBase64Encoded": False,
    }


class OriginValues:
    """Decides whether a request presents a value of the door's, in constant time; fails closed."""

    def __init__(
        self, client: Callable[[], SecretsManagerClient], arn: str, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._secret = KeptSecret(deferred(client), arn, _values, pause_seconds=RETRY_SECONDS, monotonic=monotonic)
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._looked_at = -float("inf")

    def __call__(self, presented: str) -> bool:
        """Raises Unavailable when no value can be had at all."""
        with self._lock:
            try:
                if _among(presented, self._secret.current()):
                    return True
                if self._monotonic() - self._looked_at < PAUSE_SECONDS:
                    return False
                self._looked_at = self._monotonic()
                self._secret.renew()
                # What is on its way in or out, too: a deployment in the midst of a rotation may send either.
                passing = [(self._secret.version(stage) or ())[:1] for stage in ("AWSPENDING", "AWSPREVIOUS")]
                return _among(presented, (*self._secret.current(), *chain.from_iterable(passing)))
            except Unavailable:
                raise Unavailable("The origin of this request cannot be verified now. Try again in a moment.") from None


def origin_values(environ: Mapping[str, str]) -> OriginValues | None:
    """Return what a function's environment says; None where there is no door, and everybody may come."""

    def client() -> SecretsManagerClient:
        from commonplace.kernel import aws

        return aws.secretsmanager(read_timeout_seconds=READ_SECONDS)

    arn = OriginSettings.from_environ(environ).secret_arn
    return OriginValues(client, arn) if arn else None


def _values(text: str) -> tuple[str, ...]:
    """Raises ValueError for what is not such a secret. Never quotes it."""
    try:
        read = json.loads(text)
    except ValueError:
        read = None
    if not isinstance(read, dict) or not isinstance(read.get("value"), str) or not read["value"]:
        raise ValueError("the origin secret must be a JSON object with a text `value`")
    coming = read.get("next")
    return (read["value"], coming) if isinstance(coming, str) and coming else (read["value"],)


def _among(presented: str, values: Iterable[str]) -> bool:
    """Compare with every value whatever is found, so that the time reveals nothing."""
    given = presented.encode("utf-8", "surrogatepass")
    return sum(hmac.compare_digest(given, value.encode()) for value in values) > 0
