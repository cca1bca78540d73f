"""Routes of the page `/connect`, its assets, and `server.json`."""

from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from commonplace.site import connect
from commonplace.site.connect.clients import Endpoint
from commonplace.site.connect.page import connect_html
from commonplace.site.connect.registry import server_json
from commonplace.web.rest.declaration import RestContext
from commonplace.web.rest.documentation import API_VERSION
from commonplace.web.rest.pages import Page, asset, encode, html
from commonplace.web.rest.services import services

router = APIRouter(include_in_schema=False)

ASSETS = Path(connect.__file__).parent / "assets"


@router.get("/connect")
async def get_connect(request: Request) -> Response:
    return html(connect_html(_endpoint(request))).answer(request)


@router.get("/connect/connect.css")
async def get_connect_styles(request: Request) -> Response:
    return asset(ASSETS / "connect.css").answer(request)


@router.get("/connect/connect.js")
async def get_connect_script(request: Request) -> Response:
    return asset(ASSETS / "connect.js").answer(request)


@router.get("/icon.png")
async def get_icon(request: Request) -> Response:
    return asset(ASSETS / "icon.png").answer(request)


@router.get("/server.json")
async def get_server_json(request: Request) -> Response:
    return Page.of(encode(server_json(_endpoint(request), API_VERSION))).answer(request)


def pages(_: RestContext) -> APIRouter:
    """As the capability declares them."""
    return router


def _endpoint(request: Request) -> Endpoint:
    site = services(request).site
    return Endpoint.of(site.name, site.base_url)
