"""Secrets whose first value a function has to make: the four steps of a rotation, driven as Secrets Manager does.

moto would call functions of its own; ours run in the Lambda host. It happens beside everything else, since nobody
needs the secret before somebody signs in, and only while the secret holds what the template gave it.
"""

import json
import logging
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from local.cloud.calls import FunctionFailed, Outcome
from local.cloud.lambda_host import LambdaHost

logger = logging.getLogger(__name__)

STEPS = ("createSecret", "setSecret", "testSecret", "finishSecret")


@dataclass(frozen=True, slots=True)
class RotatedSecret:
    """`initial` is the value that the template gives."""

    arn: str
    function: str
    initial: str


class Rotations:
    """Rotates each secret once, unless a former start has done it."""

    def __init__(self, secrets: Sequence[RotatedSecret], lambdas: LambdaHost, client: Any) -> None:
        self._secrets, self._lambdas, self._client = secrets, lambdas, client
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="rotations", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True

    def wait(self, seconds: float) -> None:
        """Raises `TimeoutError`."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            raise TimeoutError(f"Secrets are still being made after {seconds:g} s.")

    def _run(self) -> None:
        for secret in self._secrets:
            try:
                if self._client.get_secret_value(SecretId=secret.arn)["SecretString"] == secret.initial:
                    self._rotate(secret)
            except FunctionFailed as error:
                if not self._stopping:
                    logger.error("A secret could not be rotated: %s", error)

    def _rotate(self, secret: RotatedSecret) -> None:
        """Raises FunctionFailed at the step that fails, as Secrets Manager stops there."""
        token = str(uuid.uuid4())
        for step in STEPS:
            event = {"Step": step, "SecretId": secret.arn, "ClientRequestToken": token}
            outcome: Outcome = self._lambdas.invoke(secret.function, json.dumps(event).encode())
            if outcome.failed:
                raise FunctionFailed(json.loads(outcome.payload))
