"""What the hive's endpoints work with: its services, who may call, and cursors of lists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from commonplace.hive.model import ItemId
from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.principals import Level, Principal, Tier, author, scope
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Forbidden, InvalidInput, Unavailable
from commonplace.web.middleware import client_address
from commonplace.web.representations import JSON
from commonplace.web.rest.account import PRIVATE, account
from commonplace.web.rest.models import Answer
from commonplace.web.rest.services import part, services
from commonplace.web.sealed import opened, sealed

if TYPE_CHECKING:
    from commonplace.hive.review import Reviews
    from commonplace.hive.service import Hive

MAX_CURSOR_CHARACTERS = 300

_PURPOSE = b"hive-list"


@dataclass(frozen=True, slots=True)
class HiveRest:
    hive: Hive
    reviews: Reviews


@dataclass(frozen=True, slots=True)
class Caller:
    """A verified account, and on whose behalf it acts."""

    principal: Principal
    author: Author


def _need(tier: Tier, level: Level) -> Need:
    return Need(tier, scope("hive", level), "contributions")


def _caller(need: Need) -> Callable[[Request, Principal], Awaitable[Caller]]:
    """A dependency: an account that may do what takes this.

    Raises SignIn, NotValid, Consent, Forbidden, RateLimited, Unavailable.
    """

    async def caller(request: Request, principal: Annotated[Principal, Depends(account)]) -> Caller:
        verdict = judge(principal, need)
        if verdict is not Verdict.ALLOWED:
            _refuse(request, verdict, need)
        return Caller(principal, author(principal, client_address(request.scope)))

    return caller


def _refuse(request: Request, verdict: Verdict, need: Need) -> None:
    accounts = services(request).accounts
    if accounts is not None:
        accounts.challenges.admit(verdict, need, accounts.resource)
    if verdict is Verdict.UNCERTAIN:
        raise Unavailable("The roles of your account cannot be read just now.", retry_after_seconds=30)
    if verdict is Verdict.KIND:
        raise Forbidden("This is beyond the kinds of things that your token reaches.")
    if verdict is Verdict.TIER:
        raise Forbidden(f"This is for accounts of the tier {need.tier}.", hint="Ask for a role that gives it.")
    raise Forbidden(f"This takes the scope {need.scope}.", hint="Ask for a token that has it.")


REVIEWER = _need("vibecoder", "admin")

Reader = Annotated[Caller, Depends(_caller(_need("member", "read")))]
Contributor = Annotated[Caller, Depends(_caller(_need("member", "write")))]
Reviewer = Annotated[Caller, Depends(_caller(REVIEWER))]


def is_reviewer(caller: Caller) -> bool:
    return judge(caller.principal, REVIEWER) is Verdict.ALLOWED


def using(request: Request) -> HiveRest:
    return part(request, HiveRest)


def private(answer: Answer) -> Response:
    """An answer that no cache keeps, for it depends on who asks."""
    return Response(answer.to_json(), media_type=JSON, headers=PRIVATE)


def cursor_of(after: ItemId | None, question: str) -> str | None:
    """Where a list goes on; `question` is everything that its order depends on."""
    return None if after is None else sealed(after.encode(), question, purpose=_PURPOSE)


def after_of(cursor: str | None, question: str) -> ItemId | None:
    """Raises InvalidInput for a cursor of another list, or of nobody."""
    if cursor is None:
        return None
    try:
        return ItemId(opened(cursor, question, purpose=_PURPOSE).decode())
    except ValueError:
        raise InvalidInput(
            "This cursor does not belong to this list.", hint="Leave it out to begin anew.", field="cursor"
        ) from None
