"""OAuth as the client of partners: who signs people in, registration, codes, refreshes, revocation.

Discovery follows RFC 9728 and RFC 8414, with PKCE (RFC 7636), resource indicators (RFC 8707) and the issuer in answers
(RFC 9207). Every request goes through the guarded transport, wherever a partner's metadata leads. Nothing is kept here.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx2
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_client_registration_request,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    handle_registration_response,
    issuers_match,
)
from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, OAuthToken
from mcp.shared.auth_utils import check_resource_allowed

from commonplace.federation.client.connection import alone
from commonplace.federation.model import Challenge, PartnerFailed

SECONDS = 10.0
CODES = frozenset(
    ("invalid_grant", "invalid_client", "invalid_request", "invalid_scope", "invalid_target", "unauthorized_client")
)
"""What a token endpoint answers (RFC 6749, section 5.2; RFC 8707): any other text of it stays out of here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The authorization server of a partner, as its metadata says, and what a token is to be for."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    resource: str
    registration_endpoint: str = ""
    revocation_endpoint: str = ""
    scope: str = ""
    names_issuer: bool = False
    """Its answers say by whom they are."""
    reads_documents: bool = False
    """It takes the address of a document for the id of a client."""
    methods: tuple[str, ...] = ()
    """How clients may prove who they are at its token endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """What this deployment is to an authorization server."""

    id: str
    secret: str = ""
    method: str = "none"

    def signed(self, form: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return a form with the id, and the proof where it has one, and headers (RFC 6749, section 2.3.1)."""
        form = form | {"client_id": self.id}
        if not self.secret or self.method == "none":
            return form, {}
        if self.method == "client_secret_post":
            return form | {"client_secret": self.secret}, {}
        pair = f"{quote(self.id, safe='')}:{quote(self.secret, safe='')}"
        return form, {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


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
        scope = get_client_metadata_scopes(challenge.scope or None, found, named, ["refresh_token"])
        return Server(
            issuer=str(named.issuer),
            authorization_endpoint=str(named.authorization_endpoint),
            token_endpoint=str(named.token_endpoint),
            registration_endpoint=str(named.registration_endpoint or ""),
            revocation_endpoint=str(named.revocation_endpoint or ""),
            resource=str(found.resource) if found else url,
            scope=scope or "",
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
    named = OAuthMetadata.model_validate(
        {
            "issuer": server.issuer,
            "authorization_endpoint": server.authorization_endpoint,
            "token_endpoint": server.token_endpoint,
            "registration_endpoint": server.registration_endpoint,
        }
    )
    async with alone(SECONDS):
        answer = await http.send(create_client_registration_request(named, metadata, server.issuer))
        if answer.status_code not in (HTTPStatus.OK, HTTPStatus.CREATED):
            raise PartnerFailed("registration_refused")
        made = await handle_registration_response(answer)
        return Client(
            id=made.client_id,
            secret=made.client_secret or "",
            method=made.token_endpoint_auth_method or own,
        )


def authorization_url(server: Server, client: Client, *, state: str, verifier: str, redirect: str) -> str:
    """Return the address where a person consents."""
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
    joint = "&" if urlsplit(server.authorization_endpoint).query else "?"
    return f"{server.authorization_endpoint}{joint}{urlencode(given)}"


async def token(http: httpx2.AsyncClient, server: Server, client: Client, **form: str) -> OAuthToken:
    """Return what a token endpoint gives for a code or a refresh token. Raises PartnerFailed."""
    async with alone(SECONDS):
        body, headers = client.signed({**form, "resource": server.resource})
        answer = await http.post(server.token_endpoint, data=body, headers={"accept": "application/json", **headers})
        if answer.status_code == HTTPStatus.OK:
            return OAuthToken.model_validate_json(await answer.aread())
        code: Any = None
        if answer.status_code in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED):
            said = answer.json()
            code = said.get("error") if isinstance(said, dict) else None
        raise PartnerFailed(code if isinstance(code, str) and code in CODES else "refused")


async def revoke(http: httpx2.AsyncClient, server: Server, client: Client, given: str) -> None:
    """Ask a server to forget a token, if it takes that (RFC 7009). Raises PartnerFailed."""
    if server.revocation_endpoint:
        async with alone(SECONDS):
            body, headers = client.signed({"token": given})
            await http.post(server.revocation_endpoint, data=body, headers=headers)
