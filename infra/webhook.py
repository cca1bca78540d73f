"""The function that GitHub, the schedule and operators knock at. It only says that there may be something new."""

from constructs import Construct

from infra.access import run_states
from infra.functions import Platform, PythonFunction
from infra.secrets import Secrets
from infra.store import State
from infra.sync import Sync, machine_name, states_arn

WEBHOOK_PATH = "/webhooks/github"


class Webhook(PythonFunction):
    """Checks the signature, counts the hint, starts a run unless one is under way. Cannot reach the store."""

    def __init__(
        self, scope: Construct, construct_id: str, platform: Platform, *, state: State, secrets: Secrets, sync: Sync
    ) -> None:
        configuration = platform.configuration
        super().__init__(
            scope,
            construct_id,
            platform,
            name="webhook",
            description="Answers GitHub and the schedule, and starts a run",
            source="functions/webhook",
            memory_mb=256,
            timeout_seconds=10,
            error_threshold=1,
        )
        self.allow(["secretsmanager:GetSecretValue"], [secrets.github.secret_arn])
        self.allow_items(state.activity, ["GetItem", "PutItem", "UpdateItem"], *run_states(platform.told("webhook")))
        self.allow(["states:StartExecution"], [sync.machine.state_machine_arn])
        self.allow(
            ["states:DescribeExecution"],
            [states_arn(self, "execution", f"{machine_name(configuration)}:*")],
            because="Executions are named by commit and attempt; these are the sync machine's own.",
        )
