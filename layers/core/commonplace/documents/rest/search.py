"""The endpoint that searches published documents."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from commonplace.documents import findings
from commonplace.documents.content.filter_values import unknown
from commonplace.documents.content.intents import Listing
from commonplace.documents.rest import hits, models
from commonplace.documents.rest.examples import EXAMPLES, answers
from commonplace.documents.rest.parameters import Question, cursor, next_link, position
from commonplace.documents.rest.services import Explanations, computed, services
from commonplace.kernel.errors import CommonplaceError, Forbidden, Unauthorized
from commonplace.kernel.operator_key import is_operators_key
from commonplace.search.model import RecordId, SearchRequest
from commonplace.web.envelopes import envelope
from commonplace.web.representations import API, JSON
from commonplace.web.rest.account import PRIVATE
from commonplace.web.rest.documentation import KEY_MAY_COME

router = APIRouter(tags=["Search"])

BRIEFLY = {"cache-control": "public, max-age=30"}
"""Of an answer by words only: caches should not hold it much longer than the model was away."""


@router.get(
    "/search",
    operation_id="search",
    summary="Search documents",
    response_model=models.SearchAnswer,
    responses=answers(
        EXAMPLES["search"],
        *(400, 401, 403, 422),
        description="The best documents, each with the passage that matched.",
        conditional=False,
    ),
    openapi_extra=KEY_MAY_COME,
)
async def search(request: Request, asked: Annotated[Question, Query()]) -> Response:
    """By words and by meaning at once, best first. Snippets are plain text. Without `q`, or where it asks for a list,
    such as `all patterns`, documents are listed and `hints` says so."""
    if not asked.explain:
        return _search(request, asked)
    try:
        _check_operator(request, services(request).explanations)
        answer = _search(request, asked)
    except CommonplaceError as error:
        answer = envelope(error)
    answer.headers.update(PRIVATE)
    return answer


def _search(request: Request, asked: Question) -> Response:
    using = services(request)
    catalogue = using.library.edition().catalogue
    # No spares where a page ends as the next begins, nor where it is explained which results are shown.
    exactly = asked.mode == "lexical" or asked.explain
    limit = asked.limit if exactly else findings.with_spares(asked.limit)
    wanted = SearchRequest(
        asked.q,
        asked.filters(catalogue),
        limit,
        mode=asked.mode,
        rerank=asked.rerank,
        collapse=asked.collapse,
        documents=asked.documents,
        explain=asked.explain,
        expect=RecordId(asked.expect) if asked.expect is not None else None,
    )
    intent = findings.intent(catalogue, wanted)
    asked.check(listed=isinstance(intent, Listing))
    if asked.cursor is not None:
        wanted = replace(wanted, after=position(asked.cursor, asked.question))
    start = max(0, int(wanted.after.score)) if wanted.after else 0
    page = slice(start, start + asked.limit)
    results = findings.find(using.search.search, using.library, wanted, intent, page)
    onward = cursor(results.after, asked.question) if results.after else None
    published = findings.published(using.library, results)
    body = hits.answer(
        results,
        wanted,
        using.addresses,
        limit=asked.limit,
        published=published,
        banner_url=lambda ref: computed(using, published[ref])["banner_url"],
        highlight=asked.highlight,
        next_cursor=onward,
        hints=unknown(catalogue, wanted.filters),
    )
    headers = next_link(f"{API}/search", asked, onward) | (BRIEFLY if results.fallback else {})
    return Response(body, media_type=JSON, headers=headers)


def _check_operator(request: Request, explanations: Explanations) -> None:
    """Raises Unauthorized or Forbidden unless this caller may have a search explained: an explanation names what is in
    the index, and costs several queries. Where no key is configured, nobody has one."""
    if explanations.audience == "anyone":
        return
    if explanations.operator_key_hash is None:
        raise Forbidden(
            "Explanations are disabled here.",
            hint="An operator creates a key and deploys its hash as operatorKeyHash.",
        )
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    key = given.strip() or None if scheme.casefold() == "bearer" else None
    if key is None:
        hint = "Send the operators' key as `Authorization: Bearer KEY`."
        raise Unauthorized("Explanations are for operators.", hint=hint)
    if not is_operators_key(key, explanations.operator_key_hash):
        hint = "A key that was lost is replaced: make a new one and deploy its hash as operatorKeyHash."
        raise Unauthorized("This is not the operators' key.", hint=hint)
