"""The console's pages of the hive: the review queue, feeds and items, rules, figures."""

from __future__ import annotations

import re
import secrets
from asyncio import gather
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from commonplace.hive import operations
from commonplace.hive.access import READER, REVIEWER
from commonplace.hive.model import CATEGORIES, MAX_LIMIT, MAX_QUERY_CHARACTERS, REASONS, Contribution, HiveQuery, stamp
from commonplace.hive.operations import (
    HiveServices,
    approve,
    flag,
    list_items,
    list_pending,
    mask,
    reject,
)
from commonplace.hive.passages import ago, difference, pieces
from commonplace.hive.settings import HiveSettings
from commonplace.kernel.deferred import deferred
from commonplace.kernel.errors import BadRequest, CommonplaceError, Conflict, InvalidInput
from commonplace.redaction.model import KINDS
from commonplace.web.operation_pages import action, actor
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, Done, View, Visit
from commonplace.web.pages.frame import PageContext

HERE = Path(__file__).parent
SHOWN = 50
"""Rows on a page."""
QUEUE, PENDING, ITEMS = "hive", "hive/pending", "hive/items"
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

MESSAGES = {
    "approved": "Approved.",
    "published": "Approved and published.",
    "rejected": "Rejected; its text is gone.",
    "flagged": "Flagged for a second look.",
    "unflagged": "The flag is taken off.",
    "masked": "Masked. Read it once more before you decide.",
    "filled": "The words stand in place of the placeholder.",
    "shared": "Published: agents of every organisation find it.",
    "withdrawn": "Withdrawn: only your own organisation finds it from now on.",
    "invalidated": "Noted. From that day on it is found only by whoever asks for an earlier time.",
    "valid": "It is valid again.",
    "deleted": "Deleted, and everything that was made of it.",
    "saved": "Saved. It holds for contributions that come from now on.",
}


