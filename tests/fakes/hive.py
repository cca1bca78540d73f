"""The hive's store in memory. It passes the adapter's contract (tests/contracts/test_hive_store.py)."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from commonplace.hive import minhash
from commonplace.hive.model import (
    CATEGORIES,
    Contribution,
    Contributor,
    Counts,
    ItemId,
    Outcome,
    Report,
    Reported,
    Rules,
    Stats,
    Status,
)
from commonplace.hive.refusals import Decided, SameText, unknown
from commonplace.hive.store import DynamoContributions
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.records import is_id
from tests.fakes.identity_stores import Clock, MemoryAudit

REJECTED_SECONDS = 180 * 86_400
DAY = 86_400


class MemoryContributions(DynamoContributions):
    """The store of contributions, in memory.

    `down` has it answer nothing, as a table that does not. `announced` are the events that the table's stream would
    bring. `kept` has contributions by organisation and id.
    """

    def __init__(self, clock: Callable[[], float] | None = None, audit: MemoryAudit | None = None) -> None:
        self.clock = clock or Clock()
        self.audit = audit or MemoryAudit()
        self.down = False
        self.lock = threading.RLock()
        self.kept: dict[str, dict[ItemId, Contribution]] = {}
        self.counts: dict[ItemId, Counts] = {}
        self.outcomes: dict[tuple[ItemId, str], tuple[Outcome, bool]] = {}
        self.days: set[tuple[ItemId, str, Outcome, str]] = set()
        self.ruled: dict[str, Rules] = {}
        self.contributed: Counter[str] = Counter()
        self.fetched: Counter[str] = Counter()
        """How often items of others were fetched by an organisation."""
        self.served: Counter[str] = Counter()
        self.refusals: list[tuple[str, str, float]] = []
        self.announced: list[dict[str, str]] = []

    @contextmanager
    def answering(self) -> Iterator[None]:
        with self.lock:
            if self.down:
                raise Unavailable("The hive cannot reach its store just now.", retry_after_seconds=2)
            yield

    def add(self, contribution: Contribution, audit: AuditRecord) -> tuple[ItemId, Status]:
        if contribution.status == "rejected":
            raise ValueError("what is rejected was pending before")
        with self.answering():
            own = self._of(contribution.organisation)
            public = [one for kept in self.kept.values() for one in kept.values() if one.is_public]
            for one in (*own.values(), *sorted(public, key=lambda one: one.id)):
                if one.content_hash == contribution.content_hash and one.status != "rejected":
                    return one.id, one.status
            self.kept.setdefault(contribution.organisation, own)
            self.contributed[contribution.organisation] += 1
            self._put(contribution)
            self.audit.write(audit)
            return contribution.id, contribution.status

    def get(self, organisation: str, id: ItemId) -> Contribution | None:
        with self.answering():
            return self._of(organisation).get(id)

    def visible(self, organisation: str, ids: Sequence[ItemId]) -> dict[ItemId, tuple[Contribution, Counts]]:
        with self.answering():
            owners = {one.id: owner for owner, kept in self.kept.items() for one in kept.values() if one.is_public}
            found = self.items({id: owners.get(id, organisation) for id in ids})
            return {id: one for id, one in found.items() if one[0].organisation == organisation or one[0].is_public}

    def items(self, owners: Mapping[ItemId, str]) -> dict[ItemId, tuple[Contribution, Counts]]:
        with self.answering():
            read = {id: self._of(owner).get(id) for id, owner in owners.items()}
            return {
                id: (one, self.counts.get(id, Counts())) for id, one in read.items() if one and one.status == "approved"
            }

    def waiting(self, organisation: str) -> int:
        with self.answering():
            return len(self._with(organisation, "pending"))

    def pending(
        self, organisation: str, after: str | None = None, *, newest: bool = False, page: int = 0
    ) -> Iterator[Contribution]:
        with self.answering():
            if newest:
                return iter(_newest(self._with(organisation, "pending"), after))
            waiting = sorted(self._with(organisation, "pending"), key=lambda one: one.id)
            after = _known(after)
            return iter([one for one in waiting if after is None or one.id > after])

    def approved(self, organisation: str, after: str | None = None, *, page: int = 0) -> Iterator[Contribution]:
        with self.answering():
            return iter(_newest(self._with(organisation, "approved"), after))

    def published(self, after: str | None = None, *, page: int = 0) -> Iterator[Contribution]:
        with self.answering():
            public = [one for kept in self.kept.values() for one in kept.values() if one.is_public]
            return iter(_newest(public, after))

    def of_account(
        self, organisation: str, account: str, status: Status | None, after: str | None
    ) -> Iterator[Contribution]:
        with self.answering():
            own = [one for one in self._of(organisation).values() if one.account == account]
            found = _newest([one for one in own if status in (None, one.status)], after)
        yield from found

    def near(self, organisation: str, signature: str) -> Sequence[Contribution]:
        with self.answering():
            bands = set(minhash.bands(signature))
            own = self._of(organisation).values()
            foreign = [one for owner, kept in self.kept.items() if owner != organisation for one in kept.values()]
            seen = [*own, *(one for one in foreign if one.is_public)]
            met = [one for one in seen if one.status != "rejected" and bands & set(minhash.bands(one.signature))]
            return sorted(met, key=lambda one: (minhash.similarity(signature, one.signature), one.id), reverse=True)

    def replace(self, contribution: Contribution, was: Contribution, audit: AuditRecord) -> None:
        if contribution.id != was.id or contribution.revision <= was.revision:
            raise ValueError("a contribution keeps its id, and its revision grows")
        with self.answering():
            own = self._of(was.organisation)
            stored = own.get(was.id)
            if stored is None or stored.revision != was.revision:
                raise Decided(stored)
            for one in own.values():
                same = contribution.content_hash and one.content_hash == contribution.content_hash
                if same and one.id != was.id and one.status != "rejected":
                    raise SameText(one.id)
            self._put(contribution)
            self.audit.write(audit)

    def delete(self, organisation: str, id: ItemId, audit: AuditRecord) -> bool:
        with self.answering():
            one = self._of(organisation).get(id)
            if one is None:
                return False
            del self.kept[organisation][id]
            self.counts.pop(id, None)
            self.outcomes = {key: said for key, said in self.outcomes.items() if key[0] != id}
            self.days = {key for key in self.days if key[0] != id}
            self._announce(one)
            self.audit.write(audit)
            return True

    def report(self, report: Report, audit: AuditRecord) -> Reported:
        with self.answering():
            id, outcome = report.item.id, report.outcome
            if id not in self.visible(report.organisation, [id]):
                raise unknown(id)
            counts = self.counts[id]
            if said := self.outcomes.get((id, report.key)):
                return Reported(id, said[0], counted=said[1], repeated=True, counts=counts)
            day = (id, report.day, outcome, report.organisation)
            counted = day not in self.days
            if counted:
                self.days.add(day)
                helped = outcome == "solved"
                counts = replace(counts, helpful=counts.helpful + helped, not_helpful=counts.not_helpful + (not helped))
                self.counts[id] = counts
            self.outcomes[id, report.key] = outcome, counted
            self.audit.write(audit)
            return Reported(id, outcome, counted=counted, counts=counts)

    def retrieved(self, contribution: Contribution, by: str) -> None:
        if self.down:
            return
        with self.lock:
            counts = self.counts.get(contribution.id)
            if counts:
                self.counts[contribution.id] = replace(counts, retrieved=counts.retrieved + 1)
            self.served[contribution.organisation] += 1
            self.fetched[by] += by != contribution.organisation

    def refused(self, organisation: str, account: str, agent: str) -> None:
        if not self.down:
            self.refusals.append((organisation, f"{account}#{agent}", self.clock()))

    def rules(self, organisation: str) -> Rules:
        with self.answering():
            return self.ruled.get(organisation, Rules())

    def put_rules(self, organisation: str, rules: Rules, was: Rules, audit: AuditRecord) -> None:
        with self.answering():
            if self.rules(organisation).revision != was.revision:
                raise Decided(None)
            self.ruled[organisation] = rules
            self.audit.write(audit)

    def stats(self, organisation: str) -> Stats:
        with self.answering():
            own = self._of(organisation).values()
            statuses: Counter[str] = Counter(one.status for one in own)
            waiting = Counter(f"{one.account}#{one.agent}" for one in own if one.status == "pending")
            since = self.clock() - DAY
            refused = Counter(who for owner, who, at in self.refusals if owner == organisation and at > since)
            contributors = [
                Contributor(who.partition("#")[2], waiting[who], refused[who])
                for who in waiting.keys() | refused.keys()
            ]
            categories: Counter[str] = Counter(one.category for one in own if one.status == "approved")
            oldest = min((one for one in own if one.status == "pending"), key=lambda one: one.id, default=None)
            return Stats(
                pending=statuses["pending"],
                approved=statuses["approved"],
                rejected=statuses["rejected"],
                contributed=self.contributed[organisation],
                published=sum(one.is_public for one in own),
                retrieved=self.fetched[organisation],
                served=self.served[organisation],
                oldest_pending=oldest.contributed_at if oldest else None,
                by_category={one: categories[one] for one in CATEGORIES if categories[one]},
                contributors=tuple(sorted(contributors, key=lambda one: (-one.pending, -one.refused, one.agent))),
            )

    def organisations(self) -> Iterator[str]:
        with self.answering():
            found = sorted(self.kept)
        yield from found

    def versions(self, organisation: str) -> Iterator[tuple[ItemId, int]]:
        with self.answering():
            found = sorted((one.id, one.revision) for one in self._with(organisation, "approved"))
        yield from found

    def dump(self) -> str:
        """Everything that is kept, as text."""
        return repr((self.kept, self.outcomes, self.ruled, self.refusals, self.audit.records))

    def _of(self, organisation: str) -> dict[ItemId, Contribution]:
        """Without those whose time is over."""
        if not is_organisation(organisation):
            raise ValueError("no organisation, no hive")
        kept = self.kept.get(organisation, {})
        for one in [one for one in kept.values() if one.status == "rejected" and one.decided_at]:
            if datetime.fromisoformat(one.decided_at or "").timestamp() + REJECTED_SECONDS <= self.clock():
                del kept[one.id]
        return kept

    def _with(self, organisation: str, status: Status) -> list[Contribution]:
        return [one for one in self._of(organisation).values() if one.status == status]

    def _put(self, one: Contribution) -> None:
        self.kept[one.organisation][one.id] = one
        if one.status == "approved":
            self.counts.setdefault(one.id, Counts())
        self._announce(one)

    def _announce(self, one: Contribution) -> None:
        if one.status == "approved":
            self.announced.append({"table": "records", "pk": f"{one.organisation}#hive#items", "sk": one.id})


def _newest(found: Sequence[Contribution], after: str | None) -> list[Contribution]:
    after = _known(after)
    before = [one for one in found if after is None or one.id < after]
    return sorted(before, key=lambda one: one.id, reverse=True)


def _known(after: str | None) -> str | None:
    """What is no id is no place in a list."""
    return after if after and is_id(after) else None
