"""The endpoints `/token`, `/register`, `/revoke` and `/introspect`, metadata documents, and the public keys.

Sources: RFC 6749, 7591, 7009, 7662; for metadata RFC 8414, 9728, 9207, 7517, and the MCP authorization specification.
Each document is at the address that its standard names, and describes the issuer or resource of that address. Every URL
comes from the configuration: one made of a request's Host could be poisoned.
"""

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity import telemetry
from commonplace.identity.memberships import takes_membership
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.server.composition import OAuthServices
from commonplace.identity.oauth.server.endpoint import (
    CACHED,
    EVENT,
    JSON,
    Handler,
    json_answer,
    network_of,
    read_form,
    route,
    spend_client,
    spend_network,
)
from commonplace.identity.oauth.token_endpoint import EXCHANGE
from commonplace.identity.resources import Resources
from commonplace.identity.secrets import TOKEN
from commonplace.identity.settings import AuthSettings
from commonplace.kernel.errors import Unavailable
from commonplace.web.browsers import media_type, read_body
from commonplace.web.middleware import header_map

MAX_BODY_BYTES = 16 * 1024

SERVER_PATH = "/.well-known/oauth-authorization-server"
KEYS_PATH = "/.well-known/jwks.json"

CONFIDENTIAL_METHODS = ("client_secret_basic", "client_secret_post", "private_key_jwt")
AUTH_METHODS = ("none", *CONFIDENTIAL_METHODS)
ASSERTION_ALGORITHMS = ("ES256", "RS256")


def introspect_routes(services: OAuthServices) -> list[Route]:
    async def introspect(request: Request) -> Response:
        spend_network(services, request, "introspect")
        form = await read_form(request)
        client = services.authentication.authenticate(header_map(request.scope), form, network_of(request))
        if not client.confidential:
            description = "Only a client that proves who it is may ask about tokens."
            raise OAuthError("invalid_client", description, status=401, reason="public_client")
        spend_client(services, request, "introspect", client)
        if "token" not in form:
            raise OAuthError("invalid_request", "token is missing.")
        return json_answer(services.token_endpoint.introspect(form["token"], client))

    # Resource servers are no browsers: no page may ask.
    return [route("/introspect", "POST", introspect, cors=False, event="introspect")]


def register_routes(services: OAuthServices) -> list[Route]:
    async def register(request: Request) -> Response:
        spend_network(services, request, "register")
        if media_type(request) != JSON:
            raise OAuthError("invalid_client_metadata", f"The body must be JSON: Content-Type {JSON}.")
        body = await read_body(request, MAX_BODY_BYTES)
        if body is None:
            description = f"The body must not be larger than {MAX_BODY_BYTES} bytes."
            raise OAuthError("invalid_client_metadata", description, status=413)
        registered = services.registrar.register(body, network_of(request))
        telemetry.record("register")
        return json_answer(registered.answer, 201)

    return [route("/register", "POST", register, cors=True, event="register")]


def revoke_routes(services: OAuthServices) -> list[Route]:
    async def revoke(request: Request) -> Response:
        """200 whether there was something to end or not: the answer must not reveal which tokens exist."""
        spend_network(services, request, "revoke")
        form = await read_form(request)
        if form.get("token", "").startswith(TOKEN):
            services.token_endpoint.revoke_own(form["token"], network_of(request))
            telemetry.record("revoke")
            return Response(status_code=200)
        client = services.authentication.authenticate(header_map(request.scope), form, network_of(request))
        spend_client(services, request, "revoke", client)
        if "token" not in form:
            raise OAuthError("invalid_request", "token is missing.")
        # A wrong token_type_hint must not hide a token, and ours show their kind: the hint is not needed.
        services.token_endpoint.revoke(form["token"], client, network_of(request))
        telemetry.record("revoke")
        return Response(status_code=200)

    return [route("/revoke", "POST", revoke, cors=True, event="revoke")]


