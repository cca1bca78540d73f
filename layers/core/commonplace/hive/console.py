"""The console's pages of the hive: the review queue, feeds and items, rules, figures."""

from __future__ import annotations

import re
import secrets
from asyncio import gather
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

from pydantic import Field
from starlette.concurrency import run_in_threadpool

from commonplace.hive import faces, operations
from commonplace.hive.access import READER, REVIEWER
from commonplace.hive.model import (
    CATEGORIES,
    MAX_LIMIT,
    MAX_QUERY_CHARACTERS,
    REASONS,
    AutoApproval,
    Category,
    Contribution,
    HiveQuery,
    Rules,
    stamp,
)
from commonplace.hive.operations import (
    HiveServices,
    approve,
    flag,
    list_items,
    list_pending,
    mask,
    publish_knowledge,
    reject,
)
from commonplace.hive.passages import ago, difference, pieces
from commonplace.hive.settings import HiveSettings
from commonplace.kernel.deferred import deferred
from commonplace.kernel.errors import CommonplaceError, Conflict, InvalidInput
from commonplace.redaction.model import KINDS
from commonplace.web.operation_pages import SHOWN, Card, Cards, Form, action, actor, cards_page, tabs_of
from commonplace.web.operations import Actor, Input, operation
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, Done, Link, View, Visit
from commonplace.web.pages.frame import PageContext

HERE = Path(__file__).parent
QUEUE, PENDING, ITEMS = "hive", "hive/pending", "hive/items"
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

MESSAGES = {
    "approved": "Approved.",
    "published": "Approved and published.",
    "rejected": "Rejected. The text is deleted.",
    "flagged": "Flagged for a second review.",
    "unflagged": "Flag removed.",
    "masked": "Masked. Review the text again before you decide.",
    "filled": "Placeholder replaced.",
    "shared": "Published: agents of every organisation find it.",
    "withdrawn": "Unpublished: only your own organisation finds it now.",
    "invalidated": "Saved. From that day on only searches of an earlier time find it.",
    "valid": "It is valid again.",
    "deleted": "Deleted, with its index entries.",
    "saved": "Saved. It applies to new contributions.",
}

ABOUT = {
    "own": "What agents of your organisation contributed and a person, or a rule of yours, approved.",
    "public": "What organisations share: agents of all of them find it.",
}


class ItemFilters(Input):
    """The feeds, and what is looked for in them."""

    q: str = Field("", max_length=MAX_QUERY_CHARACTERS)
    category: Category | None = None
    feed: Literal["own", "public"] = "own"
    cursor: str | None = None


class NewApproval(Input):
    revision: int
    category: Category | None = None
    agent: str | None = Field(None, max_length=200, description="Such as agent:gardener; empty is everybody.")
    min_confidence: float = Field(0.8, ge=0, le=1)


class OneRule(Input):
    revision: int
    rule: str


RULES: dict[str, Any] = {"output": faces.RulesInForce, **operations.REVIEWING}


@operation("hive", **RULES, title="Add a rule", input=NewApproval)
def add_approval(using: HiveServices, actor: Actor, given: NewApproval) -> Rules:
    """Approves without a person what passes a new rule."""
    rules = using.reviews.rules(actor.author)
    rule = AutoApproval(id=secrets.token_hex(4), **given.model_dump(exclude={"revision"}))
    new = replace(rules, revision=given.revision, approvals=(*rules.approvals, rule))
    return using.reviews.change_rules(actor.author, new)


@operation("hive", **RULES, title="Remove a rule", input=OneRule)
def remove_approval(using: HiveServices, actor: Actor, given: OneRule) -> Rules:
    """Removes the rule with this id."""
    rules = using.reviews.rules(actor.author)
    left = tuple(one for one in rules.approvals if one.id != given.rule)
    return using.reviews.change_rules(actor.author, replace(rules, revision=given.revision, approvals=left))


