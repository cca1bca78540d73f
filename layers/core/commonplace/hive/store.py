"""Contributions on DynamoDB, table `records`: `hive.ports.ContributionStore`.

A write brings the items of a contribution (`hive.records`) from one state to the next, in one transaction with its
audit record and the figures. Of concurrent writers one succeeds; the others see a condition fail, read again, and
answer by what they find, in a bounded number of rounds.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, get_args

from commonplace.hive import minhash
from commonplace.hive.model import (
    CATEGORIES,
    AutoApproval,
    Contribution,
    Contributor,
    Counts,
    ItemId,
    Page,
    Report,
    Reported,
    Rules,
    Stats,
    Status,
)
from commonplace.hive.ports import Decided, SameText, unknown
from commonplace.hive.records import POINTERS, ROOMS, ContributionTable, contribution_of, epoch, is_id, room
from commonplace.kernel.audit import Lost
from commonplace.kernel.audit_store import HIVE, audit_writes
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.parallel import Parallel
from commonplace.kernel.table import Write

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.audit import AuditRecord

ORGANISATIONS, NAME_PREFIX = "organisations", "hive#"

DAY_MARK_SECONDS = 3 * 86_400
"""Longer than the day for which it counts, in whichever time zone."""
REFUSED_HOURS = 24
ATTEMPTS = 10
"""Of one transaction, while others write the same items."""
ROUNDS = 12
MAX_NEAR = 20
"""Looked at in each band, the newest, and given back."""
MINE_TOGETHER = 33
"""Each may be in three places, and a batch has 100 keys."""


class DynamoContributions:
    """Contributions, what became of them, and the rules of organisations."""

    def __init__(
        self,
        client: DynamoDBClient,
        records: str,
        activity: str,
        *,
        hasty: DynamoDBClient | None = None,
        parallel: Parallel | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`clock` gives epoch seconds.

        `hasty` is a client that gives up soon, for what is only counted; `parallel` asks for the bands of a signature.
        """
        self._table = ContributionTable(client, records, attempts=ATTEMPTS, sleep=sleep)
        self._counted = ContributionTable(hasty or client, records, attempts=ATTEMPTS, sleep=sleep)
        self._activity = activity
        self._parallel = parallel or Parallel()
        self._clock = clock
        self._named: set[str] = set()

    def add(self, contribution: Contribution, audit: AuditRecord) -> tuple[ItemId, Status]:
        if contribution.status == "rejected":
            raise ValueError("what is rejected was pending before")
        self._name(contribution.organisation)
        for _ in range(ROUNDS):
            if held := self._holder(contribution.organisation, contribution.content_hash):
                owner, id = held
                holder = self.get(owner, id)
                if holder is not None and (owner == contribution.organisation or holder.is_public):
                    return holder.id, holder.status
                continue
            try:
                self._write(self._table.changed(None, contribution), audit)
            except Lost:
                continue
            return contribution.id, contribution.status
        raise _contended()

    def get(self, organisation: str, id: ItemId) -> Contribution | None:
        return self._of_organisation(organisation, [id]).get(id)

    def visible(self, organisation: str, ids: Sequence[ItemId]) -> dict[ItemId, tuple[Contribution, Counts]]:
        ids = [id for id in dict.fromkeys(ids) if is_id(id)]
        own = room(organisation, "counts")
        pointers = self._table.get_many([key(pk, id) for id in ids for pk in (own, POINTERS)])
        foreign = {item["sk"]: str(item["organisation"]) for item in pointers if item["pk"] == POINTERS}
        # What nobody has is looked for among one's own: every id takes the same two reads, whoever has it.
        found = self.items({id: foreign.get(id, organisation) for id in ids})
        return {id: one for id, one in found.items() if one[0].organisation == organisation or one[0].is_public}

    def items(self, owners: Mapping[ItemId, str]) -> dict[ItemId, tuple[Contribution, Counts]]:
        known = [(owner, id) for id, owner in owners.items() if is_id(id)]
        keys = [key(room(owner, name), id) for owner, id in known for name in ("items", "counts")]
        read = {(item["pk"], item["sk"]): item for item in self._table.get_many(keys)}
        found: dict[ItemId, tuple[Contribution, Counts]] = {}
        for owner, id in known:
            one = contribution_of(owner, read.get((room(owner, "items"), id)))
            if one is not None:
                found[id] = one, decoded(Counts, read.get((room(owner, "counts"), id))) or Counts()
        return found

    def waiting(self, organisation: str) -> int:
        shards = self._table.query(room(organisation, "figures"), "begins_with(sk, :all)", {"all": "all#"})
        return max(0, sum(int(item.get("pending", 0)) for item in shards))

    def pending(
        self, organisation: str, limit: int, after: ItemId | None = None, *, newest_first: bool = False
    ) -> Page:
        return self._page(organisation, "pending", limit, after, newest=newest_first)

    def approved(self, organisation: str, limit: int, after: ItemId | None = None) -> Page:
        return self._page(organisation, "items", limit, after, newest=True)

    def published(self, limit: int, after: ItemId | None = None) -> Page:
        pointers, then = self._read(POINTERS, limit, after, newest=True)
        found = self.items({ItemId(item["sk"]): item["organisation"] for item in pointers})
        public = [found[item["sk"]][0] for item in pointers if item["sk"] in found]
        return Page(tuple(one for one in public if one.is_public), then)

    def of_account(
        self, organisation: str, account: str, status: Status | None, after: ItemId | None
    ) -> Iterator[Contribution]:
        condition, values = ("sk < :after", {"after": after}) if after and is_id(after) else ("", {})
        mine = room(organisation, f"mine#{account}")
        pointers = self._table.query(mine, condition, values, ScanIndexForward=False, Limit=MINE_TOGETHER)
        while ids := [ItemId(item["sk"]) for item in islice(pointers, MINE_TOGETHER)]:
            found = self._of_organisation(organisation, ids, status)
            yield from (found[id] for id in ids if id in found)

    def near(self, organisation: str, signature: str) -> Sequence[Contribution]:
        bands = minhash.bands(signature)
        partitions = [room(organisation, f"near#{band}") for band in bands]
        partitions += [f"{POINTERS}#near#{band}" for band in bands]
        met = [one for found in self._parallel.map(self._newest, partitions) for one in found]
        owners = {ItemId(item["sk"]): str(item.get("organisation", organisation)) for item in met}
        signatures = {ItemId(item["sk"]): str(item["signature"]) for item in met}
        best = nlargest(MAX_NEAR, signatures, key=lambda id: (minhash.similarity(signature, signatures[id]), id))
        found = self._of_organisation(organisation, [id for id in best if owners[id] == organisation])
        foreign = self.items({id: owners[id] for id in best if owners[id] != organisation})
        found |= {id: one for id, (one, _) in foreign.items() if one.is_public}
        return [found[id] for id in best if id in found and found[id].status != "rejected"]

    def replace(self, contribution: Contribution, was: Contribution, audit: AuditRecord) -> None:
        same = replace(was, organisation=contribution.organisation, id=contribution.id, account=contribution.account)
        if same != was or contribution.revision <= was.revision:
            raise ValueError("a contribution keeps its id, and its revision grows")
        for _ in range(ROUNDS):
            try:
                self._write(self._table.changed(was, contribution), audit)
            except Lost:
                self._explain(contribution, was)
                continue
            return
        raise _contended()

    def delete(self, organisation: str, id: ItemId, audit: AuditRecord) -> bool:
        for _ in range(ROUNDS):
            one = self.get(organisation, id)
            if one is not None:
                try:
                    self._write(self._table.changed(one, None), audit)
                except Lost:
                    continue
            # Also of what is gone: whoever deletes again after a failure here takes away what was left.
            self._forget_outcomes(organisation, id)
            return one is not None
        raise _contended()

    def report(self, report: Report, audit: AuditRecord) -> Reported:
        item, outcome = report.item, report.outcome
        outcomes = room(item.organisation, "outcomes")
        counts = key(room(item.organisation, "counts"), item.id)
        once = key(outcomes, f"{item.id}#{report.key}")
        daily = key(outcomes, f"{item.id}#{report.day}#{outcome}#{report.organisation}")
        figure = "helpful" if outcome == "solved" else "notHelpful"
        for _ in range(ROUNDS):
            read = {one["sk"]: one for one in self._table.get_many([counts, once, daily])}
            known = decoded(Counts, read.get(item.id))
            if known is None:
                raise unknown(item.id)
            if said := read.get(once["sk"]):
                return Reported(item.id, said["outcome"], counted=said["counted"], repeated=True, counts=known)
            counted = daily["sk"] not in read
            visible = "attribute_exists(pk)" if report.organisation == item.organisation else "#isPublic = :public"
            values = {"public": True} if report.organisation != item.organisation else {}
            writes = [
                self._table.check(key(room(item.organisation, "items"), item.id), visible, **values),
                self._table.new(once, {"outcome": outcome, "counted": counted}),
            ]
            if counted:
                until = epoch(f"{report.day}T00:00:00Z") + DAY_MARK_SECONDS
                add = self._table.update(counts, f"ADD #{figure} :one", "attribute_exists(pk)", one=1)
                writes += [self._table.new(daily, {"expiresAt": until}), add]
            try:
                self._write(writes, audit)
            except Lost:
                if item.id not in self.visible(report.organisation, [item.id]):
                    raise unknown(item.id) from None
                continue
            helpful, not_helpful = counted and outcome == "solved", counted and outcome != "solved"
            counted_now = replace(known, helpful=known.helpful + helpful, not_helpful=known.not_helpful + not_helpful)
            return Reported(item.id, outcome, counted=counted, counts=counted_now)
        raise _contended()

    def retrieved(self, contribution: Contribution, by: str) -> None:
        owner = contribution.organisation
        counts = key(room(owner, "counts"), contribution.id)
        writes = [
            self._table.update(counts, "ADD #retrieved :one", "attribute_exists(pk)", one=1),
            self._table.added(owner, served=1),
        ]
        if by != owner:
            writes.append(self._table.added(by, retrieved=1))
        self._count(writes)

    def refused(self, organisation: str, account: str, agent: str) -> None:
        hour = int(self._clock() // 3_600)
        where = key(room(organisation, "figures"), f"refused#{account}#{hour}")
        change = "SET #agent = :agent, #expiresAt = :until ADD #refused :one"
        until = (hour + REFUSED_HOURS + 1) * 3_600
        self._count([self._table.update(where, change, agent=agent, until=until, one=1)])

    def rules(self, organisation: str) -> Rules:
        item = self._table.get(key(room(organisation, "rules"), "rules"))
        if item is None:
            return Rules()
        approvals = (decoded(AutoApproval, one) for one in item["approvals"])
        return Rules(
            approvals=tuple(one for one in approvals if one),
            patterns=tuple(item["patterns"]),
            allowed=tuple(item["allowed"]),
            revision=item["revision"],
        )

    def put_rules(self, organisation: str, rules: Rules, was: Rules, audit: AuditRecord) -> None:
        item = asdict(rules) | {"approvals": [encode(one) for one in rules.approvals]}
        where = key(room(organisation, "rules"), "rules")
        put = (
            self._table.put(where, item, "#revision = :revision", revision=was.revision)
            if was.revision
            else self._table.new(where, item)
        )
        try:
            self._write([put], audit)
        except Lost:
            raise Decided(None) from None

    def stats(self, organisation: str) -> Stats:
        total: Counter[str] = Counter()
        agents: dict[str, str] = {}
        waiting: Counter[str] = Counter()
        refused: Counter[str] = Counter()
        hour = int(self._clock() // 3_600)
        for item in self._table.query(room(organisation, "figures")):
            kind, account, number = f"{item['sk']}##".split("#")[:3]
            if kind == "all":
                total.update({name: int(value) for name, value in item.items() if name not in ("pk", "sk")})
                continue
            agents[account] = item["agent"]
            waiting[account] += int(item.get("waiting", 0))
            if kind == "refused" and int(number) > hour - REFUSED_HOURS:
                refused[account] += int(item["refused"])
        contributors = [
            Contributor(agents[account], max(0, waiting[account]), refused[account])
            for account in agents
            if waiting[account] > 0 or refused[account]
        ]
        oldest = self.pending(organisation, 1).contributions
        return Stats(
            pending=max(0, total["pending"]),
            approved=max(0, total["approved"]),
            rejected=max(0, total["rejected"]),
            contributed=total["contributed"],
            published=max(0, total["published"]),
            retrieved=total["retrieved"],
            served=total["served"],
            oldest_pending=oldest[0].contributed_at if oldest else None,
            by_category={one: total[f"of_{one}"] for one in CATEGORIES if total[f"of_{one}"] > 0},
            contributors=tuple(sorted(contributors, key=lambda one: (-one.pending, -one.refused, one.agent))),
        )

    def organisations(self) -> Iterator[str]:
        items = self._table.query(ORGANISATIONS, "begins_with(sk, :prefix)", {"prefix": NAME_PREFIX})
        return (item["sk"].removeprefix(NAME_PREFIX) for item in items)

    def versions(self, organisation: str) -> Iterator[tuple[ItemId, int]]:
        items = self._table.query(room(organisation, "items"), ProjectionExpression="sk, revision")
        return ((ItemId(item["sk"]), int(item["revision"])) for item in items)

    def _holder(self, organisation: str, content_hash: str) -> tuple[str, ItemId] | None:
        """Who has this text, of the organisation itself or in public."""
        own = self._table.get(key(room(organisation, "hashes"), content_hash))
        if own is not None:
            return organisation, ItemId(own["id"])
        public = self._table.query(f"{POINTERS}#hashes", "begins_with(sk, :hash)", {"hash": content_hash}, Limit=1)
        for item in public:
            return item["organisation"], ItemId(item["sk"].rpartition("#")[2])
        return None

    def _of_organisation(
        self, organisation: str, ids: Sequence[ItemId], status: Status | None = None
    ) -> dict[ItemId, Contribution]:
        """Wherever they are; one that moves from place to place meanwhile is found as well, as it is then."""
        rooms = [room(organisation, ROOMS[one]) for one in ((status,) if status else get_args(Status))]
        missing = [id for id in dict.fromkeys(ids) if is_id(id)]
        found: dict[ItemId, Contribution] = {}
        for _ in range(1 if status else 2):
            for item in self._table.get_many([key(pk, id) for id in missing for pk in rooms]):
                one = contribution_of(organisation, item)
                expired = item.get("expiresAt", self._clock() + 1) <= self._clock()
                if one and not expired and (one.id not in found or found[one.id].revision < one.revision):
                    found[one.id] = one
            missing = [id for id in missing if id not in found]
        return found

    def _page(self, organisation: str, name: str, limit: int, after: ItemId | None, *, newest: bool) -> Page:
        items, then = self._read(room(organisation, name), limit, after, newest=newest)
        read = (contribution_of(organisation, item) for item in items)
        return Page(tuple(one for one in read if one), then)

    def _read(self, pk: str, limit: int, after: ItemId | None, *, newest: bool) -> tuple[list[Item], ItemId | None]:
        """So many items of a partition, and the last one's id where there are more; after what is no id, the first."""
        known = after is not None and is_id(after)
        condition, values = (f"sk {'<' if newest else '>'} :after", {"after": after}) if known else ("", {})
        read = self._table.query(pk, condition, values, ScanIndexForward=not newest, Limit=limit + 1)
        items = list(islice(read, limit + 1))
        return items[:limit], ItemId(items[limit - 1]["sk"]) if len(items) > limit else None

    def _newest(self, pk: str) -> list[Item]:
        return list(islice(self._table.query(pk, ScanIndexForward=False, Limit=MAX_NEAR), MAX_NEAR))

    def _explain(self, contribution: Contribution, was: Contribution) -> None:
        """Why it was not replaced. Returns if that is over."""
        stored = self.get(was.organisation, was.id)
        if stored is None or stored.revision != was.revision:
            raise Decided(stored) from None
        if contribution.content_hash != was.content_hash and contribution.content_hash:
            held = self._table.get(key(room(was.organisation, "hashes"), contribution.content_hash))
            if held is not None:
                raise SameText(ItemId(held["id"])) from None

    def _forget_outcomes(self, organisation: str, id: ItemId) -> None:
        if not is_id(id):
            return
        outcomes = room(organisation, "outcomes")
        read = self._table.query(outcomes, "begins_with(sk, :id)", {"id": f"{id}#"}, ProjectionExpression="sk")
        if self._table.write_many([self._table.delete(key(outcomes, item["sk"])) for item in read]):
            raise _contended()

    def _count(self, writes: Sequence[Write]) -> None:
        self._parallel.map(self._counted_once, writes)

    def _counted_once(self, write: Write) -> None:
        """Whoever is counted does not fail for it."""
        with suppress(Unavailable):
            self._counted.write(write)

    def _name(self, organisation: str) -> None:
        """Notes that there is this organisation: apart, for all who add at once would be in each other's way."""
        room(organisation, "")
        if organisation not in self._named:
            self._table.write(self._table.new(key(ORGANISATIONS, f"{NAME_PREFIX}{organisation}")))
            self._named.add(organisation)

    def _write(self, writes: Sequence[Write], audit: AuditRecord) -> None:
        self._table.transact([*writes, *audit_writes(self._activity, [audit], HIVE)])


def _contended() -> Unavailable:
    return Unavailable("Others keep writing the same contributions just now.", retry_after_seconds=1)
