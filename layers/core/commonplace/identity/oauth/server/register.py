"""`POST /register`: clients that introduce themselves (RFC 7591)."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.server import telemetry
from commonplace.identity.oauth.server.endpoint import route
from commonplace.identity.oauth.server.errors import JSON, json_answer
from commonplace.identity.oauth.server.forms import media_type, read_body
from commonplace.identity.oauth.server.limiting import network_of, spend_network
from commonplace.identity.oauth.server.services import OAuthServices

MAX_BODY_BYTES = 16 * 1024


def routes(services: OAuthServices) -> list[Route]:
    async def register(request: Request) -> Response:
        spend_network(services, request, "register")
        if media_type(request) != JSON:
            raise OAuthError("invalid_client_metadata", f"The body must be JSON: Content-Type {JSON}.")
        body = await read_body(request, MAX_BODY_BYTES)
        if body is None:
            description = f"The body must not be larger than {MAX_BODY_BYTES} bytes."
            raise OAuthError("invalid_client_metadata", description, status=413)
        registered = services.registering.register(body, network_of(request))
        telemetry.record("register")
        return json_answer(registered.answer, 201)

    return [route("/register", "POST", register, cors=True, event="register")]
