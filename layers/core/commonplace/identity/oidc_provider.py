"""The HTTP client of an OpenID Connect provider: bounded, without redirects, metadata and keys cached for an hour.

The operator names the provider, so its address may be a private one: this is not the client for addresses of users.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode

from commonplace.identity.oidc import Metadata, ProviderTokens, metadata_of, parse_document, tokens_of
from commonplace.kernel.errors import Unavailable

if TYPE_CHECKING:
    from urllib3 import PoolManager

SECONDS = 5.0
MAX_BYTES = 256_000
KEPT_SECONDS = 3_600
LOOK_AGAIN_SECONDS = 30
"""At the soonest, for a key that is not known."""


@dataclass(eq=False, repr=False)
class HttpProvider:
    """`identity.oidc.Provider`.

    `secret` gives the client's secret, or None for a public client; it is called at each exchange.
    """

    issuer: str
    client_id: str
    secret: Callable[[], str | None]
    _: KW_ONLY
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[str, tuple[float, Any]] = {}
        self._pool: PoolManager | None = None

    def metadata(self) -> Metadata:
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        found: Metadata = self._remembered("metadata", lambda: metadata_of(self._get(url), self.issuer), KEPT_SECONDS)
        return found

    def keys(self, *, again: bool = False) -> Mapping[str, Any]:
        url = self.metadata().jwks_uri
        found = self._remembered("keys", lambda: self._get(url), LOOK_AGAIN_SECONDS if again else KEPT_SECONDS)
        return found if isinstance(found, dict) else {}

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> ProviderTokens | None:
        status, body = self._token(
            {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, "code_verifier": verifier}
        )
        if status == 400:
            return None
        if status != 200:
            raise _unusable()
        return tokens_of(body)

    def refresh(self, token: str) -> ProviderTokens | None:
        status, body = self._token({"grant_type": "refresh_token", "refresh_token": token})
        if status == 200:
            return tokens_of(body)
        # Any other error, such as a client secret that has run out, is no word about the account.
        if isinstance(body, dict) and body.get("error") == "invalid_grant":
            return None
        raise _unusable()

    def userinfo(self, access_token: str) -> Mapping[str, Any] | None:
        url = self.metadata().userinfo_endpoint
        if url is None:
            raise _unusable()
        status, body = self._ask("GET", url, headers={"authorization": f"Bearer {access_token}"})
        if status in (401, 403):
            return None
        if status != 200 or not isinstance(body, dict):
            raise _unusable()
        return body

    def _token(self, form: Mapping[str, str]) -> tuple[int, Any]:
        """Return what the token endpoint answers: 200, or an error of RFC 6749, section 5.2."""
        headers = {"content-type": "application/x-www-form-urlencoded"}
        if (secret := self.secret()) is None:
            form = {**form, "client_id": self.client_id}
        else:
            pair = f"{quote_plus(self.client_id)}:{quote_plus(secret)}"  # RFC 6749, section 2.3.1
            headers["authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        return self._ask("POST", self.metadata().token_endpoint, urlencode(form).encode(), headers)

    def _remembered(self, name: str, ask: Callable[[], Any], seconds: float) -> Any:
        with self._lock:
            kept = self._kept.get(name)
        if kept is not None and self.monotonic() - kept[0] < seconds:
            return kept[1]
        value = ask()
        with self._lock:
            self._kept[name] = (self.monotonic(), value)
        return value

    def _get(self, url: str) -> Any:
        status, body = self._ask("GET", url)
        if status != 200:
            raise Unavailable("The identity provider does not answer.")
        return body

    def _ask(
        self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        from urllib3 import PoolManager, Retry, Timeout
        from urllib3.exceptions import HTTPError

        if self._pool is None:
            self._pool = PoolManager(retries=Retry(False), timeout=Timeout(total=SECONDS))
        try:
            answer = self._pool.request(
                method,
                url,
                body=body,
                headers={"accept": "application/json", **(headers or {})},
                redirect=False,
                preload_content=False,
            )
            try:
                text = answer.read(MAX_BYTES + 1)
            finally:
                answer.release_conn()
        except HTTPError as error:
            raise Unavailable("The identity provider does not answer.") from error
        if len(text) > MAX_BYTES:
            raise Unavailable("The identity provider's answer is too large.")
        return answer.status, parse_document(text)


def _unusable() -> Unavailable:
    return Unavailable("The identity provider's answer cannot be used.")
