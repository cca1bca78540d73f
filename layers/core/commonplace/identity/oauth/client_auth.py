"""Client authentication at the token, revocation and introspection endpoints (RFC 6749 section 2.3, RFC 7523).

Client assertions (`private_key_jwt`, OpenID Connect Core section 9) are good for one use: each `jti` is kept until no
clock would accept the assertion any more.
"""

import binascii
import json
import logging
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any
from urllib.parse import unquote_plus

from commonplace.identity.oauth.client_documents import ClientKeys, KeysUnavailable
from commonplace.identity.oauth.client_metadata import ALGORITHMS, usable
from commonplace.identity.oauth.clients import Clients, UnknownClient
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.ports import ClientStore
from commonplace.identity.records import AuthMethod, Client
from commonplace.identity.secrets import digest, same
from commonplace.kernel.errors import Reasoned
from commonplace.kernel.fetch import Fetcher
from commonplace.kernel.limits import Limiter

logger = logging.getLogger(__name__)

MAX_ASSERTION_CHARACTERS = 8_192
MAX_NAME_CHARACTERS = 256
"""The bound of a `jti` and a `kid`."""

LONGEST_SECONDS = 3_600
SKEW_SECONDS = 60
LAST_TIME = 2**53
"""No clock will ever say this."""

TYPES = ("jwt", "client-authentication+jwt")
STRICT_TYPE = "client-authentication+jwt"
"""Says that its audience is the issuer, and nothing else (RFC 7523bis)."""

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

REALM = "commonplace"

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


class BadAssertion(Reasoned):
    """The client has not proved who it is. `reason` is for the log: a stable code, nothing of the assertion."""


@dataclass(eq=False, repr=False)
class Assertions:
    """Checks assertions, each good for one use."""

    store: ClientStore
    fetcher: Fetcher
    limiter: Limiter
    clock: Callable[[], float]
    _: KW_ONLY
    issuer: str
    token_endpoint: str

    def __post_init__(self) -> None:
        self._keys = ClientKeys(self.fetcher, self.limiter, self.clock)

    def check(self, client: Client, assertion: str) -> None:
        """Raises BadAssertion, RateLimited, Unavailable."""
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import ECKey, RSAKey
        from joserfc.jws import JWSRegistry

        header = _header(assertion)
        try:
            keys = self._keys.named(client, header["kid"])
        except KeysUnavailable as error:
            raise BadAssertion(error.reason) from error
        fitting = [key for key in keys if usable(key, header["alg"])]
        if len(fitting) != 1:
            raise BadAssertion("key_unknown")
        algorithm = header["alg"]
        registry = JWSRegistry(algorithms=[algorithm], strict_check_header=False)
        try:
            public = (ECKey if algorithm == "ES256" else RSAKey).import_key(dict(fitting[0]))
            claims = dict(jwt.decode(assertion, public, algorithms=[algorithm], registry=registry).claims)
        except (JoseError, ValueError, TypeError, RecursionError) as error:
            raise BadAssertion("signature_wrong") from error
        now = self.clock()
        if claims.get("iss") != client.id or claims.get("sub") != client.id:
            raise BadAssertion("not_of_this_client")
        # All of it must be ours: an assertion that others take as well is one that they could use here.
        audience = claims.get("aud")
        strict = str(header.get("typ", "")).lower() == STRICT_TYPE
        ours = {self.issuer} if strict else {self.issuer, self.token_endpoint}
        named = [audience] if isinstance(audience, str) else audience
        if not isinstance(named, list) or not named or not all(isinstance(one, str) and one in ours for one in named):
            raise BadAssertion("other_audience")
        expires = _time(claims, "exp")
        if expires is None:
            raise BadAssertion("exp_missing")
        if expires <= now - SKEW_SECONDS:
            raise BadAssertion("expired")
        if expires > now + LONGEST_SECONDS + SKEW_SECONDS:
            raise BadAssertion("lasts_too_long")
        if any((_time(claims, name) or 0) > now + SKEW_SECONDS for name in ("iat", "nbf")):
            raise BadAssertion("not_yet_valid")
        name = claims.get("jti")
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_CHARACTERS:
            raise BadAssertion("jti_missing")
        # Last of all, so that nothing but a good assertion is ever spent.
        if not self.store.once("jti", f"{client.id} {name}", int(expires) + 2 * SKEW_SECONDS):
            raise BadAssertion("used_before")


def _header(assertion: str) -> dict[str, Any]:
    """Return what says how the assertion is signed; nothing of it is believed before the signature is checked."""
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


