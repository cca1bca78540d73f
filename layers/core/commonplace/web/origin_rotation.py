"""Rotation of the front door's secret, the steps that `kernel.rotation` runs.

The next value becomes the current one, so functions know it before the door sends it (`web.origin`). The first rotation
only adds a next value.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

POLL_SECONDS = 15


class RotationFailed(Exception):
    """A step failed; Secrets Manager tries again, and an alarm is raised. Never quotes a value."""


@dataclass(frozen=True, slots=True)
class Door:
    """The CloudFront distribution, and the header that its origins are sent."""

    client: Any
    distribution: str
    header: str

    def send(self, value: str) -> None:
        """Write the value into the distribution, unless it is there. Raises RotationFailed and the errors of boto3.

        The update is conditional: one of somebody else's in between is an error, and the rotation is tried again.
        """
        answer = self.client.get_distribution_config(Id=self.distribution)
        headers = list(self._headers(answer["DistributionConfig"]))
        if not headers:
            raise RotationFailed(f"the distribution {self.distribution} sends no header {self.header}")
        if all(header["HeaderValue"] == value for header in headers):
            return
        for header in headers:
            header["HeaderValue"] = value
        self.client.update_distribution(
            Id=self.distribution, IfMatch=answer["ETag"], DistributionConfig=answer["DistributionConfig"]
        )

    def sends(self, value: str) -> bool:
        """Return whether every edge location sends the value by now. Raises RotationFailed for another value."""
        found = self.client.get_distribution(Id=self.distribution)["Distribution"]
        headers = list(self._headers(found["DistributionConfig"]))
        if not headers or any(header["HeaderValue"] != value for header in headers):
            raise RotationFailed("somebody else has changed the distribution in the meantime")
        return bool(found["Status"] == "Deployed")

    def _headers(self, config: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        for origin in config["Origins"]["Items"]:
            for header in origin.get("CustomHeaders", {}).get("Items", []):
                if header["HeaderName"].lower() == self.header:
                    yield header


class OriginRotation:
    """The steps of the rotation. `seconds` bounds the wait for the edge locations."""

    def __init__(
        self,
        door: Door,
        *,
        seconds: float,
        fresh: Callable[[], str] = lambda: secrets.token_urlsafe(48),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._door, self._seconds = door, seconds
        self._fresh, self._clock, self._sleep = fresh, clock, sleep

    def following(self, current: str) -> str:
        """Return what comes next, and something new after it. Raises RotationFailed."""
        values = _values(current)
        return json.dumps({"value": values.get("next") or values["value"], "next": self._fresh()})

    def publish(self, pending: str) -> None:
        """Raises RotationFailed, and the errors of boto3."""
        self._door.send(_values(pending)["value"])

    def check(self, pending: str) -> None:
        """Wait until every edge location sends the value. Raises RotationFailed, and the errors of boto3."""
        value, deadline = _values(pending)["value"], self._clock() + self._seconds
        while not self._door.sends(value):
            if self._clock() + POLL_SECONDS > deadline:
                raise RotationFailed("the distribution is still being deployed")
            self._sleep(POLL_SECONDS)


def _values(text: str) -> dict[str, Any]:
    """Raises RotationFailed for what is not such a secret."""
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, dict) or not isinstance(values.get("value"), str) or not values["value"]:
        raise RotationFailed("the origin secret must be a JSON object with a text `value`")
    return values
