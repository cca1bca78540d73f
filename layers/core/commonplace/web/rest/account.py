"""Who calls: what a client, or a person, wants to know of the token at hand."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import Response

from commonplace.documents.rest import examples, shapes
from commonplace.identity.principals import Principal, ordered
from commonplace.web.rest.accounts import PRIVATE, account
from commonplace.web.rest.documentation import TOKEN_MUST_COME, answers
from commonplace.web.rest.pages import JSON, encode

router = APIRouter(tags=["Account"])


@router.get(
    "/me",
    operation_id="getMe",
    summary="Get who you are",
    response_model=shapes.Me,
    responses=answers(examples.ME, 401, 403, description="What the token may do now.", conditional=False),
    openapi_extra=TOKEN_MUST_COME,
)
async def get_me(principal: Annotated[Principal, Depends(account)]) -> Response:
    """The account behind the access token, with its tier and roles as of now, and what the token may do."""
    return Response(encode(_told(principal)), media_type=JSON, headers=PRIVATE)


def _told(principal: Principal) -> dict[str, Any]:
    kinds = principal.resource_scopes
    return {
        "subject": principal.subject,
        "name": principal.display_name,
        "tier": principal.tier,
        "roles": sorted(principal.roles),
        "uncertain": principal.uncertain,
        "organisation": principal.organisation,
        "member": principal.member,
        "scopes": list(ordered(principal.scopes)),
        "attainable": list(ordered(principal.attainable)),
        "permission": principal.permission,
        "resourceScopes": None if kinds is None else sorted(kinds),
        "client": principal.client,
        "grant": principal.grant,
    }
