"""Whatever members do in whatever order, an organisation stays whole, and their agents read no more than they may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.governance import run_machine
from tests.unit.governance.acting_machine import ActingMachine
from tests.unit.governance.reading_machine import ReadingMachine
from tests.unit.governance.structure_machine import StructureMachine
from tests.unit.governance.test_processes import Decisions

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.mark.parametrize(
    ("machine", "usual", "soak", "steps"),
    [(StructureMachine, 4, 200, 15), (ReadingMachine, 3, 200, 12), (Decisions, 6, 60, 25), (ActingMachine, 5, 300, 20)],
)
def test_a_machine_finds_no_fault(
    aws: None, dynamodb_client: DynamoDBClient, machine: type[Any], usual: int, soak: int, steps: int
) -> None:
    run_machine(machine, dynamodb_client, usual, soak, steps)
