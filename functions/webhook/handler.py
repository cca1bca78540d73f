"""The webhook on Lambda: GitHub's deliveries, the reconcile schedule and operators' requests become sync runs."""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel import aws
from commonplace.kernel.capability import built
from commonplace.kernel.telemetry import instrument
from commonplace.repository.github_secrets import GitHubSecrets
from commonplace.repository.run_state import DynamoSyncState
from commonplace.repository.settings import WebhookSettings
from commonplace.repository.webhook import Followed, Poker, Receiver
from commonplace.repository.workflow import StepFunctionsWorkflow
from commonplace.web.origin import origin_values
from commonplace.web.webhook import WebhookFunction

SETTINGS = WebhookSettings.from_environ(os.environ)
SECRETS = GitHubSecrets(aws.secretsmanager(), SETTINGS.github_secret_arn)
WORKFLOW = StepFunctionsWorkflow(aws.stepfunctions(), SETTINGS.machine_arn)


def _followed(name: str, repository: str, branch: str) -> Followed:
    state = DynamoSyncState(aws.dynamodb(), SETTINGS.activity_table, repository, branch, catalogue=name)
    return Followed(name, repository, branch, Poker(state, WORKFLOW, name).poke)


SOURCES = [source for sources in built(CAPABILITIES, "sources", os.environ) for source in sources]
RECEIVER = Receiver(
    [_followed(source.name, source.repository, source.branch) for source in SOURCES],
    lambda: SECRETS.current().webhook_secret,
)
handler = instrument(WebhookFunction(RECEIVER, origin_values(os.environ)), os.environ)
