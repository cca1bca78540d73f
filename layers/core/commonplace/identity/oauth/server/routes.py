"""What clients read before anything else: the metadata of the server and of each resource, and the public keys.

Sources: RFC 8414, RFC 9728, RFC 9207, RFC 7517, and the MCP authorization specification. Each document stands where the
standard looks for it, and is about the issuer or resource that its address names. Every URL is made of the
configuration: one made of a request's Host could be poisoned.
"""

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity.oauth.server.endpoint import Handler, cached, route
from commonplace.identity.oauth.server.errors import JSON
from commonplace.identity.oauth.server.services import OAuthServices
from commonplace.identity.resources import Resources
from commonplace.identity.settings import AuthSettings
from commonplace.kernel.errors import Unavailable

SERVER_PATH = "/.well-known/oauth-authorization-server"
KEYS_PATH = "/.well-known/jwks.json"

CONFIDENTIAL_METHODS = ("client_secret_basic", "client_secret_post", "private_key_jwt")
AUTH_METHODS = ("none", *CONFIDENTIAL_METHODS)
ASSERTION_ALGORITHMS = ("ES256", "RS256")


def routes(services: OAuthServices) -> list[Route]:
    settings, resources = services.settings, services.resources
    documents = {SERVER_PATH: server_document(settings, resources)}
    for resource in (resources.base_url, *resources.all()):
        path = resources.metadata_url(resource).removeprefix(resources.base_url)
        documents[path] = resource_document(settings, resources, resource)
    found = [route(path, "GET", _published(document), cors=True) for path, document in documents.items()]
    return [*found, route(KEYS_PATH, "GET", _keys(services), cors=True)]


def server_document(settings: AuthSettings, resources: Resources) -> dict[str, Any]:
    """What this authorization server can do (RFC 8414, section 2)."""
    issuer = settings.issuer
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
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
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
    """Whom a resource trusts, and what it asks for to begin with (RFC 9728, section 2)."""
    return resources.document(resource, name=settings.site_name, documentation=f"{settings.issuer}/connect")


def _methods(endpoint: str, methods: tuple[str, ...]) -> dict[str, Any]:
    return {
        f"{endpoint}_auth_methods_supported": list(methods),
        f"{endpoint}_auth_signing_alg_values_supported": list(ASSERTION_ALGORITHMS),
    }


def _published(document: Mapping[str, Any]) -> Handler:
    body = _bytes(document)

    async def published(_: Request) -> Response:
        return Response(body, media_type=JSON, headers=cached())

    return published


def _keys(services: OAuthServices) -> Handler:
    async def keys(_: Request) -> Response:
        published = services.keys.published(services.clock())
        if not published:
            # Before the first key is made. No cache may keep that there are none.
            raise Unavailable("There is no key yet.")
        return Response(_bytes({"keys": [dict(key) for key in published]}), media_type=JSON, headers=cached())

    return keys


def _bytes(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
