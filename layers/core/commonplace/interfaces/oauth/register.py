"""`POST /register`: clients that introduce themselves (RFC 7591)."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity.oauth_errors import OAuthError
from commonplace.interfaces.oauth import telemetry
from commonplace.interfaces.oauth.endpoint import route
from commonplace.interfaces.oauth.errors import JSON, json_answer
from commonplace.interfaces.oauth.forms import media_type, read_body
from commonplace.interfaces.oauth.limiting import network_of, spend_network
from commonplace.interfaces.oauth.services import OAuthServices

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
