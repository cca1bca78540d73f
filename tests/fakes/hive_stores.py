"""A hive of which everything is at hand: contributions in this process, a redactor of words, a search of words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from commonplace.hive.model import (
    Asked,
    Contribution,
    Counts,
    Found,
    ItemId,
    Page,
    Report,
    Reported,
    Rules,
    SearchAnswer,
    Stats,
    Status,
)
from commonplace.hive.ports import Decided
from commonplace.hive.review import Reviews
from commonplace.hive.screening import bands
from commonplace.hive.service import Hive, Parts
from commonplace.kernel.audit import AuditRecord, Author
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limits import Limiter
from tests.fakes.hive_items import FakeItems
from tests.fakes.redaction import WordRedactor

START = datetime(2026, 11, 23, 8, tzinfo=UTC)


class MemoryContributions(FakeItems):
    """`hive.ports.ContributionStore`, for one caller at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.audit: list[AuditRecord] = []
        self.reports: dict[tuple[ItemId, str], Report] = {}
        self.settled: dict[str, Rules] = {}
        self.floods: list[tuple[str, str]] = []

    def add(self, contribution: Contribution, audit: AuditRecord) -> tuple[ItemId, Status]:
        for one in self.kept.values():
            reachable = one.organisation == contribution.organisation or one.is_public
            if reachable and one.status != "rejected" and one.content_hash == contribution.content_hash:
                return one.id, one.status
        self.put(contribution)
        self.audit.append(audit)
        return contribution.id, contribution.status

    def get(self, organisation: str, id: ItemId) -> Contribution | None:
        one = self.kept.get(id)
        return one if one is not None and one.organisation == organisation else None

    def visible(self, organisation: str, ids: Sequence[ItemId]) -> dict[ItemId, tuple[Contribution, Counts]]:
        there = (self.kept[id] for id in ids if id in self.kept)
        return {
            one.id: (one, self.counted.get(one.id, Counts()))
            for one in there
            if one.status == "approved" and (one.is_public or one.organisation == organisation)
        }

    def waiting(self, organisation: str) -> int:
        return len(self._of(organisation, "pending"))

    def pending(
        self, organisation: str, limit: int, after: ItemId | None = None, *, newest_first: bool = False
    ) -> Page:
        return _page(self._of(organisation, "pending"), limit, after, newest_first=newest_first)

    def of_account(
        self, organisation: str, account: str, status: Status | None, after: ItemId | None
    ) -> Iterator[Contribution]:
        mine = [one for one in self.kept.values() if (one.organisation, one.account) == (organisation, account)]
        mine = [one for one in mine if status in (None, one.status)]
        return iter(_page(mine, len(mine), after, newest_first=True).contributions)

    def published(self, limit: int, after: ItemId | None = None) -> Page:
        return _page([one for one in self.kept.values() if one.is_public], limit, after, newest_first=True)

    def approved(self, organisation: str, limit: int, after: ItemId | None = None) -> Page:
        return _page(self._of(organisation, "approved"), limit, after, newest_first=True)

    def near(self, organisation: str, signature: str) -> Sequence[Contribution]:
        shared = set(bands(signature))
        there = (one for one in self.kept.values() if one.status != "rejected")
        return [
            one
            for one in there
            if (one.organisation == organisation or one.is_public) and shared & set(bands(one.signature))
        ]

    def replace(self, contribution: Contribution, was: Contribution, audit: AuditRecord) -> None:
        if self.kept.get(was.id) != was:
            raise Decided(self.kept.get(was.id))
        self.put(contribution)
        self.audit.append(audit)

    def delete(self, organisation: str, id: ItemId, audit: AuditRecord) -> bool:
        if self.get(organisation, id) is None:
            return False
        del self.kept[id]
        self.audit.append(audit)
        return True

    def report(self, report: Report, audit: AuditRecord) -> Reported:
        id = report.item.id
        first = self.reports.get((id, report.key))
        if first is not None:
            return Reported(id, first.outcome, counted=False, repeated=True, counts=self.counted.get(id, Counts()))
        today = [
            one
            for (item, _), one in self.reports.items()
            if item == id
            and (one.organisation, one.outcome, one.day) == (report.organisation, report.outcome, report.day)
        ]
        self.reports[id, report.key] = report
        self.audit.append(audit)
        counts = self.counted.get(id, Counts())
        if not today:
            helped = report.outcome == "solved"
            counts = replace(counts, helpful=counts.helpful + helped, not_helpful=counts.not_helpful + (not helped))
            self.counted[id] = counts
        return Reported(id, report.outcome, counted=not today, counts=counts)

    def retrieved(self, contribution: Contribution, by: str) -> None:
        counts = self.counted.get(contribution.id, Counts())
        self.counted[contribution.id] = replace(counts, retrieved=counts.retrieved + 1)

    def refused(self, organisation: str, account: str, agent: str) -> None:
        self.floods.append((organisation, agent))

    def rules(self, organisation: str) -> Rules:
        if self.failing:
            raise Unavailable("The store does not answer.")
        return self.settled.get(organisation, Rules())

    def put_rules(self, organisation: str, rules: Rules, was: Rules, audit: AuditRecord) -> None:
        if self.rules(organisation) != was:
            raise Decided(None)
        self.settled[organisation] = rules
        self.audit.append(audit)

    def stats(self, organisation: str) -> Stats:
        pending, approved = self._of(organisation, "pending"), self._of(organisation, "approved")
        rejected = self._of(organisation, "rejected")
        return Stats(
            pending=len(pending),
            approved=len(approved),
            rejected=len(rejected),
            contributed=len(pending) + len(approved) + len(rejected),
            published=sum(one.is_public for one in approved),
            retrieved=0,
            served=0,
            oldest_pending=min((one.contributed_at for one in pending), default=None),
            by_category={},
        )

    def _of(self, organisation: str, status: Status) -> list[Contribution]:
        return [one for one in self.kept.values() if (one.organisation, one.status) == (organisation, status)]


