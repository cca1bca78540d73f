"""The queue: contributions that wait, one after the other, and what a reviewer decides of each."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from commonplace.hive.access import REVIEWER
from commonplace.hive.console.desk import MESSAGES, Desk, attempted, chosen_category, item_id, who
from commonplace.hive.model import REASONS, Category, Contribution, ItemId, Page
from commonplace.hive.passages import Change, Piece, difference, pieces
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import CommonplaceError, InvalidInput
from commonplace.redaction.model import KINDS, Kind
from commonplace.web.pages.declaration import Action, ConsolePage, Done, View, Visit

SHOWN = 50
Decision = Callable[[Author, ItemId], Contribution]
PATH, PENDING = "hive", "hive/pending"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which part of the queue a reviewer goes through."""

    category: Category | None = None
    marked: bool = False
    sensitive: bool = False

    @classmethod
    def of(cls, visit: Visit) -> Filter:
        query = visit.request.query_params
        return cls(chosen_category(query.get("category", "")), bool(query.get("marked")), bool(query.get("sensitive")))

    @property
    def query(self) -> dict[str, str]:
        given = {
            "category": self.category or "",
            "marked": "1" if self.marked else "",
            "sensitive": "1" if self.sensitive else "",
        }
        return {name: value for name, value in given.items() if value}

    @property
    def url_query(self) -> str:
        return f"?{urlencode(self.query)}" if self.query else ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to go on: a contribution, or a further part of the queue."""

    path: str
    query: Mapping[str, str]

    @property
    def url(self) -> str:
        return f"/console/{self.path}" + (f"?{urlencode(self.query)}" if self.query else "")


@dataclass(frozen=True, slots=True)
class Queue:
    desk: Desk

    def pages(self) -> list[ConsolePage]:
        reviews = self.desk.reviews
        decide: dict[str, tuple[Decision, str]] = {
            "approve": (lambda author, id: reviews.approve(author, id, public=False), "approved"),
            "publish": (lambda author, id: reviews.approve(author, id, public=True), "published"),
        }
        stay: dict[str, tuple[Decision, str]] = {
            "flag": (lambda author, id: reviews.flag(author, id, sensitive=True), "flagged"),
            "unflag": (lambda author, id: reviews.flag(author, id, sensitive=False), "unflagged"),
        }
        return [
            ConsolePage(
                path=PATH,
                title="Review",
                show=self.show_queue,
                need=REVIEWER,
                messages=MESSAGES,
                waiting=self.waiting,
            ),
            ConsolePage(
                path=f"{PENDING}/{{id}}",
                title="Review a contribution",
                show=self.show_one,
                need=REVIEWER,
                messages=MESSAGES,
                actions={
                    **{name: Action(partial(self._decide, *how)) for name, how in decide.items()},
                    **{name: Action(partial(self._change, *how)) for name, how in stay.items()},
                    "reject": Action(self._reject),
                    "mask": Action(self._mask),
                },
            ),
        ]

    async def waiting(self, visit: Visit) -> int:
        return await run_in_threadpool(self.desk.reviews.waiting, who(visit))

    async def show_queue(self, visit: Visit) -> View:
        chosen, author = Filter.of(visit), who(visit)
        after = ItemId(visit.request.query_params["after"]) if visit.request.query_params.get("after") else None

        page, first, waiting = await gather(
            run_in_threadpool(self._page, author, chosen, SHOWN, after),
            run_in_threadpool(self.desk.reviews.pending, author, 1),
            run_in_threadpool(self.desk.reviews.waiting, author),
        )
        oldest = next(iter(first.contributions), None)
        more = Place(PATH, {**chosen.query, "after": page.after}) if page.after else None
        values = {"page": page, "oldest": oldest, "waiting": waiting, "chosen": chosen, "more": more, "after": after}
        return View("hive_queue.html", {**self.desk.common(visit), **values})

    async def show_one(self, visit: Visit) -> View:
        return await self._view(visit, None)

    async def _view(self, visit: Visit, problem: CommonplaceError | None) -> View:
        chosen, author, id = Filter.of(visit), who(visit), item_id(visit)
        review, following, previous = await gather(
            run_in_threadpool(self.desk.reviews.show, author, id),
            run_in_threadpool(self._beside, author, chosen, id),
            run_in_threadpool(partial(self._beside, author, chosen, id, newest_first=True)),
        )
        contribution = review.contribution
        values = {
            **self.desk.common(visit),
            "review": review,
            "one": contribution,
            "pieces": list(pieces(contribution.content, review.marks)),
            "near": [(near, _changes(near.contribution, contribution)) for near in review.near],
            "next": following,
            "previous": previous,
            "reasons": REASONS,
            "kinds": KINDS,
            "problem": problem,
            "query": chosen.url_query,
            "fields": {name: visit.value(name) for name in ("passage", "kind", "reason", "more")},
        }
        return View("hive_pending.html", values, problem.status if problem else 200)

    async def _decide(self, decide: Decision, message: str, visit: Visit) -> Done | View:
        """Opens the next one, where nobody else has decided meanwhile."""
        told = await attempted(partial(self._view, visit), decide, who(visit), item_id(visit))
        if isinstance(told, View):
            return told
        chosen = Filter.of(visit)
        place = await run_in_threadpool(self._beside, who(visit), chosen, item_id(visit))
        place = place or Place(PATH, chosen.query)
        return Done(message, place.query, place.path)

    async def _reject(self, visit: Visit) -> Done | View:
        given = (visit.value("reason").strip(), " ".join(visit.value("more").split()))
        reason = ": ".join(part for part in given if part)
        if not reason:
            return await self._view(visit, InvalidInput("Say why: whoever contributed it is told."))

        def reject(author: Author, id: ItemId) -> Contribution:
            return self.desk.reviews.reject(author, id, reason)

        return await self._decide(reject, "rejected", visit)

    async def _change(self, change: Decision, message: str, visit: Visit) -> Done | View:
        told = await attempted(partial(self._view, visit), change, who(visit), item_id(visit))
        return told if isinstance(told, View) else Done(message, Filter.of(visit).query)

    async def _mask(self, visit: Visit) -> Done | View:
        passage = visit.value("passage")
        kind: Kind = next((kind for kind in KINDS if kind == visit.value("kind")), "REDACTED")

        def mask(author: Author, id: ItemId) -> Contribution:
            return self.desk.reviews.mask(author, id, passage, kind)

        return await self._change(mask, "masked", visit)

    def _page(
        self, author: Author, chosen: Filter, limit: int, after: ItemId | None, *, newest_first: bool = False
    ) -> Page:
        return self.desk.reviews.pending(
            author,
            limit,
            after,
            category=chosen.category,
            marked=chosen.marked,
            sensitive=chosen.sensitive,
            newest_first=newest_first,
        )

    def _beside(self, author: Author, chosen: Filter, id: ItemId, *, newest_first: bool = False) -> Place | None:
        page = self._page(author, chosen, 1, id, newest_first=newest_first)
        if page.contributions:
            return Place(f"{PENDING}/{page.contributions[0].id}", chosen.query)
        if page.after and not newest_first:
            return Place(PATH, {**chosen.query, "after": page.after})
        return None


def _changes(old: Contribution, new: Contribution) -> list[tuple[Change, list[Piece]]]:
    return [(change, list(pieces(change.text))) for change in difference(old.content, new.content)]
