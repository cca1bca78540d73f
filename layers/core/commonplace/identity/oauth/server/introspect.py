"""`POST /introspect`: what a token is worth, for resource servers and clients that prove who they are (RFC 7662)."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.server.endpoint import route
from commonplace.identity.oauth.server.errors import json_answer
from commonplace.identity.oauth.server.forms import header_map, read_form
from commonplace.identity.oauth.server.limiting import network_of, spend_client, spend_network
from commonplace.identity.oauth.server.services import OAuthServices


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
