"""Whatever members do, their agents read no more than they may (invariants 1, 4 and 5 of seed 002)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.examples import examples
from tests.unit.governance.reading_machine import ReadingMachine

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def test_agents_read_no_more_than_they_may(aws: None, dynamodb_client: DynamoDBClient) -> None:
    machine = type("Machine", (ReadingMachine,), {"client": dynamodb_client})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples(3, 200),
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
