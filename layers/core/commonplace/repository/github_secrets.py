"""The GitHub secrets of a deployment, read from Secrets Manager and cached in the process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.secrets import KeptSecret

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient


_SHAPE = (
    'a JSON object with "webhookSecret" and, for private repositories or more than 60 calls an hour, '
    '"token" or "appId", "installationId" and "privateKey"'
)

_WRITER_SHAPE = 'a JSON object with "token" or "appId", "installationId" and "privateKey"'


class MalformedSecret(ValueError):
    """The secret is not what its readers need. Never quotes it."""


@dataclass(frozen=True, slots=True)
class GitHubSecret:
    """Credentials and webhook secrets for GitHub. Hidden in `repr`."""

    webhook_secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)
    app_id: str | None = field(default=None, repr=False)
    installation_id: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)

    @classmethod
    def from_json(cls, text: str) -> GitHubSecret:
        """Raises MalformedSecret. Empty values count as absent; ids may be numbers."""
        values = _values(text)
        secret, app = _text(values, "webhookSecret"), _app(values)
        if secret is None or (any(app) and not all(app)):
            raise MalformedSecret(f"the GitHub secret must be {_SHAPE}")
        return cls(secret, _text(values, "token"), *app)


@dataclass(frozen=True, slots=True)
class GitHubWriter:
    """Credentials that open pull requests: a token, or an App, without webhook secrets. Hidden in `repr`."""

    token: str | None = field(default=None, repr=False)
    app_id: str | None = field(default=None, repr=False)
    installation_id: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)

    @classmethod
    def from_json(cls, text: str) -> GitHubWriter:
        """Raises MalformedSecret. Empty values count as absent: nobody has put a credential in yet."""
        values = _values(text)
        app = _app(values)
        if "token" not in values and not all(app):
            raise MalformedSecret(f"the GitHub writer's secret must be {_WRITER_SHAPE}")
        return cls(_text(values, "token"), *app)


Secret = TypeVar("Secret", bound=GitHubSecret | GitHubWriter)


def _values(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    return values if isinstance(values, dict) else {}


def _text(values: dict[str, Any], name: str) -> str | None:
    value = values.get(name)
    return str(value).strip() or None if isinstance(value, str | int) else None


def _app(values: dict[str, Any]) -> tuple[str | None, str | None, str | None]:
    return _text(values, "appId"), _text(values, "installationId"), _text(values, "privateKey")


class _Credentials(KeptSecret[Secret]):
    kind: type[Any]

    def __init__(
        self, client: SecretsManagerClient, arn: str, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(client, arn, self.kind.from_json, monotonic=monotonic)

    def current(self) -> Secret:
        """Raises MalformedSecret, and what the client raises: each with words of its own."""
        try:
            return super().current()
        except Unavailable as unavailable:
            raise unavailable.__cause__ or unavailable from None


class GitHubSecrets(_Credentials[GitHubSecret]):
    """The secret that the webhook and the sync share."""

    kind = GitHubSecret


class GitHubWriterSecrets(_Credentials[GitHubWriter]):
    """The secret of the function that proposes documents: it can write, and the others' cannot."""

    kind = GitHubWriter
