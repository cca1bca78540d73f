"""`POST /revoke`: a client ends a token of its own (RFC 7009)."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.server import telemetry
from commonplace.identity.oauth.server.endpoint import route
from commonplace.identity.oauth.server.errors import NO_STORE
from commonplace.identity.oauth.server.forms import header_map, read_form
from commonplace.identity.oauth.server.limiting import network_of, spend_client, spend_network
from commonplace.identity.oauth.server.services import OAuthServices


def routes(services: OAuthServices) -> list[Route]:
    async def revoke(request: Request) -> Response:
        """200 whether there was something to end or not: the answer must not tell which tokens exist."""
        spend_network(services, request, "revoke")
        form = await read_form(request)
        client = services.authentication.authenticate(header_map(request), form, network_of(request))
        spend_client(services, request, "revoke", client)
        if "token" not in form:
            raise OAuthError("invalid_request", "token is missing.")
        # A wrong token_type_hint must not hide a token, and ours tell their kind: the hint is not needed.
        services.granting.revoke(form["token"], client, network_of(request))
        telemetry.record("revoke")
        return Response(status_code=200, headers=NO_STORE)

    return [route("/revoke", "POST", revoke, cors=True, event="revoke")]
