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


FOLLOWED = []
for each in (source for sources in built(CAPABILITIES, "sources", os.environ) for source in sources):
    where = each.repository, each.branch
    state = DynamoSyncState(aws.dynamodb(), SETTINGS.activity_table, *where, catalogue=each.name)
    FOLLOWED.append(Followed(each.name, *where, Poker(state, WORKFLOW, each.name).poke))
RECEIVER = Receiver(FOLLOWED, lambda: SECRETS.current().webhook_secret)
handler = instrument(WebhookFunction(RECEIVER, origin_values(os.environ)), os.environ)
