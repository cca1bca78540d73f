"""CloudFormation's protocol of custom resources: a request, and its outcome, which is put to the URL it names.

Source: "Custom resource request and response objects" in the CloudFormation user guide. Standard library only.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, Literal, Self
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from commonplace.kernel.environment import is_loopback

logger = logging.getLogger(__name__)

DELAYS = (1, 2, 4)
ATTEMPT_SECONDS = 5
MAX_REASON = 1_000
"""Answers end at 4 KB."""


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    """A request of CloudFormation."""

    kind: Literal["Create", "Update", "Delete"]
    properties: Mapping[str, Any]
    response_url: str
    identity: Mapping[str, str]
    """StackId, RequestId and LogicalResourceId: the answer repeats them."""

    @classmethod
    def parse(cls, event: Mapping[str, Any]) -> Self:
        """Raises ValueError for what did not come from CloudFormation: then there is nobody to answer."""
        try:
            kind, url = event["RequestType"], event["ResponseURL"]
            identity = {name: str(event[name]) for name in ("StackId", "RequestId", "LogicalResourceId")}
            properties = event.get("ResourceProperties", {})
        except (KeyError, TypeError):
            raise ValueError("the event is not a request of CloudFormation") from None
        parts = urlsplit(str(url))
        secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
        if kind not in ("Create", "Update", "Delete") or not secure or not isinstance(properties, Mapping):
            raise ValueError("the event is not a request of CloudFormation")
        return cls(kind, properties, url, identity)


def answer(
    request: ResourceRequest, physical_id: str, failure: str | None, *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Reports the outcome to CloudFormation; without it the stack waits for its time limit.

    The identity of the resource never changes, so that an update does not end in a deletion. Raises OSError when the
    answer could not be put in four tries; Lambda then runs the whole function again.
    """
    status = {"Status": "FAILED", "Reason": failure[:MAX_REASON]} if failure else {"Status": "SUCCESS"}
    body = json.dumps({**status, "PhysicalResourceId": physical_id, **request.identity}).encode()
    for delay in (*DELAYS, None):
        try:
            # The URL is signed for a request without a content type; urllib would invent one.
            put = Request(  # noqa: S310 - checked when it was parsed
                request.response_url, data=body, headers={"Content-Type": ""}, method="PUT"
            )
            with urlopen(put, timeout=ATTEMPT_SECONDS):  # noqa: S310
                return
        except (OSError, HTTPException) as error:
            logger.warning("the answer could not be put", extra={"error": type(error).__name__})
            if delay is None:
                raise OSError("CloudFormation could not be answered") from None
        sleep(delay)