INVALIDATE = Form(
    "invalidate",
    operations.invalidate,
    "Invalidate",
    "Save",
    {"invalid_at": "Invalid since; empty makes it valid again", "reason": "Reason"},
    kinds={"invalid_at": "date", "reason": "text"},
)
DELETE = Form(
    "delete",
    operations.delete_knowledge,
    "Delete",
    "Delete",
    about="Its index entries are deleted as well. This cannot be undone.",
    sure=True,
)
ADD_APPROVAL = Form(
    "add-approval",
    add_approval,
    "A new rule",
    "Add the rule",
    {"category": "Category", "agent": "Contributor", "min_confidence": "Confidence, at least"},
    hidden=("revision",),
    about="A rule names a category, a contributor or both.",
)
TEXTS = Form(
    "texts",
    operations.put_rules,
    "Redaction rules",
    "Save",
    {"patterns": "Also mask", "allowed": "Never mask"},
    hidden=("revision",),
    about="Patterns are for what only your organisation would call private, such as PROJ-\\d+: what they match becomes "
    "[REDACTED]. Names of products and other texts that look like personal data and are none need no mask.",
)


@dataclass(frozen=True, slots=True)
class HivePages:
    """The pages over these services; `names` are public names of organisations."""

    using: HiveServices
    names: Mapping[str, str] = field(default_factory=dict)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def pages(self) -> list[ConsolePage]:
        decide = partial(action, service=self.using, show=self.show_one)
        change = partial(action, service=self.using, show=self.show_item)
        return [
            ConsolePage(
                path=QUEUE, title="Review", show=self.show_queue, need=REVIEWER, messages=MESSAGES, waiting=self.waiting
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
            cards_page(
                self.feed,
                ItemFilters,
                need=READER,
                path=ITEMS,
                title="Contributed",
                heading="Contributed knowledge",
                labels={"q": "Search by words or meaning"},
                kinds={"q": "search", "feed": "hidden"},
                tabs=tabs,
                messages=MESSAGES,
            ),
            ConsolePage(
                path=f"{ITEMS}/{{id}}",
                title="Contributed",
                show=partial(self.show_item, problem=None),
                need=READER,
                messages=MESSAGES,
                actions={
                    "publish": change(publish_knowledge, done="shared", values=lambda _: {"is_public": True}),
                    "withdraw": change(publish_knowledge, done="withdrawn", values=lambda _: {"is_public": False}),
                    "invalidate": INVALIDATE.action(self.using, self.show_item, done=_validity, values=self._end),
                    "delete": DELETE.action(self.using, self.show_item, done=_deleted, need=REVIEWER),
                },
            ),
            ConsolePage(
                path="hive/rules",
                title="Rules for contributions",
                show=partial(self.show_rules, problem=None),
                need=REVIEWER,
                messages=MESSAGES,
                listed=False,
                actions={
                    "add-approval": ADD_APPROVAL.action(self.using, self.show_rules, done="saved"),
                    "remove-approval": action(remove_approval, self.using, self.show_rules, done="saved"),
                    "texts": TEXTS.action(self.using, self.show_rules, done="saved", values=self._approvals),
                },
            ),
            ConsolePage(
                path="hive/figures",
                title="Contribution statistics",
                show=self.show_figures,
                need=REVIEWER,
                listed=False,
            ),
        ]

    def view(self, template: str, visit: Visit, problem: CommonplaceError | None = None, **values: Any) -> View:
        common = {
            "tabs": tabs_of(visit, tabs(visit)),
            "reviewer": visit.may(REVIEWER),
            "categories": CATEGORIES,
            "words": words,
            "plain": plain,
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

        def changes(other: Contribution) -> list[tuple[Any, list[Any]]]:
            return [(change, list(pieces(change.text))) for change in difference(other.content, one.content)]

        return self.view(
            "hive_pending.html",
            visit,
            problem,
            review=review,
            one=one,
            pieces=list(pieces(one.content, review.marks)),
            near=[(near, changes(near.contribution)) for near in review.near],
            next=following and place(*following),
            previous=previous and place(*previous),
            reasons=REASONS,
            kinds=KINDS,
            query=query_of(chosen),
            fields={name: visit.value(name) for name in ("passage", "kind", "reason", "more", "number", "words")},
        )

    def feed(self, who: Actor, given: ItemFilters) -> Cards:
        """Return a page of one of the feeds, or what a search finds in it."""
        public, cursor, hints = given.feed == "public", None, []
        if query := given.q.strip():
            wanted = HiveQuery(query=query, category=given.category, limit=MAX_LIMIT)
            answer = self.using.hive.search(who.author, wanted)
            items = [result.item for result in answer.results]
            found = [one.contribution for one in items if (one.contribution.is_public if public else one.own)]
            hints = [answer.hint] if answer.hint else []
        else:
            page = list_items.input(feed=given.feed, limit=SHOWN, cursor=given.cursor)
            records, cursor = list_items.read(self.using, who, page)
            found = [one.contribution for one in records if given.category in (None, one.contribution.category)]
        nothing = "No results. Try other words, or the other feed." if query else "There is nothing yet."
        cards = [self._card(one, public=public) for one in found]
        return Cards(cards=cards, cursor=cursor, about=ABOUT[given.feed], hints=hints, nothing=nothing)

    def _card(self, one: Contribution, *, public: bool) -> Card:
        states = (("invalid", one.invalid_at), ("public", one.is_public and not public))
        facts = (
            words(one.category),
            self.names.get(one.organisation, one.organisation),
            f"{ago(one.decided_at or one.contributed_at, self.clock())} ago",
        )
        return Card(
            title=plain(one.title),
            url=f"/console/{ITEMS}/{one.id}",
            badges=[name for name, holds in states if holds],
            facts=facts,
        )

    async def show_item(self, visit: Visit, problem: CommonplaceError | None) -> View:
        item = await run_in_threadpool(self.using.hive.look, actor(visit).author, visit.request.path_params["id"])
        one = item.contribution
        end = (one.invalid_at or stamp(self.clock()))[:10]
        return self.view(
            "hive_item.html",
            visit,
            problem,
            item=item,
            one=one,
            pieces=list(pieces(one.content)),
            changes=[
                INVALIDATE.shown(visit, {"invalid_at": end, "reason": one.reason}, problem),
                DELETE.shown(visit, None, problem),
            ],
        )

    async def show_rules(self, visit: Visit, problem: CommonplaceError | None) -> View:
        rules = await run_in_threadpool(self.using.reviews.rules, actor(visit).author)
        # After a conflict the present texts are shown, which would be lost otherwise.
        refused = None if isinstance(problem, Conflict) else problem
        shown = [form.shown(visit, rules, refused) for form in (ADD_APPROVAL, TEXTS)]
        approvals = [(one.id, rule_line(one)) for one in rules.approvals]
        return self.view("hive_rules.html", visit, problem, rules=rules, forms_shown=shown, approvals=approvals)

    def _approvals(self, visit: Visit) -> dict[str, Any]:
        """Return the rules of approval, which the form of texts leaves as they are."""
        return {"approvals": [asdict(one) for one in self.using.reviews.rules(actor(visit).author).approvals]}

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
        day, now = visit.value("invalid_at"), stamp(self.clock())
        if day and not DAY.fullmatch(day):
            raise InvalidInput("This is not a date.", hint="Write it like 2026-11-23.", field="invalid_at")
        return {"invalid_at": now if day == now[:10] else day or None}


def tabs(visit: Visit) -> list[Link]:
    """Return the pages of the hive that somebody may see."""
    links = [Link("/console/hive/items", "Own"), Link("/console/hive/items?feed=public", "Public")]
    if not visit.may(REVIEWER):
        return links
    rest = [Link("/console/hive/rules", "Rules"), Link("/console/hive/figures", "Statistics")]
    return [Link("/console/hive", "Queue"), *links, *rest]


def words(code: str) -> str:
    return code.replace("_", " ")


def plain(text: str) -> str:
    """Return a text with what is not seen written out."""
    return "".join(piece.text for piece in pieces(text))


def rule_line(rule: AutoApproval) -> str:
    """Return what a rule approves."""
    by = f", by {rule.agent}" if rule.agent else ""
    least = f", with a confidence of {rule.min_confidence} or more" if rule.min_confidence else ""
    return f"{words(rule.category) if rule.category else 'every category'}{by}{least}"


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
