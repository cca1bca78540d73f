"""The authorization server as an ASGI application."""

from starlette.applications import Starlette

from commonplace.interfaces.oauth import account, authorize, signin
from commonplace.interfaces.oauth.services import OAuthServices


def create_app(services: OAuthServices) -> Starlette:
    """The application over these services. Endpoints call them directly: one process, one request."""
    pages = [*authorize.routes(services), *signin.routes(services), *account.routes(services)]
    return Starlette(routes=pages)
