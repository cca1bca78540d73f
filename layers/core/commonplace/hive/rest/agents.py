"""Endpoints for agents: contribute, search, fetch, list, delete, report (seed 004)."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from commonplace.hive.access import is_reviewer
from commonplace.hive.cursors import encode_cursor
from commonplace.hive.inputs import draft, item_id, search_request
from commonplace.hive.model import (
    DEFAULT_LIMIT,
    DEFAULT_LISTED,
    MAX_LIMIT,
    MAX_LISTED,
    MAX_QUERY_CHARACTERS,
    Category,
    Listing,
)
from commonplace.hive.rest import examples, models
from commonplace.hive.rest.services import (
    MAX_CURSOR_CHARACTERS,
    Contributor,
    Reader,
    after_of,
    cursor_of,
    using,
)
from commonplace.kernel.errors import InvalidInput
from commonplace.web.rest.account import private
from commonplace.web.rest.documentation import TOKEN_MUST_COME

TAG = "Contributed knowledge"

router = APIRouter(prefix="/hive", tags=[TAG])

ItemPath = Annotated[str, Path(alias="id", max_length=100, description=models.AN_ID, examples=[examples.ID])]
Cursor = Annotated[
    str | None,
    Query(max_length=MAX_CURSOR_CHARACTERS, description="`nextCursor` of the page before, with the same parameters."),
]
Narrowed = Annotated[Category | None, Query(description="Only of this category.")]


@router.post(
    "/contributions",
    operation_id="contribute",
    summary="Contribute what was learned",
    response_model=models.Contributed,
    responses=examples.told(examples.CONTRIBUTED, "It waits, or the same text was there already.", 413, sensitive=True),
    openapi_extra=TOKEN_MUST_COME,
)
async def contribute(
    request: Request, caller: Contributor, body: Annotated[models.NewContribution, Body(examples=[examples.NEW])]
) -> Response:
    """Personal data and secrets are taken out before anything is stored; what remains waits for a reviewer.

    The same text is kept once: sent again, it has the id that it had.
    """
    added = using(request).hive.contribute(caller.author, draft(**dict(body)), reviewer=is_reviewer(caller.principal))
    answer = models.Contributed(
        contribution_id=added.id,
        status=added.told,
        category=added.category,
        message=added.message,
    )
    return private(answer)


@router.get(
    "/search",
    operation_id="searchContributed",
    summary="Search contributed knowledge",
    response_model=models.Results,
    responses=examples.told(examples.RESULTS, "The most relevant first; near ties by quality."),
    openapi_extra=TOKEN_MUST_COME,
)
async def search(
    request: Request,
    caller: Reader,
    *,
    q: Annotated[
        str, Query(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="The problem, in your own words.")
    ],
    category: Narrowed = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Results on a page.")] = DEFAULT_LIMIT,
    cursor: Cursor = None,
    as_of: Annotated[
        str | None, Query(alias="asOf", max_length=40, description="What was true then: a date or time of ISO 8601.")
    ] = None,
) -> Response:
    """Items of your organisation and public ones, by words and by meaning, in short."""
    if not q.strip():
        raise InvalidInput("q is empty.", hint="Say the problem in your own words.")
    asked = search_request(q, category=category, limit=limit, cursor=cursor, as_of=as_of, as_of_name="asOf")
    found = using(request).hive.search(caller.author, asked)
    answer = models.Results(
        results=[models.Summary.made(one) for one in found.results],
        total_found=found.total,
        next_cursor=None if found.next_offset is None else encode_cursor(found.next_offset),
        fallback=found.fallback,
        hint=found.hint,
    )
    return private(answer)


@router.get(
    "/items/{id}",
    operation_id="getContributed",
    summary="Get an item",
    response_model=models.KnowledgeItem,
    responses=examples.told(examples.ITEM, "The item, whole.", 404),
    openapi_extra=TOKEN_MUST_COME,
)
async def fetch(request: Request, caller: Reader, id: ItemPath) -> Response:
    """An item of your organisation or a public one, whole; also one that is not valid any more."""
    return private(models.KnowledgeItem.made(using(request).hive.fetch(caller.author, item_id(id))))


@router.get(
    "/contributions",
    operation_id="listContributions",
    summary="List your contributions",
    response_model=models.OwnContributions,
    responses=examples.told(examples.OWN, "What your account contributed."),
    openapi_extra=TOKEN_MUST_COME,
)
async def contributions(
    request: Request,
    caller: Reader,
    *,
    status: Annotated[
        Literal["all", "pending", "approved", "rejected"], Query(description="Only what this became of.")
    ] = "all",
    category: Narrowed = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED, description="Contributions on a page.")] = DEFAULT_LISTED,
    cursor: Cursor = None,
) -> Response:
    """What your own account contributed, newest first, with what became of it."""
    question = f"{status} {category}"
    listing = Listing(status=status, category=category, limit=limit, after=after_of(cursor, question))
    page = using(request).hive.list(caller.author, listing)
    answer = models.OwnContributions(
        contributions=[models.OwnContribution.model_validate(one) for one in page.contributions],
        next_cursor=cursor_of(page.after, question),
    )
    return private(answer)


@router.delete(
    "/items/{id}",
    operation_id="deleteContributed",
    summary="Delete a contribution",
    response_model=models.Deleted,
    responses=examples.told(examples.DELETED, "It is gone, and what was derived from it follows.", 404),
    openapi_extra=TOKEN_MUST_COME,
)
async def delete(request: Request, caller: Contributor, id: ItemPath) -> Response:
    """Removes for good what your account contributed, pending or approved; a reviewer anything of the organisation."""
    found = item_id(id)
    using(request).hive.delete(caller.author, found, reviewer=is_reviewer(caller.principal))
    return private(models.Deleted(id=found, deleted=True))


@router.post(
    "/items/{id}/outcomes",
    operation_id="reportOutcome",
    summary="Report whether an item helped",
    response_model=models.ReportedOutcome,
    responses=examples.told(examples.OUTCOME, "Recorded, once for each account and run.", 404, 413),
    openapi_extra=TOKEN_MUST_COME,
)
async def report(
    request: Request,
    caller: Contributor,
    id: ItemPath,
    body: Annotated[models.NewOutcome, Body(examples=[{"outcome": "solved", "runId": "run-7"}])],
) -> Response:
    """Whether an item solved a problem: it raises or lowers its quality."""
    reported = using(request).hive.report(caller.author, item_id(id), body.outcome, body.run_id)
    answer = models.ReportedOutcome(
        item_id=reported.id,
        outcome=reported.outcome,
        counted=reported.counted,
        repeated=reported.repeated,
        helpful_count=reported.counts.helpful,
        not_helpful_count=reported.counts.not_helpful,
    )
    return private(answer)
