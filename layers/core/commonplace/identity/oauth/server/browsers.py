"""What browsers send: whether a page of ours sent it, forms and JSON within bounds, and how a refusal is shown."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity.oauth.authorization_request import LocalRefusal
from commonplace.identity.oauth.pages.rendering import GUARDED, refused, told_error
from commonplace.identity.oauth.server import telemetry
from commonplace.identity.oauth.server.errors import NO_STORE, told
from commonplace.identity.oauth.server.forms import FORM, MAX_FORM_BYTES, media_type, read_body
from commonplace.identity.oauth.server.limiting import spend_network
from commonplace.identity.oauth.server.services import OAuthServices
from commonplace.identity.records import AuthorizationRequest
from commonplace.kernel.errors import BadRequest, CommonplaceError, Forbidden, TooLarge

logger = logging.getLogger(__name__)

Handler = Callable[[Request], Awaitable[Response]]

PAGE_HEADER = "x-commonplace-page"
"""Sent by our scripts. A page of another site cannot send it: CORS would ask here first, and is never allowed."""
MAX_JSON_BYTES = 40 * 1024
MAX_FIELDS = 60


def page_route(services: OAuthServices, path: str, handler: Handler, *methods: str) -> Route:
    """A route to a page: what is refused is a page as well, unless a script of ours asked."""
    return Route(path, _answering(services, handler, path), methods=list(methods))


def script_route(services: OAuthServices, path: str, handler: Handler, *methods: str) -> Route:
    """A route that scripts of ours call: it answers JSON, whatever happens."""
    return Route(path, _answering(services, handler, path, script=True), methods=list(methods))


def _answering(services: OAuthServices, handler: Handler, path: str, *, script: bool = False) -> Handler:
    site = services.settings.site_name

    def shown(request: Request, error: CommonplaceError) -> Response:
        return told_error(error) if script or wants_json(request) else refused(site, error)

    async def answering(request: Request) -> Response:
        try:
            spend_network(services, request, path.strip("/").replace("/", "-"))
            return await handler(request)
        except LocalRefusal as error:
            telemetry.record("denied", "denied", error.reason or "local_refusal")
            return refused(site, BadRequest(error.message), "This app cannot be connected")
        except CommonplaceError as error:
            return shown(request, error)
        except Exception as error:  # noqa: BLE001 - people see a page of ours, and nothing of the defect
            logger.error("request failed", extra=told(error) | {"path": path})
            return shown(request, CommonplaceError("An unexpected error occurred."))

    return answering


def seen(url: str, status: int = 303) -> Response:
    """Sends the browser on, without a word to there of where it comes from."""
    return Response(status_code=status, headers=NO_STORE | GUARDED | {"location": url})


def wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def from_elsewhere(request: Request, issuer: str) -> bool:
    """Whether another site had the browser send this. Browsers say so; what is no browser says nothing.

    A form of ours comes with `Origin: null`, because of its page's Referrer-Policy; Sec-Fetch-Site tells it apart.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site not in (None, "same-origin", "none"):  # none: typed into the address bar
        return True
    return origin is not None and origin != issuer and not (origin == "null" and site == "same-origin")


def must_be_ours(request: Request, issuer: str) -> None:
    """For what a script of ours sends with a session. Raises Forbidden."""
    if from_elsewhere(request, issuer) or PAGE_HEADER not in request.headers:
        raise Forbidden("Only a page of this site may ask for this.")


async def read_json(request: Request) -> Mapping[str, Any]:
    """An object. Raises BadRequest, TooLarge."""
    if media_type(request) != "application/json":
        raise BadRequest("The body must be JSON.", hint="Send it with Content-Type application/json.")
    body = await read_body(request, MAX_JSON_BYTES)
    if body is None:
        raise TooLarge(f"The body must not be larger than {MAX_JSON_BYTES} bytes.")
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise BadRequest("The body must be a JSON object.")
    return values


async def read_fields(request: Request) -> Mapping[str, list[str]]:
    """A form whose fields may come several times, as ticked boxes do. Raises BadRequest, TooLarge."""
    if media_type(request) != FORM:
        raise BadRequest(f"The body must be a form: Content-Type {FORM}.")
    body = await read_body(request, MAX_FORM_BYTES)
    if body is None:
        raise TooLarge(f"The body must not be larger than {MAX_FORM_BYTES} bytes.")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise BadRequest("The form cannot be read.") from None
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


def one(fields: Mapping[str, list[str]], name: str) -> str:
    """A field that may come once; empty when it is absent. Raises BadRequest."""
    values = fields.get(name, [""])
    if len(values) > 1:
        raise BadRequest(f"The field {name} came more than once.")
    return values[0]


def again(request: AuthorizationRequest, *, ask: bool = False) -> str:
    """The path at which the same request starts over: after a sign-in. `ask` has the person asked in any case."""
    values = {
        "response_type": "code",
        "client_id": request.client_id,
        "redirect_uri": request.redirect_uri if request.redirect_given else None,
        "resource": request.resource,
        "scope": " ".join(request.scopes),
        "code_challenge": request.challenge,
        "code_challenge_method": "S256",
        "state": request.state,
        "prompt": "consent" if ask else None,
    }
    given = {name: value for name, value in values.items() if value is not None}
    return f"/authorize?{urlencode(given, errors='surrogateescape')}"
