"""Schedule expressions and the event that a firing sends."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.schedules import Rule, Scheduler, Target, parse

NOW = datetime(2026, 2, 27, 23, 59, 30, tzinfo=UTC)  # a Friday


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("rate(1 minute)", datetime(2026, 2, 28, 0, 0, 30, tzinfo=UTC)),
        ("rate(6 hours)", datetime(2026, 2, 28, 5, 59, 30, tzinfo=UTC)),
        ("rate(2 days)", datetime(2026, 3, 1, 23, 59, 30, tzinfo=UTC)),
        ("cron(0 3 * * ? *)", datetime(2026, 2, 28, 3, 0, tzinfo=UTC)),
        ("cron(0/15 * * * ? *)", datetime(2026, 2, 28, 0, 0, tzinfo=UTC)),
        ("cron(15 10 ? * MON-FRI *)", datetime(2026, 3, 2, 10, 15, tzinfo=UTC)),
        ("cron(0 0 29 FEB ? *)", datetime(2028, 2, 29, tzinfo=UTC)),
        ("cron(5,35 8-10/2 1 * ? 2027)", datetime(2027, 1, 1, 8, 5, tzinfo=UTC)),
        ("cron(0 12 ? * 1 *)", datetime(2026, 3, 1, 12, 0, tzinfo=UTC)),
    ],
)
def test_the_next_firing(expression: str, due: datetime) -> None:
    assert parse(expression).after(NOW) == due


@pytest.mark.parametrize(
    "expression",
    [
        "every day", "rate(0 minutes)", "rate(1 minutes)", "rate(2 hour)", "cron(0 3 * * *)", "cron(0 3 * * * *)",
        "cron(60 3 * * ? *)", "cron(0 3 L * ? *)", "cron(0 3 15W * ? *)", "cron(0 3 ? * 6#3 *)", "cron(0/0 3 * * ? *)",
        "cron(9-3 3 * * ? *)",
    ],
)  # fmt: skip
def test_what_cannot_be_scheduled_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match=r"cron|rate|unit"):
        parse(expression)


def test_a_schedule_without_a_future_says_so() -> None:
    with pytest.raises(ValueError, match="no firing"):
        parse("cron(0 0 1 1 ? 2020)").after(NOW)


@given(minute=st.integers(0, 59), hour=st.integers(0, 23), ahead=st.integers(0, 10**7))
def test_a_daily_schedule_is_due_within_a_day_and_at_its_time(minute: int, hour: int, ahead: int) -> None:
    moment = NOW + timedelta(seconds=ahead)
    due = parse(f"cron({minute} {hour} * * ? *)").after(moment)
    assert timedelta(0) < due - moment <= timedelta(days=1)
    assert (due.minute, due.hour, due.second) == (minute, hour, 0)


def test_a_firing_sends_the_event_or_the_targets_own_input() -> None:
    sent: list[tuple[str, Any]] = []
    rule = Rule("nightly", "arn:rule", parse("rate(1 day)"), (Target("one"), Target("two", '{"own": 1}')))
    Scheduler([rule], lambda name, payload: sent.append((name, json.loads(payload)))).fire(rule, NOW)
    (first, event), second = sent
    assert first == "one"
    assert event["detail-type"] == "Scheduled Event"
    assert (event["source"], event["time"]) == ("aws.events", "2026-02-27T23:59:30Z")
    assert event["resources"] == ["arn:rule"]
    assert second == ("two", {"own": 1})
