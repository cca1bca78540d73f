"""Which client sends a request, and that it still does."""

from collections.abc import Mapping

from starlette.requests import Request

from commonplace.identity.records import Client
from commonplace.interfaces.oauth.forms import header_map
from commonplace.interfaces.oauth.limiting import network_of
from commonplace.interfaces.oauth.services import OAuthServices


def authenticated(services: OAuthServices, request: Request, form: Mapping[str, str]) -> Client:
    """The client, by the method that it registered; its registration lasts longer for it. Raises OAuthError."""
    client = services.authentication.authenticate(header_map(request), form, network_of(request))
    services.clients.used(client)
    return client
