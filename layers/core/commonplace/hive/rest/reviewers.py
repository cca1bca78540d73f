"""Endpoints for reviewers (`hive:admin`): the queue, decisions, publication, validity, rules, figures, export."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Query
from starlette.requests import Request
from starlette.responses import Response

from commonplace.hive.inputs import item_id, moment
from commonplace.hive.model import DEFAULT_LISTED, MAX_LISTED
from commonplace.hive.rest import examples, models
from commonplace.hive.rest.agents import TAG, Cursor, ItemPath, Narrowed
from commonplace.hive.rest.services import Reviewer, after_of, cursor_of, using
from commonplace.web.rest.account import private
from commonplace.web.rest.documentation import TOKEN_MUST_COME

router = APIRouter(prefix="/hive", tags=[TAG])

DECIDED = (404, 409, 413)

Paged = Annotated[int, Query(ge=1, le=MAX_LISTED, description="Rows on a page.")]


@router.get(
    "/pending",
    operation_id="listPending",
    summary="List what waits for review",
    response_model=models.Queue,
    responses=examples.told(examples.QUEUE, "The queue of your organisation."),
    openapi_extra=TOKEN_MUST_COME,
)
async def pending(
    request: Request,
    caller: Reviewer,
    *,
    category: Narrowed = None,
    marked: Annotated[bool, Query(description="Only what gives orders to agents.")] = False,
    sensitive: Annotated[bool, Query(description="Only what was flagged for a second look.")] = False,
    order: Annotated[Literal["oldest", "newest"], Query(description="Which comes first.")] = "oldest",
    limit: Paged = DEFAULT_LISTED,
    cursor: Cursor = None,
) -> Response:
    """The queue, oldest first unless you say otherwise. A page of a filter may be short and not the last."""
    question = f"{category} {marked} {sensitive} {order}"
    reviews = using(request).reviews
    page = reviews.pending(
        caller.author,
        limit,
        after_of(cursor, question),
        category=category,
        marked=marked,
        sensitive=sensitive,
        newest_first=order == "newest",
    )
    answer = models.Queue(
        contributions=[models.Reviewed.model_validate(one) for one in page.contributions],
        next_cursor=cursor_of(page.after, question),
        waiting=reviews.waiting(caller.author),
    )
    return private(answer)


@router.get(
    "/pending/{id}",
    operation_id="getReview",
    summary="Get what to know before deciding",
    response_model=models.ReviewSheet,
    responses=examples.told(examples.SHEET, "The contribution, what is marked in it, and what resembles it.", 404),
    openapi_extra=TOKEN_MUST_COME,
)
async def show(request: Request, caller: Reviewer, id: ItemPath) -> Response:
    """A contribution of your organisation, whatever became of it, with its marks and near duplicates."""
    return private(models.ReviewSheet.made(using(request).reviews.show(caller.author, item_id(id))))


@router.post(
    "/pending/{id}/approve",
    operation_id="approve",
    summary="Approve a contribution",
    response_model=models.Reviewed,
    responses=examples.told(examples.REVIEWED, "It is an item now.", *DECIDED),
    openapi_extra=TOKEN_MUST_COME,
)
async def approve(
    request: Request,
    caller: Reviewer,
    id: ItemPath,
    body: Annotated[models.Approval, Body(examples=[{"public": False}])],
) -> Response:
    """Your organisation finds it from now on; everybody, with `public`."""
    return private(
        models.Reviewed.model_validate(using(request).reviews.approve(caller.author, item_id(id), public=body.public))
    )


@router.post(
    "/pending/{id}/reject",
    operation_id="reject",
    summary="Reject a contribution",
    response_model=models.Reviewed,
    responses=examples.told(examples.REVIEWED, "Its text is gone; the reason stays.", *DECIDED),
    openapi_extra=TOKEN_MUST_COME,
)
async def reject(
    request: Request,
    caller: Reviewer,
    id: ItemPath,
    body: Annotated[models.Rejection, Body(examples=[{"reason": "It is in the manual."}])],
) -> Response:
    """Takes its text away, and keeps the reason for whoever contributed it."""
    return private(
        models.Reviewed.model_validate(using(request).reviews.reject(caller.author, item_id(id), body.reason))
    )


@router.post(
    "/pending/{id}/flag",
    operation_id="flag",
    summary="Ask for a second look",
    response_model=models.Reviewed,
    responses=examples.told(examples.REVIEWED, "It waits on, flagged or not.", *DECIDED),
    openapi_extra=TOKEN_MUST_COME,
)
async def flag(
    request: Request, caller: Reviewer, id: ItemPath, body: Annotated[models.Flag, Body(examples=[{"sensitive": True}])]
) -> Response:
    """Says that another reviewer should look, or that one has."""
    return private(
        models.Reviewed.model_validate(
            using(request).reviews.flag(caller.author, item_id(id), sensitive=body.sensitive)
        )
    )


@router.post(
    "/pending/{id}/mask",
    operation_id="mask",
    summary="Mask what the redaction has missed",
    response_model=models.Reviewed,
    responses=examples.told(examples.REVIEWED, "With a placeholder wherever the passage stood.", *DECIDED),
    openapi_extra=TOKEN_MUST_COME,
)
async def mask(
    request: Request,
    caller: Reviewer,
    id: ItemPath,
    body: Annotated[models.Passage, Body(examples=[{"passage": "Rosa", "kind": "NAME"}])],
) -> Response:
    """Puts a placeholder in the place of a passage, in every field."""
    masked = using(request).reviews.mask(caller.author, item_id(id), body.passage, body.kind)
    return private(models.Reviewed.model_validate(masked))


@router.get(
    "/items",
    operation_id="listItems",
    summary="List items",
    response_model=models.KnowledgeItems,
    responses=examples.told(examples.ITEMS, "A page of items, whole."),
    openapi_extra=TOKEN_MUST_COME,
)
async def items(
    request: Request,
    caller: Reviewer,
    *,
    feed: Annotated[
        Literal["own", "public"], Query(description="Your organisation's items, or public knowledge of all.")
    ] = "own",
    limit: Paged = DEFAULT_LISTED,
    cursor: Cursor = None,
) -> Response:
    """Items newest first, page by page: for an export, or a feed."""
    reviews = using(request).reviews
    page = reviews.items(caller.author, public=feed == "public", limit=limit, after=after_of(cursor, feed))
    answer = models.KnowledgeItems(
        items=[models.KnowledgeItem.made(one) for one in reviews.seen(caller.author, page)],
        next_cursor=cursor_of(page.after, feed),
    )
    return private(answer)


@router.put(
    "/items/{id}/publication",
    operation_id="publish",
    summary="Publish an item, or withdraw it",
    response_model=models.Publication,
    responses=examples.told(examples.PUBLICATION, "As it is now.", *DECIDED),
    openapi_extra=TOKEN_MUST_COME,
)
async def publish(
    request: Request,
    caller: Reviewer,
    id: ItemPath,
    body: Annotated[models.NewPublication, Body(examples=[{"isPublic": True}])],
) -> Response:
    """Shares an approved item of your organisation with all others, or takes it back."""
    one = using(request).hive.publish(caller.author, item_id(id), is_public=body.is_public).contribution
    return private(models.Publication(id=one.id, is_public=one.is_public, published_at=one.published_at))


@router.put(
    "/items/{id}/validity",
    operation_id="invalidate",
    summary="Say since when an item is not true any more",
    response_model=models.Reviewed,
    responses=examples.told(examples.REVIEWED, "As it is now. Nothing is deleted.", *DECIDED),
    openapi_extra=TOKEN_MUST_COME,
)
async def invalidate(
    request: Request,
    caller: Reviewer,
    id: ItemPath,
    body: Annotated[models.Validity, Body(examples=[{"invalidAt": "2026-11-23", "reason": "Fixed in 2.1."}])],
) -> Response:
    """From then on it is found only "as of" before."""
    end = None if body.invalid_at is None else moment(body.invalid_at, "invalidAt")
    return private(
        models.Reviewed.model_validate(using(request).reviews.invalidate(caller.author, item_id(id), end, body.reason))
    )


@router.get(
    "/rules",
    operation_id="getRules",
    summary="Get the rules of your organisation",
    response_model=models.RulesAnswer,
    responses=examples.told(examples.RULES, "What is approved, masked or kept by rule."),
    openapi_extra=TOKEN_MUST_COME,
)
async def rules(request: Request, caller: Reviewer) -> Response:
    """Rules of approval, patterns that are masked besides, and texts that are never masked."""
    return private(models.RulesAnswer.model_validate(using(request).reviews.rules(caller.author)))


@router.put(
    "/rules",
    operation_id="putRules",
    summary="Change the rules of your organisation",
    response_model=models.RulesAnswer,
    responses=examples.told(examples.RULES, "The rules, with their new revision.", 409, 413),
    openapi_extra=TOKEN_MUST_COME,
)
async def put_rules(
    request: Request, caller: Reviewer, body: Annotated[models.NewRules, Body(examples=[examples.NEW_RULES])]
) -> Response:
    """Replaces all rules, if nobody has changed them since the `revision` that you read."""
    return private(models.RulesAnswer.model_validate(using(request).reviews.change_rules(caller.author, body.rules())))


@router.get(
    "/stats",
    operation_id="getHiveStats",
    summary="Get the figures of your organisation",
    response_model=models.StatsAnswer,
    responses=examples.told(examples.STATS, "Contributed, retrieved, waiting."),
    openapi_extra=TOKEN_MUST_COME,
)
async def stats(request: Request, caller: Reviewer) -> Response:
    """What was contributed, what waits, what was fetched by whom, and who floods the queue."""
    return private(models.StatsAnswer.model_validate(using(request).reviews.stats(caller.author)))
