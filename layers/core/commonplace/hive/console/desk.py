"""What the console's pages of the hive share: services, who looks, times and links."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

from commonplace.hive.access import REVIEWER
from commonplace.hive.model import CATEGORIES, Category, ItemId
from commonplace.hive.passages import ago, pieces
from commonplace.hive.review import Reviews
from commonplace.hive.service import Hive
from commonplace.identity.principals import author
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import CommonplaceError
from commonplace.web.middleware import client_address
from commonplace.web.pages.declaration import View, Visit

T = TypeVar("T")

MESSAGES = {
    "approved": "Approved.",
    "published": "Approved and published.",
    "rejected": "Rejected; its text is gone.",
    "flagged": "Flagged for a second look.",
    "unflagged": "The flag is taken off.",
    "masked": "Masked. Read it once more before you decide.",
    "shared": "Published: agents of every organisation find it.",
    "withdrawn": "Withdrawn: only your own organisation finds it from now on.",
    "invalidated": "Noted. From that day on it is found only by whoever asks for an earlier time.",
    "valid": "It is valid again.",
    "deleted": "Deleted, and everything that was made of it.",
    "saved": "Saved. It holds for contributions that come from now on.",
}


@dataclass(frozen=True, slots=True)
class Desk:
    """The services as they are built from settings, or those of a test."""

    hive: Hive
    reviews: Reviews
    names: Mapping[str, str] = field(default_factory=dict)
    """Public names of organisations."""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def common(self, visit: Visit) -> dict[str, Any]:
        """Values of every template."""
        return {
            "reviewer": visit.may(REVIEWER),
            "categories": CATEGORIES,
            "words": words,
            "plain": plain,
            "when": datetime.fromisoformat,
            "ago": lambda time: ago(time, self.clock()),
            "attribution": lambda organisation: self.names.get(organisation, organisation),
            "problem": None,
        }


def who(visit: Visit) -> Author:
    """Raises Forbidden for an account without an organisation."""
    return author(visit.principal, client_address(visit.request.scope))


def item_id(visit: Visit) -> ItemId:
    return ItemId(visit.request.path_params["id"])


def words(code: str) -> str:
    """`bug_fix` as people read it."""
    return code.replace("_", " ")


def plain(text: str) -> str:
    """With what is not seen written out."""
    return "".join(piece.text for piece in pieces(text))


def chosen_category(text: str) -> Category | None:
    return next((category for category in CATEGORIES if category == text), None)


async def attempted(
    show: Callable[[CommonplaceError], Awaitable[View]], work: Callable[..., T], *given: Any
) -> T | View:
    """What the work answers; what it refuses is said on the page itself."""
    try:
        return await run_in_threadpool(work, *given)
    except CommonplaceError as error:
        if error.status >= 500 or error.status == 404:
            raise
        return await show(error)
