"""The rotation on Lambda of the keys that sign tokens: for Secrets Manager by steps, and for operators after a leak.

An operator's event is `{"source": "commonplace.operator", "atOnce": true}`: one new key, and no other any more.
"""

import os
import time

from commonplace.identity.settings import RotationSettings
from commonplace.identity.signing_rotation import SigningFunction, SigningRotation
from commonplace.kernel import aws
from commonplace.kernel.telemetry import instrument

SETTINGS = RotationSettings.from_environ(os.environ)
KEYS = SigningRotation(aws.dynamodb(), SETTINGS.identity_table, time.time)
handler = instrument(SigningFunction(aws.secretsmanager(), SETTINGS.signing_secret_arn, KEYS), os.environ)
