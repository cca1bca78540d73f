"""Endpoints of the OpenAPI document and of the page that shows it."""

from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from commonplace.web.representations import Page, asset, encode
from commonplace.web.rest.documentation import answers

router = APIRouter(tags=["For machines"])

ASSETS = Path(__file__).parent / "assets"


@router.get(
    "/openapi.json",
    operation_id="getOpenApi",
    summary="Get this description",
    response_class=Response,
    responses=answers(
        {"openapi": "3.1.0", "info": {"title": "Commonplace API", "version": "1.0.0"}, "paths": {}},
        description="OpenAPI 3.1.",
        schema={"type": "object", "required": ["openapi", "info", "paths"]},
    ),
)
async def get_openapi(request: Request) -> Response:
    """This document, for client generators and API browsers."""
    state = request.app.state
    if not hasattr(state, "openapi"):
        state.openapi = Page.of(encode(request.app.openapi()))
    page: Page = state.openapi
    return page.answer(request)


@router.get("/docs", include_in_schema=False)
async def get_docs(request: Request) -> Response:
    return asset(ASSETS / "docs.html").answer(request)


@router.get("/docs/docs.css", include_in_schema=False)
async def get_docs_styles(request: Request) -> Response:
    return asset(ASSETS / "docs.css").answer(request)


@router.get("/docs/docs.js", include_in_schema=False)
async def get_docs_script(request: Request) -> Response:
    return asset(ASSETS / "docs.js").answer(request)