def _time(claims: Mapping[str, Any], name: str) -> float | None:
    """Epoch seconds; None where there are none. Raises BadAssertion for what is no time at all."""
    value = claims.get(name)
    if value is None:
        return None
    # Neither a truth value nor infinity is a time, though Python compares both as numbers.
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < LAST_TIME:
        raise BadAssertion(f"{name}_malformed")
    return float(value)


@dataclass(frozen=True, slots=True)
class _Presented:
    """The client that a request claims to come from, and its method of authentication."""

    client_id: str
    method: AuthMethod
    secret: str = ""
    """Or the assertion."""


class _Refused(Exception):
    """Not authenticated. `reason` is for the log: a stable code."""


@dataclass(eq=False, repr=False)
class Authentication:
    """Finds out which client sends a request, by the method that the client is registered with and no other."""

    clients: Clients
    assertions: Assertions

    def authenticate(self, headers: Mapping[str, str], form: Mapping[str, str], network: str = "") -> Client:
        """The client. Header names are lower-case; `form` has each parameter once.

        Raises OAuthError (401 `invalid_client`, with `WWW-Authenticate: Basic` iff the Authorization header was used;
        400 `invalid_request`), RateLimited, Unavailable.
        """
        authorization = headers.get("authorization", "").strip()
        try:
            presented = _presented(authorization, form)
            try:
                client = self.clients.find(presented.client_id, network)
            except UnknownClient:
                # As much work as a wrong secret of a known client.
                same(digest(presented.secret), digest(presented.client_id))
                raise
            # A client that left its method out when it registered may send its secret either way.
            either = {"client_secret_basic", "client_secret_post"}
            defaulted = client.auth_method in either and not client.method_given
            if not (presented.method == client.auth_method or (defaulted and presented.method in either)):
                raise _Refused("other_method_registered")
            if client.auth_method == "private_key_jwt":
                self.assertions.check(client, presented.secret)
            elif client.auth_method != "none" and not same(digest(presented.secret), client.secret_hash or ""):
                raise _Refused("wrong_secret")
        except (_Refused, UnknownClient, BadAssertion) as error:
            # The same words for a client that is unknown and for one that has not proved itself.
            logger.info("a client did not authenticate", extra={"reason": str(error)})
            raise OAuthError(
                "invalid_client",
                "The client is not known, or did not prove who it is in the way it registered for.",
                status=401,
                headers={"WWW-Authenticate": f'Basic realm="{REALM}", charset="UTF-8"'} if authorization else {},
                reason=str(error),
            ) from error
        self.clients.used(client)
        return client


def _presented(authorization: str, form: Mapping[str, str]) -> _Presented:
    """An empty parameter counts as left out (RFC 6749, section 3.1)."""
    client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    assertion, kind = form.get("client_assertion", ""), form.get("client_assertion_type", "")
    asserted = bool(assertion or kind)
    if bool(authorization) + bool(secret) + asserted > 1:
        raise _twice("A client authenticates in one way, not in several.")
    if authorization:
        found = _basic(authorization)
        if client_id and client_id != found.client_id:
            raise _twice("The client in the form is not the one in the Authorization header.")
        return found
    if asserted:
        # The form may leave the client out: then the assertion names it, and is checked to be that client's.
        if kind != ASSERTION_TYPE or not assertion or len(assertion) > MAX_ASSERTION_CHARACTERS:
            raise _Refused("assertion_malformed")
        return _Presented(client_id or _subject(assertion), "private_key_jwt", assertion)
    if not client_id:
        raise _Refused("no_credentials")
    return _Presented(client_id, "client_secret_post", secret) if secret else _Presented(client_id, "none")


def _basic(authorization: str) -> _Presented:
    """Both halves are encoded as in a form before they are joined (RFC 6749, section 2.3.1)."""
    scheme, _, told = authorization.partition(" ")
    if scheme.lower() != "basic":
        raise _Refused("scheme_unknown")
    try:
        client_id, colon, secret = b64decode(told.strip(), validate=True).decode().partition(":")
        if not colon or _BROKEN_ESCAPE.search(client_id + secret):
            raise _Refused("basic_malformed")
        client_id, secret = (unquote_plus(half, errors="strict") for half in (client_id, secret))
    except (binascii.Error, ValueError) as error:
        raise _Refused("basic_malformed") from error
    if not client_id:
        raise _Refused("basic_malformed")
    return _Presented(client_id, "client_secret_basic", secret)


def _subject(assertion: str) -> str:
    try:
        payload = assertion.split(".")[1]
        claims = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError, RecursionError) as error:
        raise _Refused("assertion_malformed") from error
    subject = claims.get("sub") if isinstance(claims, dict) else None
    if not isinstance(subject, str):
        raise _Refused("assertion_malformed")
    return subject


def _twice(description: str) -> OAuthError:
    return OAuthError("invalid_request", description)
