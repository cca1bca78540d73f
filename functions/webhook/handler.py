"""Receives GitHub's deliveries, the reconcile schedule and operators' wishes; starts or prolongs a run of the sync."""

import logging
import os
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel import aws
from commonplace.kernel.capability import built
from commonplace.kernel.errors import CommonplaceError, Unavailable
from commonplace.kernel.settings import WebhookSettings
from commonplace.kernel.telemetry import instrument
from commonplace.repository.github_secrets import GitHubSecrets, MalformedSecret
from commonplace.repository.run_state import DynamoSyncState
from commonplace.repository.webhook import Followed, Poker, Receiver, response
from commonplace.repository.workflow import StepFunctionsWorkflow
from commonplace.web.origin import entered, origin_values, refused

logger = logging.getLogger(__name__)

SETTINGS = WebhookSettings.from_environ(os.environ)
SECRETS = GitHubSecrets(aws.secretsmanager(), SETTINGS.github_secret_arn)
WORKFLOW = StepFunctionsWorkflow(aws.stepfunctions(), SETTINGS.machine_arn)
ORIGIN = origin_values(os.environ)


def _followed(name: str, repository: str, branch: str) -> Followed:
    state = DynamoSyncState(aws.dynamodb(), SETTINGS.activity_table, repository, branch, catalogue=name)
    return Followed(name, repository, branch, Poker(state, WORKFLOW, name).poke)


FOLLOWED = [
    _followed(one.name, one.repository, one.branch)
    for sources in built(CAPABILITIES, "sources", os.environ)
    for one in sources
]
RECEIVER = Receiver(FOLLOWED, lambda: SECRETS.current().webhook_secret)


def _answer(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """A delivery gets an HTTP answer; a failed reminder raises, so that its sender tries again."""
    if "requestContext" not in event:
        return RECEIVER.remind(event)
    try:
        return RECEIVER.receive(entered(event, ORIGIN))
    except CommonplaceError as error:
        if isinstance(error, Unavailable):
            logger.error("a delivery could not be taken", extra={"error": type(error.__cause__ or error).__name__})
        return refused(error)
    except (BotoCoreError, ClientError, MalformedSecret) as error:
        logger.error("a delivery could not be taken", extra={"error": type(error).__name__})
        unavailable = Unavailable("The delivery could not be taken. Send it again.")
        return response(unavailable.status, unavailable.envelope())
    except Exception:
        logger.exception("a delivery failed")
        body = {"error": {"code": "INTERNAL_ERROR", "message": "An unexpected error occurred", "details": {}}}
        return response(500, body)


handler = instrument(_answer, os.environ)
