"""The pages that belong to no other capability: how to connect, the icon, and what crawlers are told."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace import __version__
from commonplace.site.connect.clients import Endpoint, clients
from commonplace.site.connect.registry import server_json
from commonplace.web.pages.declaration import Pages
from commonplace.web.pages.frame import PageContext
from commonplace.web.representations import Page, asset, encode

FOLDER = Path(__file__).parent
ICON = FOLDER / "assets" / "icon.png"
TEXT = "text/plain; charset=utf-8"

ROBOTS = """User-agent: *
Disallow: /search
Disallow: /console
Disallow: /account
Disallow: /authorize
Disallow: /auth/
"""
"""Searches are without number and nobody's page; the rest is for people who sign in."""
ROBOTS_OF_MEMBERS = "User-agent: *\nDisallow: /\n"


def pages(context: PageContext) -> Pages:
    """As the capability declares them."""
    frame = context.frame
    endpoint = Endpoint.of(frame.name, frame.base_url)
    sitemap = f"Sitemap: {frame.base_url}/sitemap.xml\n" if frame.base_url else ""
    robots = ROBOTS + sitemap if context.settings.site_tier == "public" else ROBOTS_OF_MEMBERS

    async def get_connect(request: Request) -> Response:
        return frame.page(request, "connect.html", at=endpoint, clients=clients(endpoint)).answer(request)

    async def get_icon(request: Request) -> Response:
        return asset(ICON).answer(request)

    async def get_robots(request: Request) -> Response:
        return Page.of(robots.encode(), TEXT).answer(request)

    async def get_server_json(request: Request) -> Response:
        return Page.of(encode(server_json(endpoint, __version__))).answer(request)

    return Pages(
        routes=[
            Route("/connect", get_connect),
            Route("/icon.png", get_icon),
            Route("/favicon.ico", get_icon),
            Route("/robots.txt", get_robots),
            Route("/server.json", get_server_json),
        ],
        templates=FOLDER / "templates",
        assets=FOLDER / "assets",
    )
