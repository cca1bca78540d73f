"""`POST /token`: who asks, then what for; the rest is `identity.granting`."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.server import telemetry
from commonplace.identity.oauth.server.endpoint import EVENT, route
from commonplace.identity.oauth.server.errors import json_answer
from commonplace.identity.oauth.server.forms import header_map, read_form
from commonplace.identity.oauth.server.limiting import network_of, spend_client, spend_network
from commonplace.identity.oauth.server.services import OAuthServices
from commonplace.identity.records import Client

Form = Mapping[str, str]
Grants = Callable[[Form, Client, str], dict[str, Any]]


def routes(services: OAuthServices) -> list[Route]:
    async def token(request: Request) -> Response:
        spend_network(services, request, "token")
        form = await read_form(request)
        client = services.authentication.authenticate(header_map(request), form, network_of(request))
        spend_client(services, request, "token", client)
        grant_type = form.get("grant_type")
        event: telemetry.Event = "refresh" if grant_type == "refresh_token" else "token"
        setattr(request.state, EVENT, event)
        answer = _granted(services, grant_type)(form, client, network_of(request))
        telemetry.record(event)
        return json_answer(answer)

    return [route("/token", "POST", token, cors=True, event="token")]


def _granted(services: OAuthServices, grant_type: str | None) -> Grants:
    """What answers this grant type, and judges whether the client may use it. Raises OAuthError."""
    granting = services.granting
    match grant_type:
        case "authorization_code":
            return granting.exchange
        case "refresh_token":
            return granting.refresh
        case "client_credentials":
            return granting.client_credentials
        case None:
            raise OAuthError("invalid_request", "grant_type is missing.")
        case _:
            description = "grant_type must be authorization_code, refresh_token or client_credentials."
            raise OAuthError("unsupported_grant_type", description)
