"""The rotation on Lambda of the front door's secret, called by Secrets Manager."""

import os
from collections.abc import Mapping
from typing import Any

from commonplace.kernel import aws
from commonplace.kernel.rotation import Rotation
from commonplace.kernel.telemetry import instrument
from commonplace.web.origin import ORIGIN_HEADER
from commonplace.web.origin_rotation import Door, OriginRotation
from commonplace.web.settings import OriginRotationSettings

SPARE_SECONDS = 30
"""Of the function's time, so that a wait ends in an error of ours and not in a function cut off."""

SETTINGS = OriginRotationSettings.from_environ(os.environ)
SECRETS = aws.secretsmanager()
DOOR = Door(aws.cloudfront(), SETTINGS.distribution_id, header=ORIGIN_HEADER)


def _step(event: Mapping[str, Any], context: Any) -> None:
    """One step. An error makes Secrets Manager try the rotation again."""
    seconds = context.get_remaining_time_in_millis() / 1000 - SPARE_SECONDS
    Rotation(SECRETS, SETTINGS.secret_arn, OriginRotation(DOOR, seconds=seconds)).step(event)


handler = instrument(_step, os.environ)
