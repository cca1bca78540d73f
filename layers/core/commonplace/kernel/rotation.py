"""The four steps in which Secrets Manager rotates a secret, whatever is in it.

Source: "Rotation by Lambda function" in the Secrets Manager user guide. Every step may come twice and any may fail:
Secrets Manager then begins again, with the pending version that it has or with another one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

logger = logging.getLogger(__name__)

CURRENT, PENDING = "AWSCURRENT", "AWSPENDING"


class RotationRefused(Exception):
    """This is no step of a rotation of that secret. The text names no value."""


class Rotated(Protocol):
    """The steps that differ by secret. Values are text, as Secrets Manager keeps them."""

    def following(self, current: str) -> str:
        """The value after this one."""
        ...

    def publish(self, pending: str) -> None:
        """Publishes the value where it must be known before it is in use."""
        ...

    def check(self, pending: str) -> None:
        """Raises when the value could not be used."""
        ...


class Rotation:
    """Rotates one secret and refuses every other."""

    def __init__(self, client: SecretsManagerClient, arn: str, rotated: Rotated) -> None:
        self._client, self._arn, self._rotated = client, arn, rotated

    def step(self, event: Mapping[str, Any]) -> None:
        """One of `createSecret`, `setSecret`, `testSecret`, `finishSecret`. Raises RotationRefused."""
        name, token = event.get("Step"), event.get("ClientRequestToken")
        if event.get("SecretId") != self._arn or not isinstance(token, str):
            raise RotationRefused("The event is about another secret, or about no version of it.")
        stages = self._versions().get(token)
        if stages is not None and CURRENT in stages:
            return  # done before; the answer was lost
        if name == "createSecret":
            self._create(token, made=stages is not None)
            return
        if stages is None or PENDING not in stages:
            raise RotationRefused("That version of the secret is not pending.")
        match name:
            case "setSecret":
                self._rotated.publish(self._value(PENDING, token))
            case "testSecret":
                self._rotated.check(self._value(PENDING, token))
            case "finishSecret":
                current = next(version for version, stages in self._versions().items() if CURRENT in stages)
                self._client.update_secret_version_stage(
                    SecretId=self._arn, VersionStage=CURRENT, MoveToVersionId=token, RemoveFromVersionId=current
                )
                logger.info("secret rotated", extra={"version": token})
            case _:
                raise RotationRefused("There is no such step.")

    def _create(self, token: str, *, made: bool) -> None:
        """Secrets Manager makes the version beforehand, with no value in it."""
        if made and self._has_value(token):
            return
        self._client.put_secret_value(
            SecretId=self._arn,
            ClientRequestToken=token,
            SecretString=self._rotated.following(self._value(CURRENT)),
            VersionStages=[PENDING],
        )

    def _versions(self) -> Mapping[str, list[str]]:
        return self._client.describe_secret(SecretId=self._arn).get("VersionIdsToStages", {})

    def _value(self, stage: str, token: str | None = None) -> str:
        version: Any = {"VersionId": token} if token else {}
        return self._client.get_secret_value(SecretId=self._arn, VersionStage=stage, **version)["SecretString"]

    def _has_value(self, token: str) -> bool:
        try:
            return bool(self._value(PENDING, token))
        except self._client.exceptions.ResourceNotFoundException:
            return False
