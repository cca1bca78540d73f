"""Whatever people do in whatever order, the structure of an organisation stays whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.examples import examples
from tests.unit.governance.structure_machine import StructureMachine

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def test_an_organisation_stays_whole_after_any_changes(aws: None, dynamodb_client: DynamoDBClient) -> None:
    machine = type("Machine", (StructureMachine,), {"client": dynamodb_client})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples(4, 200),
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
