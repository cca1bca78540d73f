"""What an organisation decides for its hive, and its figures."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from starlette.concurrency import run_in_threadpool

from commonplace.hive.access import REVIEWER
from commonplace.hive.console.desk import MESSAGES, Desk, attempted, chosen_category, who
from commonplace.hive.model import AutoApproval, Rules
from commonplace.kernel.errors import BadRequest, CommonplaceError, Conflict
from commonplace.web.pages.declaration import Action, ConsolePage, Done, View, Visit

Change = Callable[[Rules, Visit], Rules]


def add_approval(rules: Rules, visit: Visit) -> Rules:
    try:
        confidence = float(visit.value("confidence") or 0)
    except ValueError:
        raise BadRequest("This is no confidence.", hint="Write a number from 0 to 1.") from None
    new = AutoApproval(
        id=secrets.token_hex(4),
        category=chosen_category(visit.value("category")),
        agent=visit.value("agent").strip() or None,
        min_confidence=confidence,
    )
    return replace(rules, approvals=(*rules.approvals, new))


def remove_approval(rules: Rules, visit: Visit) -> Rules:
    kept = tuple(rule for rule in rules.approvals if rule.id != visit.value("rule"))
    return replace(rules, approvals=kept)


def add_pattern(rules: Rules, visit: Visit) -> Rules:
    new = visit.value("pattern").strip()
    return replace(rules, patterns=(*rules.patterns, new)) if new else rules


def remove_pattern(rules: Rules, visit: Visit) -> Rules:
    return replace(rules, patterns=tuple(one for one in rules.patterns if one != visit.value("pattern")))


def allow(rules: Rules, visit: Visit) -> Rules:
    new = visit.value("text").strip()
    return replace(rules, allowed=(*rules.allowed, new)) if new else rules


def disallow(rules: Rules, visit: Visit) -> Rules:
    return replace(rules, allowed=tuple(one for one in rules.allowed if one != visit.value("text")))


CHANGES: dict[str, Change] = {
    "add-approval": add_approval,
    "remove-approval": remove_approval,
    "add-pattern": add_pattern,
    "remove-pattern": remove_pattern,
    "allow": allow,
    "disallow": disallow,
}


@dataclass(frozen=True, slots=True)
class Decisions:
    desk: Desk

    def pages(self) -> list[ConsolePage]:
        return [
            ConsolePage(
                path="hive/rules",
                title="Rules for contributions",
                show=self.show_rules,
                need=REVIEWER,
                messages=MESSAGES,
                listed=False,
                actions={name: Action(partial(self._change, change)) for name, change in CHANGES.items()},
            ),
            ConsolePage(
                path="hive/figures",
                title="Figures of contributions",
                show=self.show_figures,
                need=REVIEWER,
                listed=False,
            ),
        ]

    async def show_rules(self, visit: Visit) -> View:
        return await self._view(visit, None)

    async def _view(self, visit: Visit, problem: CommonplaceError | None) -> View:
        rules = await run_in_threadpool(self.desk.reviews.rules, who(visit))
        given = {name: visit.value(name) if problem else "" for name in ("agent", "confidence", "pattern", "text")}
        values = {**self.desk.common(visit), "rules": rules, "problem": problem, "given": given}
        return View("hive_rules.html", values, problem.status if problem else 200)

    async def _change(self, change: Change, visit: Visit) -> Done | View:
        """Of the rules that the page showed: nobody overwrites what somebody else has changed meanwhile."""

        def work() -> None:
            rules = self.desk.reviews.rules(who(visit))
            if str(rules.revision) != visit.value("revision"):
                raise Conflict("Somebody else has changed the rules meanwhile.", hint="These are the present ones.")
            self.desk.reviews.change_rules(who(visit), change(rules, visit))

        told = await attempted(partial(self._view, visit), work)
        return told if isinstance(told, View) else Done("saved")

    async def show_figures(self, visit: Visit) -> View:
        stats = await run_in_threadpool(self.desk.reviews.stats, who(visit))
        return View("hive_figures.html", {**self.desk.common(visit), "stats": stats})
