"""Credentials for GitHub: none, a token, or an installation of a GitHub App, as the secret says at that moment."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from commonplace.repository.github_secrets import GitHubSecret, GitHubWriter, MalformedSecret
from commonplace.repository.ports import RepositoryUnavailable

if TYPE_CHECKING:
    from commonplace.repository.github_client import GitHubClient


RENEW_BEFORE = timedelta(minutes=5)
CLAIM_LIFE = timedelta(minutes=9)  # GitHub takes ten minutes at most
CLOCK_DRIFT = timedelta(seconds=60)

Access = GitHubSecret | GitHubWriter


class SecretCredentials:
    """Reads the secret again for every request (its reader caches), so a rotated token is taken up."""

    def __init__(self, read: Callable[[], Access]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._earned: tuple[Access, str, datetime] | None = None

    def authorization(self, client: GitHubClient) -> str | None:
        """Return the value of the `Authorization` header; None goes without. May call GitHub to earn it."""
        secret = self._read()
        if secret.app_id and secret.installation_id and secret.private_key:
            with self._lock:
                earned = self._earned
                if earned is None or earned[0] != secret or earned[2] - RENEW_BEFORE <= client.clock():
                    path = f"/app/installations/{secret.installation_id}/access_tokens"
                    answer = client.post(path, f"Bearer {app_claim(secret, client.clock())}", {}, max_bytes=64 * 1024)
                    try:
                        given = json.loads(answer.body)
                        expires = datetime.fromisoformat(str(given["expires_at"]).replace("Z", "+00:00"))
                        earned = self._earned = (secret, str(given["token"]), expires)
                    except (ValueError, KeyError, TypeError):
                        raise RepositoryUnavailable("GitHub issued no installation token") from None
                return f"Bearer {earned[1]}"
        return f"Bearer {secret.token}" if secret.token else None


def app_claim(secret: Access, now: datetime) -> str:
    """Return the JSON web token that a GitHub App signs itself in with (RS256; RFC 7519). Raises MalformedSecret."""
    # Imported here: deployments with a token never need it.
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import RSAKey

    issued, expires = int((now - CLOCK_DRIFT).timestamp()), int((now + CLAIM_LIFE).timestamp())
    try:
        key = RSAKey.import_key(secret.private_key or "")
        return jwt.encode({"alg": "RS256"}, {"iat": issued, "exp": expires, "iss": secret.app_id}, key)
    except (JoseError, ValueError, TypeError):
        raise MalformedSecret("the GitHub secret's privateKey must be an RSA key in PEM form") from None
