"""Schedules of EventBridge, `rate(…)`, and first rotations of secrets.

Source of the expressions: EventBridge user guide, "Setting a schedule pattern". The first firing is one period after
the start; `Scheduler.fire` fires at once.
"""

import json
import logging
import re
import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from commonplace_local.cloud.environment import ACCOUNT, REGION
from commonplace_local.cloud.lambda_host import LambdaHost
from commonplace_local.cloud.runtime import FunctionFailed, Outcome

logger = logging.getLogger(__name__)

_RATE = re.compile(r"rate\((\d+) (minute|minutes|hour|hours|day|days)\)")
LOOK_AT_THE_CLOCK_SECONDS = 60.0  # a laptop sleeps, and its clock jumps

STEPS = ("createSecret", "setSecret", "testSecret", "finishSecret")


def parse(expression: str) -> timedelta:
    """Return the period of a schedule. Raises `ValueError` for anything but `rate(number unit)`."""
    match = _RATE.fullmatch(expression)
    if match is None:
        raise ValueError(f"{expression!r} is not `rate(number unit)`, the one schedule that runs on a laptop.")
    number, unit = int(match[1]), match[2].removesuffix("s")
    if number < 1 or (number == 1) == match[2].endswith("s"):
        raise ValueError(f"{expression!r}: one takes a singular unit, more take a plural one.")
    return timedelta(**{unit + "s": number})


@dataclass(frozen=True, slots=True)
class Target:
    """A function, and the JSON it receives instead of the event, if the rule gives one."""

    function: str
    input: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    arn: str
    period: timedelta
    targets: tuple[Target, ...]
    enabled: bool = True


def scheduled_event(rule: Rule, due: datetime) -> dict[str, object]:
    """Return the event of a target without an input of its own."""
    return {
        "version": "0",
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{rule.arn}#{due.isoformat()}")),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": ACCOUNT,
        "time": due.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [rule.arn],
        "detail": {},
    }


class Scheduler:
    """Fires the enabled rules when they are due. `invoke` must return at once."""

    def __init__(self, rules: Iterable[Rule], invoke: Callable[[str, bytes], None]) -> None:
        self._rules, self._invoke = list(rules), invoke
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def fire(self, rule: Rule, due: datetime | None = None) -> None:
        event = json.dumps(scheduled_event(rule, due or datetime.now(UTC)))
        for target in rule.targets:
            self._invoke(target.function, (target.input or event).encode())

    def _run(self) -> None:
        now = datetime.now(UTC)
        due = {rule.name: now + rule.period for rule in self._rules if rule.enabled}
        while True:
            remaining = (min(due.values()) - now).total_seconds() if due else LOOK_AT_THE_CLOCK_SECONDS
            if self._stopping.wait(min(max(remaining, 0.0), LOOK_AT_THE_CLOCK_SECONDS)):
                return
            now = datetime.now(UTC)
            for rule in self._rules:
                if rule.enabled and due[rule.name] <= now:
                    logger.info("A schedule is due", extra={"rule": rule.name})
                    self.fire(rule, due[rule.name])
                    due[rule.name] = now + rule.period


@dataclass(frozen=True, slots=True)
class RotatedSecret:
    """`initial` is the value that the template gives."""

    arn: str
    function: str
    initial: str


class Rotations:
    """Rotates each secret once, unless a former start has done it, as its first value is for a function to make.

    It happens beside everything else, since nobody needs the secret before somebody signs in. moto would call functions
    of its own.
    """

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
                if self._client.get_secret_value(SecretId=secret.arn)["SecretString"] != secret.initial:
                    continue
                token = str(uuid.uuid4())
                for step in STEPS:  # Secrets Manager stops at the step that fails
                    event = {"Step": step, "SecretId": secret.arn, "ClientRequestToken": token}
                    outcome: Outcome = self._lambdas.invoke(secret.function, json.dumps(event).encode())
                    if outcome.failed:
                        raise FunctionFailed(json.loads(outcome.payload))
            except FunctionFailed as error:
                if not self._stopping:
                    logger.error("A secret could not be rotated: %s", error)
