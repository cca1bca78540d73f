"""The page `/connect`, its assets, `server.json`, the icon, and what crawlers are told."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.site import connect
from commonplace.site.connect.clients import Endpoint
from commonplace.site.connect.page import connect_html
from commonplace.site.connect.registry import server_json
from commonplace.web.pages.context import PageContext
from commonplace.web.pages.declaration import Pages
from commonplace.web.representations import API_VERSION, Page, asset, encode, html

ASSETS = Path(connect.__file__).parent / "assets"


def pages(context: PageContext) -> Pages:
    """As the capability declares them."""
    frame = context.frame
    endpoint = Endpoint.of(frame.name, frame.base_url)

    async def get_connect(request: Request) -> Response:
        return html(connect_html(endpoint)).answer(request)

    async def get_icon(request: Request) -> Response:
        return asset(ASSETS / "icon.png").answer(request)

    async def get_server_json(request: Request) -> Response:
        return Page.of(encode(server_json(endpoint, API_VERSION))).answer(request)

    return Pages(
        routes=[
            Route("/connect", get_connect),
            Route("/icon.png", get_icon),
            Route("/server.json", get_server_json),
        ],
        assets=ASSETS,
    )
