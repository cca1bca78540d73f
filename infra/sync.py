"""The sync: a state machine, the functions that are its steps, the webhook that starts it, and schedules."""

from typing import cast

from aws_cdk import ArnFormat, Duration, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from commonplace.repository.plan import RUNS_PREFIX
from infra.access import run_states
from infra.configuration import Configuration
from infra.functions import MAX_EVENT_AGE, RETRIES, Platform, PythonFunction, accept_wildcards, state_machine
from infra.requirements import ROOT
from infra.secrets import Secrets
from infra.store import State, Store

MACHINE = ROOT / "functions/sync/machine.asl.json"

COMPLETE_MINUTES = 5
COMPLETE = {"source": "aws.events", "complete": True}
"""Says that entries are to get the vectors they wait for. Where none waits, only a note of that is read."""

WEBHOOK_PATH = "/webhooks/github"


class Sync(Construct):
    """`run` takes every step but one; `store` takes that one, many times at once."""

    def __init__(
        self, scope: Construct, construct_id: str, platform: Platform, *, store: Store, state: State, secrets: Secrets
    ) -> None:
        super().__init__(scope, construct_id)
        configuration = platform.configuration
        self.run = PythonFunction(
            self,
            "Run",
            platform,
            name="sync-run",
            description="Plans a run, takes the archive, publishes, reports",
            source="functions/sync",
            handler="handler.run",
            memory_mb=1024,
            timeout_seconds=600,
            storage_mb=2048,
        )
        self.store = PythonFunction(
            self,
            "Store",
            platform,
            name="sync-store",
            description="Fetches and judges one short list of files",
            source="functions/sync",
            handler="handler.store",
            memory_mb=512,
            timeout_seconds=120,
            error_threshold=20,  # the machine retries each item; a run that fails for good has an alarm of its own
        )
        name = machine_name(configuration)
        self.machine = state_machine(self, name, MACHINE, configuration, SyncRunArn=self.run, SyncStoreArn=self.store)
        own_executions = states_arn(self, "execution", f"{name}:*")
        own_map_runs = states_arn(self, "execution", f"{name}/*:*")
        items = store.bucket.arn_for_objects(f"{RUNS_PREFIX}*")
        allowed = {
            "s3:GetObject": items,
            "states:StartExecution": states_arn(self, "stateMachine", name),
            "states:DescribeExecution": own_executions,
            "states:StopExecution": own_executions,
            "states:RedriveExecution": own_map_runs,
        }
        for action, resource in allowed.items():
            self.machine.add_to_role_policy(iam.PolicyStatement(actions=[action], resources=[resource]))
        accept_wildcards(
            self.machine.role,
            "Its Map starts child executions of itself, whose names AWS makes, and reads the list that a run has made.",
            *(own_executions, own_map_runs, items),
        )
        platform.wire(SYNC_MACHINE_ARN=self.machine.state_machine_arn)
        for function in (self.run, self.store):
            function.allow(["secretsmanager:GetSecretValue"], [secrets.github.secret_arn])
        self.run.allow_items(state.activity, ["GetItem", "UpdateItem"], *run_states(platform.told("sync-run")))


def machine_name(configuration: Configuration) -> str:
    """Fixed, so that its ARN is known to those who must name it before it exists: itself, and the laptop."""
    return f"commonplace-{configuration.stage}-sync"


def states_arn(scope: Construct, resource: str, name: str) -> str:
    return Stack.of(scope).format_arn(
        service="states", resource=resource, resource_name=name, arn_format=ArnFormat.COLON_RESOURCE_NAME
    )


class Schedules(Construct):
    """`sync` compares branch and store, `index` compares store and index. All cost little when all is well."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        sync: PythonFunction,
        index: PythonFunction,
        dead: sqs.Queue,
    ) -> None:
        """`dead` takes what did not reach its function, and what its function failed at."""
        super().__init__(scope, construct_id)
        configuration = platform.configuration
        for function in (sync, index):
            function.set_failures_aside(dead)
        # Without an event of its own a function is given EventBridge's.
        hours, minutes = configuration.index_reconcile_hours, configuration.reconcile_minutes
        complete = events.RuleTargetInput.from_object(COMPLETE)
        for name, period, function, description, event in (
            ("Sync", Duration.minutes(minutes), sync, "Compares branch and store", None),
            ("Index", Duration.hours(hours), index, "Compares store and index", None),
            ("Complete", Duration.minutes(COMPLETE_MINUTES), index, "Embeds what no model could embed", complete),
        ):
            target = targets.LambdaFunction(
                cast(lambda_.IFunction, function.live),
                event=event,
                dead_letter_queue=dead,
                retry_attempts=RETRIES,
                max_event_age=MAX_EVENT_AGE,
            )
            events.Rule(
                self,
                name,
                description=description,
                schedule=events.Schedule.rate(period),
                targets=[cast(events.IRuleTarget, target)],
            )


def webhook_function(
    scope: Construct, platform: Platform, *, state: State, secrets: Secrets, sync: Sync
) -> PythonFunction:
    """Checks the signature, counts the hint, starts a run unless one is under way. It cannot reach the store."""
    function = PythonFunction(
        scope,
        "Webhook",
        platform,
        name="webhook",
        description="Answers GitHub and the schedule, and starts a run",
        memory_mb=256,
        timeout_seconds=10,
        error_threshold=1,
    )
    platform.wire(WEBHOOK_FUNCTION=function.live.function_arn)
    function.allow(["secretsmanager:GetSecretValue"], [secrets.github.secret_arn])
    states = run_states(platform.told("webhook"))
    function.allow_items(state.activity, ["GetItem", "PutItem", "UpdateItem"], *states)
    function.allow(["states:StartExecution"], [sync.machine.state_machine_arn])
    function.allow(
        ["states:DescribeExecution"],
        [states_arn(scope, "execution", f"{machine_name(platform.configuration)}:*")],
        because="Executions are named by commit and attempt; these are the sync machine's own.",
    )
    return function
