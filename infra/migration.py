"""Builds the index anew beside the one that answers: a state machine, and a function with the time for it."""

from typing import cast

from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction, accept, log_group
from infra.indexing import let_write, writer_environment
from infra.providers import memory_mb
from infra.requirements import ROOT
from infra.search_engine import SearchEngine
from infra.store import State, Store

MACHINE = ROOT / "functions/index/migration.asl.json"

TIMEOUT_SECONDS = 900
"""As much as Lambda gives. The index function cannot have it: its queue would hide a message for six times as long."""


class Migration(Construct):
    """Only with OpenSearch: an embedded index is replaced as one file.

    The function is the index function's code under another name, so there is still one way into the index. It may do
    what that one may, except take from the queue.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        store: Store,
        state: State,
        engine: SearchEngine,
    ) -> None:
        super().__init__(scope, construct_id)
        configuration = platform.configuration
        self.function = PythonFunction(
            self,
            "Build",
            platform,
            name="index-build",
            description="Builds the index anew, checks it and swaps it in, one step a call",
            source="functions/index",
            memory_mb=memory_mb(configuration.providers, 1024),
            timeout_seconds=TIMEOUT_SECONDS,
            environment=writer_environment(configuration, store, state, engine),
        )
        let_write(self.function, configuration, engine)
        self.machine = self._machine(configuration)

    def _machine(self, configuration: Configuration) -> sfn.StateMachine:
        name = f"commonplace-{configuration.stage}-index-build"
        group = log_group(self, f"/aws/vendedlogs/states/{name}", configuration)
        machine = sfn.StateMachine(
            self,
            "Machine",
            state_machine_name=name,
            definition_body=sfn.DefinitionBody.from_string(MACHINE.read_text()),
            definition_substitutions={"IndexArn": self.function.live.function_arn},
            tracing_enabled=True,
            logs=sfn.LogOptions(
                destination=cast(logs.ILogGroup, group), level=sfn.LogLevel.ALL, include_execution_data=False
            ),
        )
        accept(machine.role, "Log delivery and X-Ray are granted for no particular resource.", "IAM5[Resource::*]")
        machine.add_to_role_policy(
            iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[self.function.live.function_arn])
        )
        return machine
