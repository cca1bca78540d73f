"""Search over published documents."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from commonplace.content.manifest import Manifest
from commonplace.interfaces.rest import examples, shapes
from commonplace.interfaces.rest.documentation import answers
from commonplace.interfaces.rest.pages import JSON, encode
from commonplace.interfaces.rest.parameters import Question
from commonplace.interfaces.rest.services import services
from commonplace.search.model import Hit, SearchRequest, SearchResults

router = APIRouter(tags=["Search"])

SPARE = 5
"""Asked for beyond the limit, in place of hits that are no longer published."""


@router.get(
    "/search",
    operation_id="search",
    summary="Search documents",
    response_model=shapes.SearchAnswer,
    responses=answers(
        examples.SEARCH, 422, description="The best documents, each with the passage that matched.", conditional=False
    ),
)
async def search(request: Request, asked: Annotated[Question, Query()]) -> Response:
    """By words and by meaning at once, best first. Snippets are plain text."""
    using = services(request)
    manifest = using.library.manifest()
    found = using.search.search(SearchRequest(asked.q, asked.filters(), asked.limit + SPARE))
    return Response(encode(_answer(found, manifest, asked.limit)), media_type=JSON)


def _answer(found: SearchResults, manifest: Manifest, limit: int) -> dict[str, Any]:
    # The index follows the store by seconds. What is not published any more is not shown, whatever the index says.
    live = [hit for hit in found.results if f"{hit.content_type}/{hit.id}" in manifest.by_ref]
    gone = len(found.results) - len(live)
    return {
        "query": found.query,
        "results": [_hit(hit) for hit in live[:limit]],
        "total": max(found.total - gone, 0),
        "fallback": found.fallback,
        "reranked": found.reranked,
        "tookMs": found.took_ms,
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "contentType": hit.content_type,
        "title": hit.title,
        "description": hit.description,
        "snippet": hit.snippet,
        "heading": hit.heading,
        "score": hit.score,
        "rerankScore": hit.rerank_score,
        "url": hit.url,
        "path": hit.path,
        "group": hit.group,
        "tags": list(hit.tags),
        "date": hit.date,
    }
