"""Schedule expressions and the event that a firing sends."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from commonplace_local.cloud.schedules import Rule, Scheduler, Target, parse

NOW = datetime(2026, 2, 27, 23, 59, 30, tzinfo=UTC)  # a Friday


@pytest.mark.parametrize(
    ("expression", "period"),
    [
        ("rate(1 minute)", timedelta(minutes=1)),
        ("rate(6 hours)", timedelta(hours=6)),
        ("rate(2 days)", timedelta(days=2)),
    ],
)
def test_the_period_of_a_schedule(expression: str, period: timedelta) -> None:
    assert parse(expression) == period


@pytest.mark.parametrize(
    "expression", ["every day", "rate(0 minutes)", "rate(1 minutes)", "rate(2 hour)", "cron(0 3 * * ? *)"]
)
def test_what_cannot_be_scheduled_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match=r"rate|unit"):
        parse(expression)


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
