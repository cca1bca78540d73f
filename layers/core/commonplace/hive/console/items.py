"""What is approved: two feeds with search, and an item with where it comes from and what becomes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from commonplace.hive.access import READER, REVIEWER
from commonplace.hive.console.desk import (
    MESSAGES,
    Desk,
    attempted,
    chosen_category,
    item_id,
    who,
)
from commonplace.hive.model import MAX_LIMIT, MAX_QUERY_CHARACTERS, Asked, Contribution, ItemId
from commonplace.hive.passages import pieces
from commonplace.hive.service import stamp
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import CommonplaceError, InvalidInput
from commonplace.web.pages.declaration import Action, ConsolePage, Done, View, Visit

SHOWN = 50
PATH = "hive/items"
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Items:
    desk: Desk

    def pages(self) -> list[ConsolePage]:
        hive = self.desk.hive
        act: dict[str, tuple[Callable[[Author, ItemId], object], str]] = {
            "publish": (lambda author, id: hive.publish(author, id, is_public=True), "shared"),
            "withdraw": (lambda author, id: hive.publish(author, id, is_public=False), "withdrawn"),
        }
        return [
            ConsolePage(path=PATH, title="Contributed", show=self.show_feed, need=READER, messages=MESSAGES),
            ConsolePage(
                path=f"{PATH}/{{id}}",
                title="Contributed",
                show=self.show_item,
                need=READER,
                messages=MESSAGES,
                actions={
                    **{name: Action(partial(self._change, *how), REVIEWER) for name, how in act.items()},
                    "invalidate": Action(self._invalidate, REVIEWER),
                    "delete": Action(self._delete, REVIEWER),
                },
            ),
        ]

    async def show_feed(self, visit: Visit) -> View:
        query, author = visit.request.query_params, who(visit)
        public = query.get("feed") == "public"
        asked = query.get("q", "").strip()[:MAX_QUERY_CHARACTERS]
        category = chosen_category(query.get("category", ""))
        after = ItemId(query["after"]) if query.get("after") else None
        found: Sequence[Contribution]
        hint, more = None, None
        if asked:
            answer = await run_in_threadpool(
                self.desk.hive.search, author, Asked(query=asked, category=category, limit=MAX_LIMIT)
            )
            items = [result.item for result in answer.results]
            found = [one.contribution for one in items if (one.contribution.is_public if public else one.own)]
            hint = answer.hint
        else:
            page = await run_in_threadpool(
                partial(self.desk.reviews.items, author, public=public, limit=SHOWN, after=after)
            )
            found = [one for one in page.contributions if category in (None, one.category)]
            kept = {"feed": "public" if public else "", "category": category or "", "after": page.after or ""}
            more = urlencode({name: value for name, value in kept.items() if value}) if page.after else None
        values = {"found": found, "public": public, "asked": asked, "category": category, "more": more, "hint": hint}
        return View("hive_items.html", {**self.desk.common(visit), **values})

    async def show_item(self, visit: Visit) -> View:
        return await self._view(visit, None)

    async def _view(self, visit: Visit, problem: CommonplaceError | None) -> View:
        item = await run_in_threadpool(self.desk.hive.look, who(visit), item_id(visit))
        values = {
            **self.desk.common(visit),
            "item": item,
            "one": item.contribution,
            "pieces": list(pieces(item.contribution.content)),
            "problem": problem,
            "today": stamp(self.desk.clock())[:10],
        }
        return View("hive_item.html", values, problem.status if problem else 200)

    async def _change(self, change: Callable[[Author, ItemId], object], message: str, visit: Visit) -> Done | View:
        told = await attempted(partial(self._view, visit), change, who(visit), item_id(visit))
        return told if isinstance(told, View) else Done(message)

    async def _invalidate(self, visit: Visit) -> Done | View:
        """An empty date makes it valid again; today is now."""
        day, now = visit.value("date"), stamp(self.desk.clock())
        if day and not DAY.fullmatch(day):
            return await self._view(visit, InvalidInput("This is no date.", hint="Write it like 2026-11-23."))
        at = now if day == now[:10] else f"{day}T00:00:00.000000Z" if day else None

        def invalidate(author: Author, id: ItemId) -> Contribution:
            return self.desk.reviews.invalidate(author, id, at, visit.value("reason"))

        return await self._change(invalidate, "invalidated" if at else "valid", visit)

    async def _delete(self, visit: Visit) -> Done | View:
        if visit.value("sure") != "yes":
            return await self._view(visit, InvalidInput("Nothing was deleted.", hint="Tick that you are sure first."))

        def delete() -> None:
            self.desk.hive.delete(who(visit), item_id(visit), reviewer=True)

        told = await attempted(partial(self._view, visit), delete)
        return told if isinstance(told, View) else Done("deleted", path=PATH)
