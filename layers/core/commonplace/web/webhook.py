"""The webhook function: GitHub's deliveries through the front door, schedules and operators without it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.kernel.errors import CommonplaceError, Unavailable
from commonplace.repository.github_secrets import MalformedSecret
from commonplace.repository.webhook import Receiver, response
from commonplace.web.origin import Knows, entered, refused

logger = logging.getLogger(__name__)


class WebhookFunction:
    """A delivery gets an HTTP answer; a failed reminder raises, so that its sender tries again."""

    def __init__(self, receiver: Receiver, origin: Knows | None) -> None:
        self.receiver, self._origin = receiver, origin

    def __call__(self, event: Mapping[str, Any], _context: object) -> dict[str, Any]:
        if "requestContext" not in event:
            return self.receiver.remind(event)
        try:
            return self.receiver.receive(entered(event, self._origin))
        except CommonplaceError as error:
            if isinstance(error, Unavailable):
                logger.error("a delivery could not be taken", extra={"error": type(error.__cause__ or error).__name__})
            return refused(error)
        except (BotoCoreError, ClientError, MalformedSecret) as error:
            logger.error("a delivery could not be taken", extra={"error": type(error).__name__})
            unavailable = Unavailable("The delivery was not accepted. Send it again.")
            return response(unavailable.status, unavailable.envelope())
        except Exception:
            logger.exception("a delivery failed")
            failed = CommonplaceError("An unexpected error occurred")
            return response(failed.status, failed.envelope())
