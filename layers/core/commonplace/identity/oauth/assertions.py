"""Client assertions: `private_key_jwt` (RFC 7523, OpenID Connect Core section 9).

A client signs a short statement that it is itself. Each is good for one use: its name is kept until after the moment
from which no clock would still take it.
"""

import json
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from typing import Any

from commonplace.identity.oauth.client_keys import ClientKeys, KeysUnavailable
from commonplace.identity.oauth.client_metadata import ALGORITHMS, usable
from commonplace.identity.ports import ClientStore
from commonplace.identity.records import Client
from commonplace.kernel.fetch import Fetcher
from commonplace.kernel.limits import Limiter

MAX_ASSERTION_CHARACTERS = 8_192
MAX_NAME_CHARACTERS = 256
"""Of a `jti` and a `kid`."""

LONGEST_SECONDS = 3_600
SKEW_SECONDS = 60
LAST_TIME = 2**53
"""No clock will ever say this."""

TYPES = ("jwt", "client-authentication+jwt")
STRICT_TYPE = "client-authentication+jwt"
"""Says that its audience is the issuer, and nothing else (RFC 7523bis)."""


class BadAssertion(Exception):
    """The client has not proved who it is. `reason` is for the log: a stable code, nothing of the assertion."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Assertions:
    """Checks assertions, each good for one use."""

    def __init__(
        self,
        store: ClientStore,
        fetcher: Fetcher,
        limiter: Limiter,
        clock: Callable[[], float],
        *,
        issuer: str,
        token_endpoint: str,
    ) -> None:
        """`clock` gives epoch seconds."""
        self._store = store
        self._keys = ClientKeys(fetcher, limiter, clock)
        self._issuer = issuer
        self._token_endpoint = token_endpoint
        self._clock = clock

    def check(self, client: Client, assertion: str) -> None:
        """Raises BadAssertion, RateLimited, Unavailable."""
        header = _header(assertion)
        claims = _verified(assertion, header["alg"], self._key(client, header))
        now = self._clock()
        if claims.get("iss") != client.id or claims.get("sub") != client.id:
            raise BadAssertion("not_of_this_client")
        self._check_audience(claims.get("aud"), header)
        expires = _check_times(claims, now)
        name = claims.get("jti")
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_CHARACTERS:
            raise BadAssertion("jti_missing")
        # Last of all, so that nothing but a good assertion is ever spent.
        if not self._store.once("jti", f"{client.id} {name}", int(expires) + 2 * SKEW_SECONDS):
            raise BadAssertion("used_before")

    def _key(self, client: Client, header: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            keys = self._keys.named(client, header["kid"])
        except KeysUnavailable as error:
            raise BadAssertion(error.reason) from error
        fitting = [key for key in keys if usable(key, header["alg"])]
        if len(fitting) != 1:
            raise BadAssertion("key_unknown")
        return fitting[0]

    def _check_audience(self, audience: Any, header: Mapping[str, Any]) -> None:
        """All of it must be ours: an assertion that others take as well is one that they could use here."""
        strict = str(header.get("typ", "")).lower() == STRICT_TYPE
        ours = {self._issuer} if strict else {self._issuer, self._token_endpoint}
        named = [audience] if isinstance(audience, str) else audience
        if not isinstance(named, list) or not named or not all(isinstance(one, str) and one in ours for one in named):
            raise BadAssertion("other_audience")


def _header(assertion: str) -> dict[str, Any]:
    """What says how the assertion is signed; nothing of it is believed before the signature is checked."""
    if len(assertion) > MAX_ASSERTION_CHARACTERS:
        raise BadAssertion("malformed")
    text = assertion.partition(".")[0]
    try:
        header = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, RecursionError) as error:
        raise BadAssertion("malformed") from error
    if not isinstance(header, dict) or "crit" in header or "b64" in header:
        raise BadAssertion("malformed")
    if header.get("alg") not in ALGORITHMS:
        raise BadAssertion("algorithm_not_allowed")
    kid, kind = header.get("kid"), header.get("typ", "JWT")
    if not isinstance(kid, str) or not 0 < len(kid) <= MAX_NAME_CHARACTERS:
        raise BadAssertion("kid_missing")
    if not isinstance(kind, str) or kind.lower() not in TYPES:
        raise BadAssertion("other_type")
    return header


def _verified(assertion: str, algorithm: str, key: Mapping[str, Any]) -> dict[str, Any]:
    """The claims under a good signature."""
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, RSAKey
    from joserfc.jws import JWSRegistry

    registry = JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    try:
        public = (ECKey if algorithm == "ES256" else RSAKey).import_key(dict(key))
        return dict(jwt.decode(assertion, public, algorithms=[algorithm], registry=registry).claims)
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise BadAssertion("signature_wrong") from error


def _check_times(claims: Mapping[str, Any], now: float) -> float:
    """When the assertion expires."""
    expires = _time(claims, "exp")
    if expires is None:
        raise BadAssertion("exp_missing")
    if expires <= now - SKEW_SECONDS:
        raise BadAssertion("expired")
    if expires > now + LONGEST_SECONDS + SKEW_SECONDS:
        raise BadAssertion("lasts_too_long")
    if any((_time(claims, name) or 0) > now + SKEW_SECONDS for name in ("iat", "nbf")):
        raise BadAssertion("not_yet_valid")
    return expires


def _time(claims: Mapping[str, Any], name: str) -> float | None:
    """Epoch seconds; None where there are none. Raises BadAssertion for what is no time at all."""
    value = claims.get(name)
    if value is None:
        return None
    # Neither a truth value nor infinity is a time, though Python compares both as numbers.
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < LAST_TIME:
        raise BadAssertion(f"{name}_malformed")
    return float(value)
