"""Rotation of the keys that sign tokens: called by Secrets Manager, step by step, and by operators when one has leaked.

An operator's event is `{"source": "commonplace.operator", "atOnce": true}`: one new key, and no other any more.
"""

import logging
import os
import time
from collections.abc import Mapping
from typing import Any

from commonplace.identity.settings import RotationSettings
from commonplace.identity.signing_rotation import SigningRotation
from commonplace.kernel import aws
from commonplace.kernel.rotation import Rotation
from commonplace.kernel.telemetry import instrument

OPERATOR = "commonplace.operator"

SETTINGS = RotationSettings.from_environ(os.environ)
SECRETS = aws.secretsmanager()
KEYS = SigningRotation(aws.dynamodb(), SETTINGS.identity_table, time.time)
ROTATION = Rotation(SECRETS, SETTINGS.signing_secret_arn, KEYS)


def _rotate(event: Mapping[str, Any], _context: object) -> None:
    """Raises what went wrong: Secrets Manager tries again, and an alarm tells of it."""
    if event.get("source") == OPERATOR and event.get("atOnce") is True:
        _replace()
        return
    ROTATION.step(event)


def _replace() -> None:
    """The secret first: a key that is in use and not yet published fails closed, the other way round signs on."""
    ring = KEYS.at_once()
    SECRETS.put_secret_value(SecretId=SETTINGS.signing_secret_arn, SecretString=ring)
    KEYS.publish(ring)
    logging.getLogger("commonplace.rotate").warning("signing keys replaced at once")


handler = instrument(_rotate, os.environ)
