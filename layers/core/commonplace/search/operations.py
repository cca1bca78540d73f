"""Operations of the index function on one collection, for its queue, its schedule and its operators, with any engine.

An operator's step is one event and one answer in JSON: the same from the command line, from the state machine and from
a console. Every answer has an `action`, which says what comes next, and a `message` for people.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from commonplace.kernel.errors import InvalidInput
from commonplace.search.indexer import Enough, Indexer, Message, Report, Told, never
from commonplace.search.migration import Built, Migration, Plan, Refused, Swapped
from commonplace.search.model import IndexMismatch
from commonplace.search.source import Collection
from commonplace.search.verification import Difference, Verification

logger = logging.getLogger(__name__)

MOST_ROUNDS = 1_000
"""Stretches of building; at a minute each, the state machine's time is up long before."""

MOST_IDLE_ROUNDS = 5
"""Stretches in a row after which as much remains as before."""

Answer = dict[str, Any]


class Operations:
    """One indexer for each model in use, and the migration between generations (None for an index in one file)."""

    def __init__(
        self, indexers: Sequence[Indexer], migration: Migration | None, collection: Collection = "documents"
    ) -> None:
        self.indexers = tuple(indexers)
        self._migration = migration
        self.collection = collection

    def take(self, messages: Sequence[Message], enough: Enough = never) -> list[str]:
        """Brings what the messages name into every index of a model at hand; answers the ids of those that failed.

        A model without an index is passed over while another has one. Raises IndexMismatch when none has.
        """
        failed: set[str] = set()
        refusals: list[IndexMismatch] = []
        for indexer in self.indexers:
            try:
                failed |= set(indexer.take(messages, enough))
            except IndexMismatch as mismatch:
                refusals.append(mismatch)
        if len(refusals) == len(self.indexers):
            logger.error("the index takes no writes", extra={"reason": refusals[0].message, "hint": refusals[0].hint})
            raise refusals[0]
        return [message.id for message in messages if message.id in failed]

    def reconcile(self, enough: Enough = never) -> Report:
        """Compares with the source and mends what differs. Raises IndexMismatch when no model at hand fits."""
        if self._migration is None:
            return self.indexers[0].reconcile(enough)
        try:
            kept_up = self._migration.keep_up(enough)
            return self.indexers[0].reconcile(enough) if kept_up is None else kept_up
        except IndexMismatch as mismatch:
            logger.error("the index takes no writes", extra={"reason": mismatch.message, "hint": mismatch.hint})
            raise

    def complete(self, enough: Enough = never) -> Report:
        """Gives vectors to records that wait for them. An index that takes no writes is left to `reconcile`."""
        report = Report()
        for indexer in self.indexers:
            try:
                report += indexer.complete(enough)
            except IndexMismatch as mismatch:
                logger.warning("the index takes no vectors", extra={"reason": mismatch.message})
        return report

    def rebuild(self) -> Report:
        """Builds an index in one file anew. Raises InvalidInput for an index that is built beside the one in use."""
        if self._migration:
            raise InvalidInput("This index is rebuilt beside the live one.", step="build-anew")
        return self.indexers[0].rebuild()

    def step(self, event: Mapping[str, Any], enough: Enough = never, told: Told | None = None) -> Answer:
        """One step of a migration. What is refused is an answer too; what may go better later raises Unavailable."""
        try:
            if self._migration is None:
                raise InvalidInput(
                    "This deployment's index is one file without generations: a change of model rebuilds it by itself.",
                    hint="To rebuild it all the same, invoke the index function with "
                    '{"source": "commonplace.operator", "rebuild": true}.',
                )
            answer = self._step(self._migration, event, enough, told)
        except InvalidInput as refusal:
            answer = {"action": "refused", "message": refusal.message, "hint": refusal.hint}
            answer["next"] = refusal.details.get("step")
        return answer | {"collection": self.collection}

    def _step(self, migration: Migration, event: Mapping[str, Any], enough: Enough, told: Told | None) -> Answer:
        match event.get("step"):
            case "plan" | "status":
                plan = migration.plan()
                given = event.get("input") or {}
                anew = given.get("anew") is True
                needed = anew or plan.step is not None
                return {
                    "action": "build" if needed else "none",
                    "message": _plan_sentence(plan),
                    "anew": anew,
                    "swap": given.get("swap") is not False,
                    "indexes": [
                        {"name": one.name, "role": one.role, "documents": one.documents, "facts": asdict(one.facts)}
                        for one in plan.generations
                    ],
                    "wanted": asdict(plan.wanted),
                    "changes": {name: {"from": was, "to": wanted} for name, (was, wanted) in plan.changes.items()},
                    "documents": plan.work.documents,
                    "chunks": plan.work.chunks,
                    "published": plan.work.total,
                    "warnings": list(plan.warnings),
                    "next": plan.step,
                }
            case "begin":
                index = migration.begin(anew=event.get("anew") is True).name
                return {"action": "build", "message": f"{index} is to be built.", "index": index, "progress": None}
            case "build":
                built = migration.build(enough, anew=event.get("anew") is True, told=told)
                before = event.get("progress") or {}
                round_, left = int(before.get("round", 0)) + 1, built.remaining
                stalled = not built.complete and left >= before.get("remaining", left + 1)
                idle = int(before.get("idle", 0)) + 1 if stalled else 0
                message = f"{built.index}: {built.done} records written, {left} remain."
                if built.unreadable:
                    message += f" {built.unreadable} cannot be read from the store."
                return {
                    "action": _after_building(built, round_, idle),
                    "message": message,
                    "index": built.index,
                    "done": built.done,
                    "remaining": left,
                    "unreadable": built.unreadable,
                    "complete": built.complete,
                    "seconds": round(built.seconds, 3),
                    "perSecond": round(built.rate, 1),
                    "progress": {"round": round_, "idle": idle, "remaining": left},
                }
            case "verify":
                return _verified(migration.verify(enough))
            case "swap":
                return _swapped(migration.swap(enough))
            case "rollback":
                return _swapped(migration.rollback(enough))
            case "drop":
                return _dropped(migration, event.get("name"))
            case other:
                raise InvalidInput(
                    f"There is no step {other!r}.",
                    hint="Steps: plan, status, begin, build, verify, swap, rollback, drop.",
                )


