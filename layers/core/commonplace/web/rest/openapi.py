"""The endpoint of the OpenAPI document."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from commonplace import __version__
from commonplace.kernel.errors import Unavailable
from commonplace.web.representations import Page, encode
from commonplace.web.rest.declaration import Routes
from commonplace.web.rest.documentation import answers, with_examples

router = APIRouter(tags=["For machines"])


@router.get(
    "/openapi.json",
    operation_id="getOpenApi",
    summary="Get this description",
    response_class=Response,
    responses=answers(
        {"openapi": "3.1.0", "info": {"title": "Commonplace API", "version": __version__}, "paths": {}},
        description="OpenAPI 3.1.",
        schema={"type": "object", "required": ["openapi", "info", "paths"]},
    ),
)
async def get_openapi(request: Request) -> Response:
    """This document, for client generators and API browsers. Its examples of parameters are names of what there is."""
    state, published = request.app.state, _published(request.app.declared)
    if not hasattr(state, "openapi") or state.openapi[0] != published:
        state.openapi = published, Page.of(encode(with_examples(request.app.openapi(), published)))
    page: Page = state.openapi[1]
    return page.answer(request)


def _published(declared: Sequence[Routes]) -> dict[str, str]:
    """Nothing while the store does not answer: the description has examples of its own."""
    try:
        return {name: value for each in declared if each.examples for name, value in each.examples().items()}
    except Unavailable:
        return {}
