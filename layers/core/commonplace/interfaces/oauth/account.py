"""Routes that people reach with a browser."""

from starlette.routing import Route

from commonplace.interfaces.oauth.services import OAuthServices


def routes(services: OAuthServices) -> list[Route]:  # noqa: ARG001 - the shape of every module of routes
    return []