def stretch(remaining_seconds: float | None, asked: object, clock: Callable[[], float] = time.monotonic) -> Enough:
    """Enough is half of the time that remains, or what was requested if that is less.

    The other half is for the write under way and for the end.
    """
    if remaining_seconds is None:
        return never
    given = remaining_seconds / 2
    end = clock() + (min(given, float(asked)) if isinstance(asked, int | float) else given)
    return lambda: clock() >= end


def _plan_sentence(plan: Plan) -> str:
    if plan.step is None:
        return "The current index is built as the settings say. There is nothing to do."
    if plan.holding("current") is None:
        return "There is no current index yet."
    if not plan.changes:
        return "An index of the same settings is being built."
    return f"The current index is built otherwise than the settings say: {', '.join(plan.changes)}."


def _after_building(built: Built, round_: int, idle: int) -> str:
    if built.complete:
        return "verify"
    if idle >= MOST_IDLE_ROUNDS or round_ >= MOST_ROUNDS:
        return "stuck"
    return "wait" if idle else "build"


def _verified(verification: Verification) -> Answer:
    facts = {"index": verification.index, "documents": verification.documents, "sampled": verification.sampled}
    if verification.passed:
        message = (
            f"{verification.index} holds the {verification.documents} published records, "
            f"and {verification.sampled} sampled ones are found in it."
        )
        return {"action": "passed", "message": message, **facts, "overlap": verification.overlap}
    told = _differing(verification.index, verification.counts, verification.differences)
    return told | facts | {"overlap": verification.overlap, "next": "build"}


def _swapped(outcome: Swapped | Refused) -> Answer:
    if isinstance(outcome, Swapped):
        message = f"{outcome.new} answers now" + (f", {outcome.old} did before." if outcome.old else ".")
        return {"action": "swapped", "message": message, "old": outcome.old, "new": outcome.new}
    return _differing(outcome.index, outcome.counts, outcome.differences) | {"hint": outcome.hint, "next": outcome.step}


def _dropped(migration: Migration, name: object) -> Answer:
    if isinstance(name, str):
        migration.drop(name)
        names = [name]
    else:
        names = migration.cleanup()
    return {"action": "dropped", "message": f"Deleted: {', '.join(names) or 'nothing'}.", "names": names}


def _differing(index: str, counts: Mapping[Any, int], differences: Sequence[Difference]) -> Answer:
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    return {
        "action": "differs",
        "message": f"{index} is not as it should be: {told}.",
        "index": index,
        "counts": dict(counts),
        "differences": [asdict(difference) for difference in differences],
    }
