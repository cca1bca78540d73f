"""Who may call: tokens given out beforehand, and installation tokens that a GitHub App earns with a signed claim."""

import hmac
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from werkzeug.wrappers import Request

from local.github.answers import Refused

LONGEST_CLAIM_SECONDS = 600
CLOCK_DRIFT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class AppKey:
    """A GitHub App, one installation of it, and the public half of its key (PEM)."""

    app_id: str
    installation_id: int
    public_key: str


class Credentials:
    """Without tokens and without an App, any credential is good, as a public repository is readable with any."""

    def __init__(self, tokens: Iterable[str] = (), app: AppKey | None = None) -> None:
        self._tokens = set(tokens)
        self._app = app

    def check(self, request: Request, *, required: bool) -> bool:
        """Whether there is a credential. Raises Refused 401 for a wrong one, and for none where one is required."""
        given = _bearer(request)
        if given is None:
            if required:
                raise Refused(401, "Requires authentication")
            return False
        known = any(hmac.compare_digest(given.encode(), token.encode()) for token in self._tokens)
        if (self._tokens or self._app) and not known:
            raise Refused(401, "Bad credentials")
        return True

    def installation_token(self, request: Request, installation: int) -> dict[str, Any]:
        """A new token for the installation (GitHub docs, "Generating an installation access token")."""
        app = self._app
        if app is None or installation != app.installation_id:
            raise Refused(404, "Not Found")
        _check_claim(_bearer(request), app)
        token = f"ghs_{secrets.token_hex(18)}"
        self._tokens.add(token)
        expires = datetime.now(UTC) + timedelta(hours=1)
        return {"token": token, "expires_at": f"{expires:%Y-%m-%dT%H:%M:%SZ}", "repository_selection": "selected"}


def _bearer(request: Request) -> str | None:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    return value.strip() if scheme.lower() in {"bearer", "token"} and value.strip() else None


def _check_claim(claim: str | None, app: AppKey) -> None:
    """RS256, issued by the App, alive, for at most ten minutes."""
    try:
        claims = jwt.decode(claim or "", RSAKey.import_key(app.public_key), algorithms=["RS256"]).claims
        issued, expires, now = int(claims["iat"]), int(claims["exp"]), time.time()
    except (JoseError, ValueError, KeyError, TypeError) as error:
        raise Refused(401, "A JSON web token could not be decoded") from error
    if str(claims.get("iss")) != app.app_id:
        raise Refused(401, "'Issuer' claim ('iss') must be the App's id")
    if (
        not issued <= now + CLOCK_DRIFT_SECONDS
        or not now < expires <= now + LONGEST_CLAIM_SECONDS + CLOCK_DRIFT_SECONDS
    ):
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")
