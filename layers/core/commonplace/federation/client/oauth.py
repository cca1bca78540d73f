"""OAuth as the client of partners: who signs people in, registration, codes, refreshes, revocation.

Discovery follows RFC 9728 and RFC 8414, with PKCE (RFC 7636), resource indicators (RFC 8707) and the issuer in answers
(RFC 9207). Every request goes through the guarded transport, wherever a partner's metadata leads. Nothing is kept here.
"""

from __future__ import annotations

import base64
import hashlib
import json
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    handle_registration_response,
    issuers_match,
)
from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, OAuthToken
from mcp.shared.auth_utils import check_resource_allowed

from commonplace.federation.client.connection import MAX_SCOPE_CHARACTERS, alone
from commonplace.federation.model import MAX_URL_CHARACTERS, Challenge, Client, Grant, PartnerFailed, Refused, Server

SECONDS = 10.0
MAX_TOKEN_CHARACTERS, MAX_CLIENT_CHARACTERS = 8 * 1024, 500
MAX_TOKEN_SECONDS = 366 * 86_400
CODES = frozenset(
    ("invalid_grant", "invalid_client", "invalid_request", "invalid_scope", "invalid_target", "unauthorized_client")
)
"""What a token endpoint answers (RFC 6749, section 5.2; RFC 8707): any other text of it stays out of here."""


async def discover(http: httpx2.AsyncClient, url: str, challenge: Challenge) -> Server:
    """Return who signs people in at a partner. Raises PartnerFailed."""
    async with alone(SECONDS):
        found = None
        for address in build_protected_resource_metadata_discovery_urls(challenge.metadata or None, url):
            if (found := await handle_protected_resource_response(await http.get(address))) is not None:
                break
        if found is not None and not check_resource_allowed(url, str(found.resource)):
            raise PartnerFailed("other_resource")
        parts = urlsplit(url)
        expected = str(found.authorization_servers[0]) if found else f"{parts.scheme}://{parts.netloc}"
        named: OAuthMetadata | None = None
        for address in build_oauth_authorization_server_metadata_discovery_urls(expected if found else None, url):
            going_on, named = await handle_auth_metadata_response(await http.get(address))
            if named is not None or not going_on:
                break
        if named is None:
            raise PartnerFailed("no_sign_in")
        if not issuers_match(str(named.issuer), expected):
            raise PartnerFailed("other_issuer")
        if "S256" not in (named.code_challenge_methods_supported or ()):
            raise PartnerFailed("no_pkce")
        scope = get_client_metadata_scopes(challenge.scope or None, found, named, ["refresh_token"]) or ""
        named_urls = (named.authorization_endpoint, named.token_endpoint, named.registration_endpoint or "")
        urls = (named.issuer, named.revocation_endpoint or "", *named_urls)
        if any(len(str(url)) > MAX_URL_CHARACTERS for url in urls):
            raise PartnerFailed("malformed")
        return Server(
            issuer=str(named.issuer),
            authorization_endpoint=str(named.authorization_endpoint),
            token_endpoint=str(named.token_endpoint),
            registration_endpoint=str(named.registration_endpoint or ""),
            revocation_endpoint=str(named.revocation_endpoint or ""),
            resource=str(found.resource) if found else url,
            scope=scope if len(scope) <= MAX_SCOPE_CHARACTERS else "",
            names_issuer=named.authorization_response_iss_parameter_supported is True,
            reads_documents=named.client_id_metadata_document_supported is True,
            methods=tuple(named.token_endpoint_auth_methods_supported or ("client_secret_basic",)),
        )


def method_of(server: Server, secret: str) -> str:
    """Return how a client proves who it is there: in the form, which servers of MCP's SDK want where tokens end."""
    known = ("client_secret_post", "client_secret_basic") if secret else ("none",)
    return next((one for one in known if one in server.methods), known[0])


async def register(http: httpx2.AsyncClient, server: Server, metadata: OAuthClientMetadata) -> Client:
    """Become a client of the server (RFC 7591). Raises PartnerFailed."""
    own = "none" if "none" in server.methods else method_of(server, "secret")
    metadata = metadata.model_copy(update={"token_endpoint_auth_method": own, "scope": server.scope or None})
    said = metadata.model_dump(by_alias=True, mode="json", exclude_none=True)
    async with alone(SECONDS):
        answer = await http.post(server.registration_endpoint, json=said)
        if answer.status_code not in (HTTPStatus.OK, HTTPStatus.CREATED):
            raise PartnerFailed("registration_refused")
        made = await handle_registration_response(answer)
        if max(len(made.client_id), len(made.client_secret or "")) > MAX_CLIENT_CHARACTERS:
            raise PartnerFailed("registration_refused")
        return Client(
            id=made.client_id,
            secret=made.client_secret or "",
            method=made.token_endpoint_auth_method or own,
            expires_at=max(0, made.client_secret_expires_at or 0),
        )


def authorization_url(server: Server, client: Client, *, state: str, verifier: str, redirect: str) -> str:
    """Return the address where a person consents. Raises PartnerFailed where that has parameters of ours already."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    given = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": redirect,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "resource": server.resource,
        **({"scope": server.scope} if server.scope else {}),
    }
    query = urlsplit(server.authorization_endpoint).query
    if given.keys() & {name for name, _ in parse_qsl(query, keep_blank_values=True)}:
        raise PartnerFailed("odd_endpoint")
    joint = "&" if query else "?"
    return f"{server.authorization_endpoint}{joint}{urlencode(given)}"


async def token(
    http: httpx2.AsyncClient, server: Server, client: Client, form: dict[str, str], seconds: float = SECONDS
) -> OAuthToken:
    """Return what a token endpoint gives for a code or a refresh token. Raises Refused where it says that either is not
    valid, and PartnerFailed where it says nothing of use."""
    async with alone(seconds):
        body, headers = client.signed(form | {"resource": server.resource})
        answer = await http.post(server.token_endpoint, data=body, headers={"accept": "application/json", **headers})
        said = _object(await answer.aread())
        if answer.status_code == HTTPStatus.OK and isinstance(said.get("access_token"), str):
            given = OAuthToken.model_validate(said)
            if max(len(given.access_token), len(given.refresh_token or "")) > MAX_TOKEN_CHARACTERS:
                raise PartnerFailed("too_large")
            given.expires_in = max(0, min(given.expires_in or 0, MAX_TOKEN_SECONDS))
            return given
        code = said.get("error")
        # A server may say no with 200 as well, and with words of its own.
        said_no = HTTPStatus.OK <= answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR
        if said_no and answer.status_code != HTTPStatus.TOO_MANY_REQUESTS:
            raise Refused(code if isinstance(code, str) and code in CODES else "refused")
        raise PartnerFailed("failed")


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


async def revoke(http: httpx2.AsyncClient, grant: Grant) -> None:
    """Ask a server to forget tokens, if it takes that (RFC 7009). Raises PartnerFailed."""
    if grant.server.revocation_endpoint:
        async with alone(SECONDS):
            body, headers = grant.client.signed({"token": grant.refresh_token or grant.access_token})
            answer = await http.post(grant.server.revocation_endpoint, data=body, headers=headers)
            if answer.status_code != HTTPStatus.OK:
                raise PartnerFailed("refused")
