"""The function that sends messages to webhooks, on Lambda: settings, and deliveries over them."""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os
import time
from typing import Any

from commonplace.governance.settings import WebhookSettings
from commonplace.kernel import aws
from commonplace.kernel.telemetry import instrument


def deliveries(settings: WebhookSettings) -> Any:
    """Return the deliveries of a deployment. Raises ValueError without a secret."""
    from commonplace.governance.deliveries import Deliveries
    from commonplace.governance.webhook_key import sealing_key
    from commonplace.kernel.guarded_http import GuardedHttp

    key = sealing_key(settings.webhook_secret_arn)
    if key is None:
        raise ValueError("GOVERNANCE_WEBHOOKS_SECRET_ARN is not set")
    return Deliveries(
        store=settings.store(),
        http=GuardedHttp(loopback=settings.loopback_webhooks),
        sqs=aws.sqs(),
        queue_url=settings.queue_url,
        sealing_key=key,
        clock=time.time,
    )


SETTINGS = WebhookSettings.where_governed(os.environ)
DELIVERIES = deliveries(SETTINGS) if SETTINGS else lambda *_: {"batchItemFailures": []}
handler = instrument(DELIVERIES, os.environ)
