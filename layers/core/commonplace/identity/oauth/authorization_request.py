"""The authorization request at /authorize, checked in the order that decides who may learn of an error.

Until client and redirect URI are known to belong together, an error is a page of ours. Afterwards it may go to the
client, with `iss` and `state` (RFC 6749, section 4.1.2.1; RFC 9207), if the browser may be redirected there before its
person has decided anything (`Consents.may_hear`; RFC 9700, section 4.11.2). Else it is a page of ours as well.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import parse_qsl, urlencode

from commonplace.identity.memberships import takes_membership
from commonplace.identity.oauth.agent_names import is_agent_like
from commonplace.identity.oauth.clients import Clients, UnknownClient
from commonplace.identity.principals import parse_scopes, within, without_offline_access
from commonplace.identity.records import AuthorizationRequest, Client
from commonplace.identity.redirects import redirect_allowed, redirect_matches
from commonplace.identity.resources import Resources

BYTES = "surrogateescape"
"""Keeps in texts what is no UTF-8: `state` goes back byte for byte."""

MAX_PARAMETERS = 50
MAX_STATE_CHARACTERS = 4_096

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
"""A SHA-256 in base64url, without padding (RFC 7636, section 4.2)."""


class LocalRefusal(Exception):
    """Shown to the person as a page of ours with status 400; never a redirect."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


class RequestRefused(Exception):
    """The request is invalid. The error goes to the client at `url`, if it may. `description` is ours."""

    def __init__(self, client: Client, redirect_uri: str, url: str, *, code: str, description: str) -> None:
        super().__init__(code)
        self.client = client
        self.redirect_uri = redirect_uri
        self.url = url
        self.code = code
        self.description = description


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidRequest:
    """A request that was understood."""

    client: Client
    request: AuthorizationRequest
    prompts: frozenset[str] = frozenset()
    """Words of `prompt`: `consent` asks again although an answer is remembered, `login` wants a new sign-in."""


def read_query(query: bytes) -> list[tuple[str, str]]:
    """Names and values of a query string, bytes that are no UTF-8 kept (surrogateescape), for `understand`.

    Raises LocalRefusal when there are too many.
    """
    text = query.decode("utf-8", BYTES)
    try:
        return parse_qsl(text, keep_blank_values=True, errors=BYTES, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        raise LocalRefusal("The address of this page has too many parts.", reason="too_many_parameters") from None


def understand(
    params: Sequence[tuple[str, str]],
    clients: Clients,
    resources: Resources,
    *,
    issuer: str,
    network: str = "",
) -> ValidRequest:
    """The request of a client. `network` is `kernel.limits.network` of the caller.

    Raises LocalRefusal, RequestRefused, RateLimited, Unavailable.
    """
    # A parameter without a value counts as left out (RFC 6749, section 3.1).
    given = [(name, value) for name, value in params if value]
    client_id = _only(given, "client_id")
    if client_id is None:
        raise LocalRefusal("This link does not say which application it comes from.", reason="no_client")
    try:
        client = clients.find(client_id, network)
    except UnknownClient as error:
        told = "The application is unknown or was removed. Start again from there."
        raise LocalRefusal(told, reason=error.reason) from error
    named = _only(given, "redirect_uri")
    states = [value for name, value in given if name == "state"]
    back = _Back(
        client,
        _redirect_uri(client, named),
        issuer,
        states[0] if len(states) == 1 and len(states[0]) <= MAX_STATE_CHARACTERS else None,
    )
    if len(given) != len(dict(given)):
        back.refuse(*_repeated(given))
    values = dict(given)
    if values.get("response_type") != "code" or "authorization_code" not in client.grant_types:
        back.refuse("unsupported_response_type", "This server answers response_type=code only.")
    if values.get("response_mode", "query") != "query":
        back.refuse("invalid_request", "This server answers in the query only.")
    if len(values.get("state", "")) > MAX_STATE_CHARACTERS:
        back.refuse("invalid_request", f"state may have at most {MAX_STATE_CHARACTERS} characters.")
    # A method that is left out means plain (RFC 7636, section 4.3), which nobody may use here.
    if values.get("code_challenge_method") != "S256":
        back.refuse("invalid_request", "PKCE is needed: code_challenge_method must be S256.")
    if not _CHALLENGE.fullmatch(values.get("code_challenge", "")):
        back.refuse("invalid_request", "PKCE is needed: code_challenge must be 43 characters of base64url.")
    resource = resources.canonical(values.get("resource", issuer))
    if resource is None:
        back.refuse("invalid_target", "There is no such resource. The metadata lists all.")
    if takes_membership(resource) and is_agent_like(client.name):
        back.refuse("unauthorized_client", 'Whoever acts for a member is not called like "AI Agent (via NAME)".')
    request = AuthorizationRequest(
        client_id=client.id,
        redirect_uri=back.uri,
        redirect_given=named is not None,
        resource=resource,
        scopes=_scopes(client, values.get("scope", ""), resource, resources, back),
        challenge=values["code_challenge"],
        state=back.state,
    )
    return ValidRequest(client=client, request=request, prompts=frozenset(values.get("prompt", "").split()))


def answer_url(redirect_uri: str, *, issuer: str, state: str | None, **values: str) -> str:
    """The redirect URI with its own query kept, and `values`, `state` (if there is one) and `iss` added."""
    told = values | ({} if state is None else {"state": state}) | {"iss": issuer}
    joint = "&" if "?" in redirect_uri else "?"
    return redirect_uri + ("" if redirect_uri.endswith(("?", "&")) else joint) + urlencode(told, errors=BYTES)


@dataclass(frozen=True, slots=True)
class _Back:
    """The way back to the client."""

    client: Client
    uri: str
    issuer: str
    state: str | None

    def refuse(self, code: str, description: str) -> NoReturn:
        told = {"error": code, "error_description": description}
        url = answer_url(self.uri, issuer=self.issuer, state=self.state, **told)
        raise RequestRefused(self.client, self.uri, url, code=code, description=description)


def _only(given: Sequence[tuple[str, str]], name: str) -> str | None:
    """The value of a parameter that decides where errors go."""
    values = [value for one, value in given if one == name]
    if len(values) > 1:
        raise LocalRefusal(f"This link names {name} more than once.", reason="repeated_parameter")
    return values[0] if values else None


def _redirect_uri(client: Client, named: str | None) -> str:
    if named is None and len(client.redirect_uris) == 1:
        named = client.redirect_uris[0]
        if redirect_allowed(named):
            return named
    if named is None or not redirect_matches(client.redirect_uris, named):
        told = "The redirect URI is not registered for the application. Do not continue from there."
        raise LocalRefusal(told, reason="redirect_unregistered")
    return named


def _repeated(given: Sequence[tuple[str, str]]) -> tuple[str, str]:
    if sum(name == "resource" for name, _ in given) > 1:
        return "invalid_target", "A token is for one resource: name one."
    return "invalid_request", "A parameter came more than once."


def _scopes(client: Client, text: str, resource: str, resources: Resources, back: _Back) -> tuple[str, ...]:
    """Those that are known, in the order of the catalogue; reading where none are requested."""
    try:
        requested = without_offline_access(parse_scopes(text))
    except ValueError:
        back.refuse("invalid_scope", "A scope has characters that no scope may have.")
    known = resources.catalogue(resource)
    wanted = [one for one in requested if one in known] if requested else resources.baseline(resource)
    scopes = within(wanted, client.scopes or known)
    if not scopes:
        back.refuse("invalid_scope", "None of these scopes exists for this resource.")
    return scopes
