"""Rotation of the keys that sign access tokens, the steps that `kernel.rotation` runs.

Private keys are in the secret, public ones in the identity table (`pk = keys`, `sk = public`), where guards may read
them. Verifiers get a new key before it signs.
"""

from __future__ import annotations

import json
import logging
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from commonplace.identity import keyring
from commonplace.kernel.items import key
from commonplace.kernel.rotation import Rotation, RotationRefused
from commonplace.kernel.table import Table

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicNumbers
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

logger = logging.getLogger(__name__)

PUBLIC_KEYS = key("keys", "public")

SAMPLE = b"commonplace signing key"


class SigningRotation:
    """`rotation.Rotated` for key rings (`identity.keyring`)."""

    def __init__(self, client: DynamoDBClient, table: str, now: Callable[[], float]) -> None:
        self._table, self._now = Table(client, table), now

    def following(self, current: str) -> str:
        return keyring.as_json(keyring.next_ring(keyring.from_json(current), int(self._now())))

    def at_once(self) -> str:
        """A ring of one new key that signs now; whatever others signed is worthless as soon as this is published."""
        return keyring.as_json(keyring.next_ring((), int(self._now()), at_once=True))

    def publish(self, pending: str) -> None:
        jwks = keyring.public_jwks(keyring.from_json(pending), self._now())
        self._table.write(self._table.put(PUBLIC_KEYS, {"jwks": jwks}))

    def check(self, pending: str) -> None:
        """Signs with the newest key and verifies with what was published. Raises RotationRefused."""
        newest = max(keyring.from_json(pending), key=lambda key: key.signs_from, default=None)
        if newest is None or not _fits(newest.jwk, self._published().get(newest.kid, {})):
            raise RotationRefused("The newest key does not sign what the published one verifies.")

    def _published(self) -> Mapping[str, Mapping[str, Any]]:
        published = self._table.get(PUBLIC_KEYS) or {"jwks": '{"keys": []}'}
        return {key["kid"]: key for key in json.loads(published["jwks"])["keys"]}


class SigningFunction:
    """Called by Secrets Manager, step by step, and by operators when a key has leaked."""

    def __init__(self, secrets: SecretsManagerClient, arn: str, keys: SigningRotation) -> None:
        self._secrets, self._arn, self._keys = secrets, arn, keys
        self._rotation = Rotation(secrets, arn, keys)

    def __call__(self, event: Mapping[str, Any], _context: object) -> None:
        """Raises what went wrong: Secrets Manager tries again, and an alarm is raised."""
        if event.get("source") == "commonplace.operator" and event.get("atOnce") is True:
            # The secret first: a key that is in use and not yet published fails closed, the other way round signs on.
            ring = self._keys.at_once()
            self._secrets.put_secret_value(SecretId=self._arn, SecretString=ring)
            self._keys.publish(ring)
            logger.warning("signing keys replaced at once")
        else:
            self._rotation.step(event)


def _fits(private: Mapping[str, Any], public: Mapping[str, Any]) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256

    if "d" not in private or not {"x", "y"} <= public.keys():
        return False
    algorithm = ec.ECDSA(SHA256())
    try:
        key = ec.EllipticCurvePrivateNumbers(_number(private["d"]), _numbers(private)).private_key()
        _numbers(public).public_key().verify(key.sign(SAMPLE, algorithm), SAMPLE, algorithm)
    except (InvalidSignature, ValueError):
        return False
    return True


def _numbers(jwk: Mapping[str, Any]) -> EllipticCurvePublicNumbers:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.EllipticCurvePublicNumbers(_number(jwk["x"]), _number(jwk["y"]), ec.SECP256R1())


def _number(text: str) -> int:
    return int.from_bytes(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
