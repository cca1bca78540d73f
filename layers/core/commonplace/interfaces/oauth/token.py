"""`POST /token`: who asks, then what for; the rest is `identity.granting`."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity.oauth_errors import OAuthError
from commonplace.identity.records import Client
from commonplace.interfaces.oauth import telemetry
from commonplace.interfaces.oauth.endpoint import route
from commonplace.interfaces.oauth.errors import json_answer
from commonplace.interfaces.oauth.forms import header_map, read_form
from commonplace.interfaces.oauth.limiting import network_of, spend_client, spend_network
from commonplace.interfaces.oauth.services import OAuthServices

Form = Mapping[str, str]
Grants = Callable[[Form, Client, str], dict[str, Any]]


def routes(services: OAuthServices) -> list[Route]:
    async def token(request: Request) -> Response:
        spend_network(services, request, "token")
        form = await read_form(request)
        client = services.authentication.authenticate(header_map(request), form, network_of(request))
        spend_client(services, request, "token", client)
        grant_type = _grant_type(form, client)
        answer = _granted(services, grant_type)(form, client, network_of(request))
        telemetry.record("refresh" if grant_type == "refresh_token" else "token")
        return json_answer(answer)

    return [route("/token", "POST", token, cors=True, event="token")]


def _grant_type(form: Form, client: Client) -> str:
    """One that there is and that the client may use. Raises OAuthError."""
    wanted = form.get("grant_type")
    if wanted is None:
        raise OAuthError("invalid_request", "grant_type is missing.")
    if wanted not in ("authorization_code", "refresh_token", "client_credentials"):
        description = "grant_type must be authorization_code, refresh_token or client_credentials."
        raise OAuthError("unsupported_grant_type", description)
    # A client that may have codes may refresh what it got for them: many leave `refresh_token` out.
    needed = "authorization_code" if wanted == "refresh_token" else wanted
    if needed not in client.grant_types and wanted not in client.grant_types:
        raise OAuthError("unauthorized_client", "This client is not registered for this grant type.")
    return wanted


def _granted(services: OAuthServices, grant_type: str) -> Grants:
    granting = services.granting
    if grant_type == "authorization_code":
        return granting.exchange
    return granting.refresh if grant_type == "refresh_token" else granting.client_credentials
