"""Client authentication at the token, revocation and introspection endpoints (RFC 6749 section 2.3, RFC 7523)."""

import binascii
import json
import logging
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote_plus

from commonplace.identity.oauth.assertions import MAX_ASSERTION_CHARACTERS, Assertions, BadAssertion
from commonplace.identity.oauth.clients import Clients, UnknownClient
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.records import AuthMethod, Client
from commonplace.identity.secrets import digest, same

logger = logging.getLogger(__name__)

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

REALM = "commonplace"

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class _Presented:
    """Who a request says it is from, and how it says so."""

    client_id: str
    method: AuthMethod
    secret: str = ""
    """Or the assertion."""


class _Refused(Exception):
    """Not authenticated. `reason` is for the log: a stable code."""


class Authentication:
    """Finds out which client sends a request, by the method that the client is registered with and no other."""

    def __init__(self, clients: Clients, assertions: Assertions) -> None:
        self._clients = clients
        self._assertions = assertions

    def authenticate(self, headers: Mapping[str, str], form: Mapping[str, str], network: str = "") -> Client:
        """The client. Header names are lower-case; `form` has each parameter once.

        Raises OAuthError (401 `invalid_client`, with `WWW-Authenticate: Basic` iff the Authorization header was used;
        400 `invalid_request`), RateLimited, Unavailable.
        """
        authorization = headers.get("authorization", "").strip()
        try:
            presented = _presented(authorization, form)
            client = self._prove(presented, network)
        except (_Refused, UnknownClient, BadAssertion) as error:
            raise _invalid_client(str(error), challenge=bool(authorization)) from error
        self._clients.used(client)
        return client

    def _prove(self, presented: _Presented, network: str) -> Client:
        try:
            client = self._clients.find(presented.client_id, network)
        except UnknownClient:
            # As much work as a wrong secret of a known client.
            same(digest(presented.secret), digest(presented.client_id))
            raise
        if not _method_fits(client, presented.method):
            raise _Refused("other_method_registered")
        if client.auth_method == "private_key_jwt":
            self._assertions.check(client, presented.secret)
        elif client.auth_method != "none" and not same(digest(presented.secret), client.secret_hash or ""):
            raise _Refused("wrong_secret")
        return client


def _method_fits(client: Client, method: AuthMethod) -> bool:
    """A client that left its method out when it registered may send its secret either way."""
    either = {"client_secret_basic", "client_secret_post"}
    defaulted = client.auth_method in either and not client.method_given
    return method == client.auth_method or (defaulted and method in either)


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
        return _asserted(client_id, assertion, kind)
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


def _asserted(client_id: str, assertion: str, kind: str) -> _Presented:
    """The form may leave the client out: then the assertion names it, and is checked to be that client's."""
    if kind != ASSERTION_TYPE or not assertion or len(assertion) > MAX_ASSERTION_CHARACTERS:
        raise _Refused("assertion_malformed")
    return _Presented(client_id or _subject(assertion), "private_key_jwt", assertion)


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


def _invalid_client(reason: str, *, challenge: bool) -> OAuthError:
    """The same words for a client that is unknown and for one that has not proved itself."""
    logger.info("a client did not authenticate", extra={"reason": reason})
    return OAuthError(
        "invalid_client",
        "The client is not known, or did not prove who it is in the way it registered for.",
        status=401,
        headers={"WWW-Authenticate": f'Basic realm="{REALM}", charset="UTF-8"'} if challenge else {},
        reason=reason,
    )