@dataclass(frozen=True, slots=True)
class HivePages:
    """The pages over these services; `names` are public names of organisations."""

    using: HiveServices
    names: Mapping[str, str] = field(default_factory=dict)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def pages(self) -> list[ConsolePage]:
        decide = partial(action, service=self.using, show=self.show_one)
        change = partial(action, service=self.using, show=self.show_item)
        rule = partial(action, operations.put_rules, self.using, self.show_rules, done="saved")
        return [
            ConsolePage(
                path=QUEUE,
                title="Review",
                show=self.show_queue,
                need=REVIEWER,
                messages=MESSAGES,
                waiting=self.waiting,
            ),
            ConsolePage(
                path=f"{PENDING}/{{id}}",
                title="Review a contribution",
                show=partial(self.show_one, problem=None),
                need=REVIEWER,
                messages=MESSAGES,
                actions={
                    "approve": decide(approve, done=self._next("approved")),
                    "publish": decide(approve, done=self._next("published"), values=lambda _: {"public": True}),
                    "flag": decide(flag, done=_here("flagged"), values=lambda _: {"sensitive": True}),
                    "unflag": decide(flag, done=_here("unflagged"), values=lambda _: {"sensitive": False}),
                    "reject": decide(reject, done=self._next("rejected"), values=_reason),
                    "mask": decide(mask, done=_here("masked")),
                    "fill": decide(operations.fill, done=_here("filled")),
                },
            ),
            ConsolePage(path=ITEMS, title="Contributed", show=self.show_feed, need=READER, messages=MESSAGES),
            ConsolePage(
                path=f"{ITEMS}/{{id}}",
                title="Contributed",
                show=partial(self.show_item, problem=None),
                need=READER,
                messages=MESSAGES,
                actions={
                    "publish": change(
                        operations.publish_knowledge, done="shared", values=lambda _: {"is_public": True}
                    ),
                    "withdraw": change(
                        operations.publish_knowledge, done="withdrawn", values=lambda _: {"is_public": False}
                    ),
                    "invalidate": change(operations.invalidate, done=_validity, values=self._end),
                    "delete": change(operations.delete_knowledge, done=_deleted, values=_sure, need=REVIEWER),
                },
            ),
            ConsolePage(
                path="hive/rules",
                title="Rules for contributions",
                show=partial(self.show_rules, problem=None),
                need=REVIEWER,
                messages=MESSAGES,
                listed=False,
                actions={name: rule(values=partial(self._rules, changed)) for name, changed in CHANGES.items()},
            ),
            ConsolePage(
                path="hive/figures",
                title="Figures of contributions",
                show=self.show_figures,
                need=REVIEWER,
                listed=False,
            ),
        ]

    def view(self, template: str, visit: Visit, problem: CommonplaceError | None = None, **values: Any) -> View:
        common = {
            "reviewer": visit.may(REVIEWER),
            "categories": CATEGORIES,
            "words": lambda code: code.replace("_", " "),
            "plain": lambda text: "".join(piece.text for piece in pieces(text)),
            "when": datetime.fromisoformat,
            "ago": lambda time: ago(time, self.clock()),
            "attribution": lambda organisation: self.names.get(organisation, organisation),
            "problem": problem,
        }
        return View(template, common | values, problem.status if problem else 200)

    async def waiting(self, visit: Visit) -> int:
        return await run_in_threadpool(self.using.reviews.waiting, actor(visit).author)

    async def show_queue(self, visit: Visit) -> View:
        chosen, cursor, who = filters(visit), visit.request.query_params.get("cursor") or None, actor(visit)
        page, oldest, waiting = await gather(
            run_in_threadpool(list_pending.read, self.using, who, self._queue(chosen, cursor)),
            run_in_threadpool(lambda: next(self.using.reviews.pending(who.author, page=1), None)),
            run_in_threadpool(self.using.reviews.waiting, who.author),
        )
        return self.view(
            "hive_queue.html",
            visit,
            found=page[0],
            oldest=oldest,
            waiting=waiting,
            chosen=chosen,
            query=query_of(chosen),
            more=place(QUEUE, chosen | {"cursor": page[1]}) if page[1] else None,
            cursor=cursor,
        )

    async def show_one(self, visit: Visit, problem: CommonplaceError | None) -> View:
        chosen, id = filters(visit), visit.request.path_params["id"]
        review, following, previous = await gather(
            run_in_threadpool(self.using.reviews.show, actor(visit).author, id),
            run_in_threadpool(self._beside, visit, chosen, id),
            run_in_threadpool(partial(self._beside, visit, chosen, id, newest=True)),
        )
        one = review.contribution
        near = [
            (
                near,
                [(change, list(pieces(change.text))) for change in difference(near.contribution.content, one.content)],
            )
            for near in review.near
        ]
        return self.view(
            "hive_pending.html",
            visit,
            problem,
            review=review,
            one=one,
            pieces=list(pieces(one.content, review.marks)),
            near=near,
            next=following and place(*following),
            previous=previous and place(*previous),
            reasons=REASONS,
            kinds=KINDS,
            query=query_of(chosen),
            fields={name: visit.value(name) for name in ("passage", "kind", "reason", "more", "number", "words")},
        )

    async def show_feed(self, visit: Visit) -> View:
        query, who = visit.request.query_params, actor(visit)
        public, asked = query.get("feed") == "public", query.get("q", "").strip()[:MAX_QUERY_CHARACTERS]
        category = next((one for one in CATEGORIES if one == query.get("category")), None)
        hint, more = None, None
        if asked:
            wanted = HiveQuery(query=asked, category=category, limit=MAX_LIMIT)
            answer = await run_in_threadpool(self.using.hive.search, who.author, wanted)
            items = [result.item for result in answer.results]
            found = [one.contribution for one in items if (one.contribution.is_public if public else one.own)]
            hint = answer.hint
        else:
            given = list_items.input(
                feed="public" if public else "own", limit=SHOWN, cursor=query.get("cursor") or None
            )
            records, cursor = await run_in_threadpool(list_items.read, self.using, who, given)
            found = [one.contribution for one in records if category in (None, one.contribution.category)]
            more = (
                query_of({"feed": "public" if public else "", "category": category, "cursor": cursor})
                if cursor
                else None
            )
        values = {"found": found, "public": public, "asked": asked, "category": category, "more": more, "hint": hint}
        return self.view("hive_items.html", visit, None, **values)

    async def show_item(self, visit: Visit, problem: CommonplaceError | None) -> View:
        item = await run_in_threadpool(self.using.hive.look, actor(visit).author, visit.request.path_params["id"])
        return self.view(
            "hive_item.html",
            visit,
            problem,
            item=item,
            one=item.contribution,
            pieces=list(pieces(item.contribution.content)),
            today=stamp(self.clock())[:10],
        )

    async def show_rules(self, visit: Visit, problem: CommonplaceError | None) -> View:
        rules = await run_in_threadpool(self.using.reviews.rules, actor(visit).author)
        given = {name: visit.value(name) if problem else "" for name in ("agent", "confidence", "pattern", "text")}
        return self.view("hive_rules.html", visit, problem, rules=rules, given=given)

    async def show_figures(self, visit: Visit) -> View:
        stats = await run_in_threadpool(self.using.reviews.stats, actor(visit).author)
        return self.view("hive_figures.html", visit, stats=stats)

    def _queue(self, chosen: Mapping[str, Any], cursor: str | None = None, **more: Any) -> Any:
        return list_pending.input(**{"limit": SHOWN} | dict(chosen) | more, cursor=cursor)

    def _beside(
        self, visit: Visit, chosen: Mapping[str, Any], id: str, *, newest: bool = False
    ) -> tuple[str, Mapping[str, Any]] | None:
        """Return the place of the contribution beside this one in the queue, or of the rest of the queue."""
        given = self._queue(chosen, order="newest" if newest else "oldest", limit=1)
        after = given.model_copy(update={"cursor": list_pending.cursor(given, id)})
        found, rest = list_pending.read(self.using, actor(visit), after)
        if found:
            return f"{PENDING}/{found[0].id}", chosen
        return (QUEUE, {**chosen, "cursor": rest}) if rest and not newest else None

    def _next(self, message: str) -> Callable[[Visit, Any], Any]:
        """Return what opens the next contribution of the queue after a decision."""

        async def done(visit: Visit, _: Any) -> Done:
            chosen = filters(visit)
            following = await run_in_threadpool(self._beside, visit, chosen, visit.request.path_params["id"])
            path, query = following or (QUEUE, chosen)
            return Done(message, texts(query), path)

        return done

    def _end(self, visit: Visit) -> dict[str, Any]:
        """Return the end that a form gives: no date makes an item valid again; today is now."""
        day, now = visit.value("date"), stamp(self.clock())
        if day and not DAY.fullmatch(day):
            raise InvalidInput("This is no date.", hint="Write it like 2026-11-23.")
        return {"invalid_at": now if day == now[:10] else day or None}

    def _rules(self, change: Callable[[dict[str, Any], Visit], None], visit: Visit) -> dict[str, Any]:
        """Return the rules that the page showed, changed. Raises Conflict where they are others now."""
        rules = asdict(self.using.reviews.rules(actor(visit).author))
        if str(rules["revision"]) != visit.value("revision"):
            raise Conflict("Somebody else has changed the rules meanwhile.", hint="These are the present ones.")
        change(rules, visit)
        return rules


