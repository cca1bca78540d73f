"""The GitHub secret of a deployment, read from Secrets Manager and kept in the process for five minutes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

CACHE_SECONDS = 300

_SHAPE = (
    'a JSON object with "webhookSecret" and, for private repositories or more than 60 calls an hour, '
    '"token" or "appId", "installationId" and "privateKey"'
)


class MalformedSecret(Exception):
    """The secret is not what its readers need. Never quotes it."""


@dataclass(frozen=True, slots=True)
class GitHubSecret:
    """What GitHub and this deployment know of each other. Nothing of it shows in `repr`."""

    webhook_secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)
    app_id: str | None = field(default=None, repr=False)
    installation_id: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)

    @classmethod
    def from_json(cls, text: str) -> GitHubSecret:
        """Raises MalformedSecret. Empty values count as absent; ids may be numbers."""
        try:
            values = json.loads(text)
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise MalformedSecret(f"the GitHub secret must be {_SHAPE}")

        def text_of(name: str) -> str | None:
            value = values.get(name)
            return str(value).strip() or None if isinstance(value, str | int) else None

        secret = text_of("webhookSecret")
        app = (text_of("appId"), text_of("installationId"), text_of("privateKey"))
        if secret is None or (any(app) and not all(app)):
            raise MalformedSecret(f"the GitHub secret must be {_SHAPE}")
        return cls(secret, text_of("token"), *app)


class GitHubSecrets:
    """Reads the secret when it is first needed, and again when five minutes have passed."""

    def __init__(
        self, client: SecretsManagerClient, arn: str, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._arn = arn
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._kept: tuple[float, GitHubSecret] | None = None

    def current(self) -> GitHubSecret:
        with self._lock:
            if self._kept is None or self._monotonic() - self._kept[0] >= CACHE_SECONDS:
                answer = self._client.get_secret_value(SecretId=self._arn)
                self._kept = (self._monotonic(), GitHubSecret.from_json(answer.get("SecretString", "")))
            return self._kept[1]
