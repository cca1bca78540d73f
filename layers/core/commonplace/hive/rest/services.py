"""What the hive's endpoints work with: its services, who may call, and cursors of lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import Request

from commonplace.hive.access import CONTRIBUTOR, READER, REVIEWER
from commonplace.hive.model import ItemId
from commonplace.kernel.errors import InvalidInput
from commonplace.web.rest.account import Caller, permitted
from commonplace.web.rest.declaration import part
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


Reader = Annotated[Caller, Depends(permitted(READER))]
Contributor = Annotated[Caller, Depends(permitted(CONTRIBUTOR))]
Reviewer = Annotated[Caller, Depends(permitted(REVIEWER))]


def using(request: Request) -> HiveRest:
    return part(request, HiveRest)


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
