"""Changes the value between front door and functions, in the four steps by which Secrets Manager rotates a secret.

Source: "Rotation by Lambda function" in the Secrets Manager user guide. Every step may come twice, and any may fail:
Secrets Manager then begins again with the version that it has. What was the next value becomes the one in use, so the
functions know it before the door sends it (`adapters.origin_secret`). The first rotation only adds a next value.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

logger = logging.getLogger(__name__)

STEPS = ("createSecret", "setSecret", "testSecret", "finishSecret")
POLL_SECONDS = 15
CURRENT, PENDING = "AWSCURRENT", "AWSPENDING"


class RotationFailed(Exception):
    """A step could not be done; Secrets Manager tries again, and an alarm tells of it. Never quotes a value."""


@dataclass(frozen=True, slots=True)
class Door:
    """The CloudFront distribution, and the header that its origins are sent."""

    client: Any
    distribution: str
    header: str

    def send(self, value: str) -> None:
        """Writes the value into the distribution, unless it is there. Raises RotationFailed and the errors of boto3.

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
        """Whether every edge location sends the value by now. Raises RotationFailed if the door was told another."""
        told = self.client.get_distribution(Id=self.distribution)["Distribution"]
        headers = list(self._headers(told["DistributionConfig"]))
        if not headers or any(header["HeaderValue"] != value for header in headers):
            raise RotationFailed("somebody else has changed the distribution in the meantime")
        return bool(told["Status"] == "Deployed")

    def _headers(self, config: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        for origin in config["Origins"]["Items"]:
            for header in origin.get("CustomHeaders", {}).get("Items", []):
                if header["HeaderName"].lower() == self.header:
                    yield header


class OriginRotation:
    """The steps. `seconds` bounds how long one of them may wait for the edge locations."""

    def __init__(
        self,
        vault: SecretsManagerClient,
        door: Door,
        *,
        fresh: Callable[[], str] = lambda: secrets.token_urlsafe(48),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._vault, self._door = vault, door
        self._fresh, self._clock, self._sleep = fresh, clock, sleep

    def step(self, name: str, secret: str, token: str, seconds: float) -> None:
        """Does one step for the version `token`. Raises RotationFailed, and what the clients raise."""
        if name not in STEPS:
            raise RotationFailed("this is no step of a rotation")
        described = self._vault.describe_secret(SecretId=secret)
        stages = described.get("VersionIdsToStages", {})
        if not described.get("RotationEnabled") or token not in stages:
            raise RotationFailed("the secret does not rotate, or not to this version")
        if CURRENT in stages[token]:
            return
        if PENDING not in stages[token]:
            raise RotationFailed("the version is not the pending one")
        current = next((version for version, named in stages.items() if CURRENT in named), "")
        match name:
            case "createSecret":
                self._create(secret, token)
            case "setSecret":
                self._door.send(self._pending(secret, token))
            case "testSecret":
                self._wait(self._pending(secret, token), seconds)
            case _:
                self._vault.update_secret_version_stage(
                    SecretId=secret, VersionStage=CURRENT, MoveToVersionId=token, RemoveFromVersionId=current
                )
        logger.info("rotation step done", extra={"step": name})

    def _create(self, secret: str, token: str) -> None:
        if self._read(secret, VersionId=token, VersionStage=PENDING) is not None:
            return
        current = self._read(secret, VersionStage=CURRENT)
        if current is None:
            raise RotationFailed("the secret has no value")
        values = {"value": current.get("next") or current["value"], "next": self._fresh()}
        self._vault.put_secret_value(
            SecretId=secret, ClientRequestToken=token, SecretString=json.dumps(values), VersionStages=[PENDING]
        )

    def _wait(self, value: str, seconds: float) -> None:
        deadline = self._clock() + seconds
        while not self._door.sends(value):
            if self._clock() + POLL_SECONDS > deadline:
                raise RotationFailed("the distribution is still being deployed")
            self._sleep(POLL_SECONDS)

    def _pending(self, secret: str, token: str) -> str:
        pending = self._read(secret, VersionId=token, VersionStage=PENDING)
        if pending is None:
            raise RotationFailed("the pending version has no value yet")
        return pending["value"]

    def _read(self, secret: str, **which: str) -> dict[str, str] | None:
        """The values of a version; None when it has none yet. Raises RotationFailed when they are malformed."""
        try:
            text = self._vault.get_secret_value(SecretId=secret, **which).get("SecretString", "")
        except self._vault.exceptions.ResourceNotFoundException:
            return None
        try:
            values = json.loads(text)
        except ValueError:
            values = None
        if not isinstance(values, dict) or not isinstance(values.get("value"), str) or not values["value"]:
            raise RotationFailed("the origin secret must be a JSON object with a text `value`")
        return values
