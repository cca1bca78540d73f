"""Schedules of EventBridge, `rate(…)` and `cron(…)` in UTC, and first rotations of secrets.

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

from local.cloud.environment import ACCOUNT, REGION
from local.cloud.lambda_host import LambdaHost
from local.cloud.runtime import FunctionFailed, Outcome

logger = logging.getLogger(__name__)

_RATE = re.compile(r"rate\((\d+) (minute|minutes|hour|hours|day|days)\)")
_CRON = re.compile(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)")
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
LOOK_AT_THE_CLOCK_SECONDS = 60.0  # a laptop sleeps, and its clock jumps
YEARS_AHEAD = 10

STEPS = ("createSecret", "setSecret", "testSecret", "finishSecret")


@dataclass(frozen=True, slots=True)
class Rate:
    period: timedelta

    def after(self, moment: datetime) -> datetime:
        return moment + self.period


@dataclass(frozen=True, slots=True)
class Cron:
    """Sets of allowed values; `days` and `weekdays` are `None` where the expression says `?`."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int] | None
    months: frozenset[int]
    weekdays: frozenset[int] | None  # 1 is Sunday
    years: frozenset[int]

    def after(self, moment: datetime) -> datetime:
        """The first due minute after this moment. Raises `ValueError` when the next years have none."""
        day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        for offset in range(366 * YEARS_AHEAD):
            date = day + timedelta(days=offset)
            on_day = self.days is None or date.day in self.days
            on_weekday = self.weekdays is None or date.isoweekday() % 7 + 1 in self.weekdays
            if not (on_day and on_weekday and date.year in self.years and date.month in self.months):
                continue
            for hour in sorted(self.hours):
                for minute in sorted(self.minutes):
                    due = date.replace(hour=hour, minute=minute)
                    if due > moment:
                        return due
        raise ValueError("The schedule has no firing in the years to come.")


def parse(expression: str) -> Rate | Cron:
    """A schedule from its expression. Raises `ValueError` with what is wrong."""
    if match := _RATE.fullmatch(expression):
        number, unit = int(match[1]), match[2].removesuffix("s")
        if number < 1 or (number == 1) == match[2].endswith("s"):
            raise ValueError(f"{expression!r}: one takes a singular unit, more take a plural one.")
        return Rate(timedelta(**{unit + "s": number}))
    if match := _CRON.fullmatch(expression):
        minute, hour, day, month, weekday, year = match.groups()
        if (day == "?") == (weekday == "?"):
            raise ValueError(f"{expression!r}: exactly one of day-of-month and day-of-week is `?`.")
        return Cron(
            _field(minute, 0, 59),
            _field(hour, 0, 23),
            None if day == "?" else _field(day, 1, 31),
            _field(month, 1, 12, _MONTHS),
            None if weekday == "?" else _field(weekday, 1, 7, _DAYS),
            _field(year, 1970, 2199),
        )
    raise ValueError(f"{expression!r} is neither `rate(number unit)` nor `cron(six fields)`.")


def _field(text: str, low: int, high: int, names: list[str] | None = None) -> frozenset[int]:
    for index, name in enumerate(names or [], start=1):
        text = re.sub(rf"\b{name}\b", str(index), text, flags=re.IGNORECASE)
    allowed: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(?:(\*)|(\d+)(?:-(\d+))?)(?:/(\d+))?", part)
        if match is None:
            raise ValueError(f"The cron field {text!r} is not numbers, `*`, lists, ranges and steps.")
        every, first, last, step = match.groups()
        start = low if every else int(first)
        end = int(last) if last else (high if every or step else start)
        if not low <= start <= end <= high or step == "0":
            raise ValueError(f"The cron field {text!r} leaves its bounds of {low} to {high}.")
        allowed.update(range(start, end + 1, int(step or 1)))
    return frozenset(allowed)


@dataclass(frozen=True, slots=True)
class Target:
    """A function, and the JSON it receives instead of the event, if the rule gives one."""

    function: str
    input: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    arn: str
    schedule: Rate | Cron
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
        due = {rule.name: rule.schedule.after(now) for rule in self._rules if rule.enabled}
        while True:
            remaining = (min(due.values()) - now).total_seconds() if due else LOOK_AT_THE_CLOCK_SECONDS
            if self._stopping.wait(min(max(remaining, 0.0), LOOK_AT_THE_CLOCK_SECONDS)):
                return
            now = datetime.now(UTC)
            for rule in self._rules:
                if rule.enabled and due[rule.name] <= now:
                    logger.info("A schedule is due", extra={"rule": rule.name})
                    self.fire(rule, due[rule.name])
                    due[rule.name] = rule.schedule.after(now)


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