def token_routes(services: OAuthServices) -> list[Route]:
    """Each answer judges whether the client may use its grant type."""
    endpoint = services.token_endpoint
    answers = {
        "authorization_code": endpoint.exchange,
        "refresh_token": endpoint.refresh,
        "client_credentials": endpoint.client_credentials,
    }

    async def token(request: Request) -> Response:
        spend_network(services, request, "token")
        form = await read_form(request)
        if form.get("grant_type") == EXCHANGE:
            answer = endpoint.token_exchange(form, network_of(request))
            telemetry.record("token")
            return json_answer(answer)
        client = services.authentication.authenticate(header_map(request.scope), form, network_of(request))
        spend_client(services, request, "token", client)
        grant_type = form.get("grant_type")
        event: telemetry.Event = "refresh" if grant_type == "refresh_token" else "token"
        setattr(request.state, EVENT, event)
        if grant_type is None:
            raise OAuthError("invalid_request", "grant_type is missing.")
        answer_of = answers.get(grant_type)
        if answer_of is None:
            description = "grant_type must be authorization_code, refresh_token or client_credentials."
            raise OAuthError("unsupported_grant_type", description)
        answer = answer_of(form, client, network_of(request))
        telemetry.record(event)
        return json_answer(answer)

    return [route("/token", "POST", token, cors=True, event="token")]


def metadata_routes(services: OAuthServices) -> list[Route]:
    settings, resources = services.settings, services.resources
    documents = {SERVER_PATH: server_document(settings, resources)}
    for resource in (resources.base_url, *resources.all()):
        path = resources.metadata_url(resource).removeprefix(resources.base_url)
        documents[path] = resource_document(settings, resources, resource)
    found = [route(path, "GET", _published(document), cors=True) for path, document in documents.items()]

    async def keys(_: Request) -> Response:
        published = services.keys.published(services.clock())
        if not published:
            # Before the first key is made. No cache may keep that there are none.
            raise Unavailable("There is no key yet.")
        return Response(_bytes({"keys": [dict(key) for key in published]}), media_type=JSON, headers=CACHED)

    return [*found, route(KEYS_PATH, "GET", keys, cors=True)]


def server_document(settings: AuthSettings, resources: Resources) -> dict[str, Any]:
    """Return what this authorization server can do (RFC 8414, section 2)."""
    issuer = settings.issuer
    exchanges = [EXCHANGE] if any(map(takes_membership, resources.all())) else []
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "registration_endpoint": f"{issuer}/register",
        "revocation_endpoint": f"{issuer}/revoke",
        "introspection_endpoint": f"{issuer}/introspect",
        "jwks_uri": f"{issuer}{KEYS_PATH}",
        "scopes_supported": list(resources.every_scope()),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials", *exchanges],
        **_methods("token_endpoint", AUTH_METHODS),
        **_methods("revocation_endpoint", AUTH_METHODS),
        **_methods("introspection_endpoint", CONFIDENTIAL_METHODS),
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
        "protected_resources": list(resources.all()),
        "service_documentation": f"{issuer}/connect",
    }


def resource_document(settings: AuthSettings, resources: Resources, resource: str) -> dict[str, Any]:
    """Return whom a resource trusts, and what it asks for to begin with (RFC 9728, section 2)."""
    return resources.document(resource, name=settings.site_name, documentation=f"{settings.issuer}/connect")


def _methods(endpoint: str, methods: tuple[str, ...]) -> dict[str, Any]:
    return {
        f"{endpoint}_auth_methods_supported": list(methods),
        f"{endpoint}_auth_signing_alg_values_supported": list(ASSERTION_ALGORITHMS),
    }


def _published(document: Mapping[str, Any]) -> Handler:
    body = _bytes(document)

    async def published(_: Request) -> Response:
        return Response(body, media_type=JSON, headers=CACHED)

    return published


def _bytes(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
