"""`POST /introspect`: what a token is worth, for resource servers and clients that prove who they are (RFC 7662)."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity.oauth_errors import OAuthError
from commonplace.interfaces.oauth.endpoint import route
from commonplace.interfaces.oauth.errors import json_answer
from commonplace.interfaces.oauth.forms import header_map, read_form
from commonplace.interfaces.oauth.limiting import network_of, spend_client, spend_network
from commonplace.interfaces.oauth.services import OAuthServices


def routes(services: OAuthServices) -> list[Route]:
    async def introspect(request: Request) -> Response:
        spend_network(services, request, "introspect")
        form = await read_form(request)
        client = services.authentication.authenticate(header_map(request), form, network_of(request))
        if not client.confidential:
            description = "Only a client that proves who it is may ask about tokens."
            raise OAuthError("invalid_client", description, status=401, reason="public_client")
        spend_client(services, request, "introspect", client)
        if "token" not in form:
            raise OAuthError("invalid_request", "token is missing.")
        return json_answer(services.granting.introspect(form["token"], client))

    # Resource servers are no browsers: no page may ask.
    return [route("/introspect", "POST", introspect, cors=False, event="introspect")]
