"""Runs of the sync as executions of a state machine on Step Functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


class StepFunctionsWorkflow:
    """`commonplace.repository.ports.Workflow` over one state machine."""

    def __init__(self, client: SFNClient, machine_arn: str) -> None:
        self._client = client
        self._machine_arn = machine_arn

    def start(self, name: str, run_input: dict[str, object]) -> None:
        text = json.dumps(run_input, sort_keys=True)
        try:
            self._client.start_execution(stateMachineArn=self._machine_arn, name=name, input=text)
        except ClientError as error:
            # Names carry an attempt that is used once, so a running namesake is this very start, answered twice.
            if _code(error) != "ExecutionAlreadyExists" or not self.is_running(name):
                raise

    def is_running(self, name: str) -> bool:
        try:
            answer = self._client.describe_execution(executionArn=self.execution_arn(name))
        except ClientError as error:
            if _code(error) == "ExecutionDoesNotExist":
                return False
            raise
        return answer["status"] in ("RUNNING", "PENDING_REDRIVE")

    def execution_arn(self, name: str) -> str:
        return f"{self._machine_arn.replace(':stateMachine:', ':execution:', 1)}:{name}"


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")