def _page(rows: list[Contribution], limit: int, after: ItemId | None, *, newest_first: bool) -> Page:
    rows = sorted(rows, key=lambda one: one.id, reverse=newest_first)
    if after is not None:
        rows = [one for one in rows if (one.id < after if newest_first else one.id > after)]
    return Page(tuple(rows[:limit]), rows[limit - 1].id if len(rows) > limit else None)


class WordSearch:
    """`hive.ports.Search`: items that share a word with the query, those that share most first."""

    def __init__(self, store: MemoryContributions, names: dict[str, str]) -> None:
        self.store, self.names = store, names
        self.parts: Parts | None = None
        self.asked: list[Asked] = []
        self.failing = False
        self.fallback = False

    def search(self, organisation: str, asked: Asked, now: str) -> SearchAnswer:
        self.asked.append(asked)
        if self.failing:
            raise Unavailable("The index does not answer.")
        assert self.parts is not None
        moment, words = asked.as_of or now, set(asked.query.casefold().split())
        visible = self.store.visible(organisation, list(self.store.kept))
        scored = [
            (len(words & set(one.content.casefold().split())) / len(words), one, counts)
            for one, counts in visible.values()
            if asked.category in (None, one.category)
            and one.valid_at <= moment
            and (one.invalid_at is None or one.invalid_at > moment)
        ]
        hits = sorted((hit for hit in scored if hit[0]), key=lambda hit: (-hit[0], hit[1].id))
        end = asked.offset + asked.limit
        found = [
            Found(self.parts.item(organisation, one, counts), round(score, 4))
            for score, one, counts in hits[asked.offset : end]
        ]
        return SearchAnswer(tuple(found), len(hits), end if end < len(hits) else None, fallback=self.fallback)

    def similar(self, organisation: str, text: str, limit: int) -> Sequence[tuple[ItemId, float]]:
        return ()


@dataclass
class FakeHive:
    """One deployment's hive, its clock, and a redactor that knows a few words."""

    names: dict[str, str] = field(default_factory=lambda: {"acme": "Acme DAO"})
    store: MemoryContributions = field(default_factory=MemoryContributions)
    seconds: int = 0
    made: int = 0
    limits: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.search = WordSearch(self.store, self.names)
        self.parts = Parts(
            store=self.store,
            redactor=WordRedactor("Rosa", "Luxemburg"),
            search=self.search,
            limiter=Limiter(_Counters(), lambda: self.clock().timestamp()),
            clock=self.clock,
            new_id=self.new_id,
            names=self.names,
            **self.limits,
        )
        self.search.parts = self.parts
        self.hive, self.reviews = Hive(self.parts), Reviews(self.parts)

    def clock(self) -> datetime:
        self.seconds += 1
        return START + timedelta(seconds=self.seconds)

    def new_id(self) -> ItemId:
        self.made += 1
        # As many digits as most ULIDs have: they cost more tokens than letters.
        letters = str.maketrans("0123456789", "ABCDEFGHJK")
        return ItemId("hv_01JDX5Z8K4QW7M2N6P9R3T" + f"{self.made:04}".translate(letters))

    def approve(self, author: Author, *ids: str, public: bool = False) -> None:
        for id in ids:
            self.reviews.approve(author, ItemId(id), public=public)


class _Counters:
    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, key: str, amount: int, expires_at: int) -> int:
        self.counts[key] = self.counts.get(key, 0) + amount
        return self.counts[key]