def _add_approval(rules: dict[str, Any], visit: Visit) -> None:
    try:
        confidence = float(visit.value("confidence") or 0)
    except ValueError:
        raise BadRequest("This is no confidence.", hint="Write a number from 0 to 1.") from None
    category = next((one for one in CATEGORIES if one == visit.value("category")), None)
    agent = visit.value("agent").strip() or None
    new = {"id": secrets.token_hex(4), "category": category, "agent": agent, "min_confidence": confidence}
    rules["approvals"] = (*rules["approvals"], new)


def _remove_approval(rules: dict[str, Any], visit: Visit) -> None:
    rules["approvals"] = tuple(one for one in rules["approvals"] if one["id"] != visit.value("rule"))


def _add(name: str, from_field: str, rules: dict[str, Any], visit: Visit) -> None:
    if new := visit.value(from_field).strip():
        rules[name] = (*rules[name], new)


def _remove(name: str, from_field: str, rules: dict[str, Any], visit: Visit) -> None:
    rules[name] = tuple(one for one in rules[name] if one != visit.value(from_field))


CHANGES: dict[str, Callable[[dict[str, Any], Visit], None]] = {
    "add-approval": _add_approval,
    "remove-approval": _remove_approval,
    "add-pattern": partial(_add, "patterns", "pattern"),
    "remove-pattern": partial(_remove, "patterns", "pattern"),
    "allow": partial(_add, "allowed", "text"),
    "disallow": partial(_remove, "allowed", "text"),
}


def filters(visit: Visit) -> dict[str, Any]:
    """Return which part of the queue a reviewer goes through, as the query of the address says."""
    query = visit.request.query_params
    category = next((one for one in CATEGORIES if one == query.get("category")), None)
    return {"category": category, "marked": bool(query.get("marked")), "sensitive": bool(query.get("sensitive"))}


def texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return what is chosen as an address has it."""
    return {name: "1" if value is True else str(value) for name, value in values.items() if value}


def query_of(values: Mapping[str, Any]) -> str:
    return f"?{urlencode(texts(values))}" if any(values.values()) else ""


def place(path: str, query: Mapping[str, Any]) -> str:
    return f"/console/{path}{query_of(query)}"


def _here(message: str) -> Callable[[Visit, Any], Any]:
    async def done(visit: Visit, _: Any) -> Done:
        return Done(message, texts(filters(visit)))

    return done


def _reason(visit: Visit) -> dict[str, Any]:
    given = (visit.value("reason").strip(), " ".join(visit.value("more").split()))
    reason = ": ".join(part for part in given if part)
    if not reason:
        raise InvalidInput("Say why: the contributor reads it.")
    return {"reason": reason}


async def _validity(_: Visit, item: Contribution) -> Done:
    return Done("invalidated" if item.invalid_at else "valid")


def _sure(visit: Visit) -> dict[str, Any]:
    if visit.value("sure") != "yes":
        raise InvalidInput("Nothing was deleted.", hint="Tick that you are sure first.")
    return {}


async def _deleted(_: Visit, __: Any) -> Done:
    return Done("deleted", path=ITEMS)


def pages(context: PageContext) -> ConsolePages | None:
    """Return the pages of a deployment; None without a table of records."""
    settings = HiveSettings.where_contributed(context.environ)
    if settings is None:
        return None

    def build() -> HiveServices:
        from commonplace.hive.composition import services

        return services(context.environ, context.settings, context.objects)

    return hive_pages(HivePages(deferred(build), settings.names))


def hive_pages(shown: HivePages) -> ConsolePages:
    """Return these pages as the console takes them."""
    return ConsolePages(pages=shown.pages(), templates=HERE / "templates", assets=HERE / "assets")
