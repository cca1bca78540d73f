"""Contributions on DynamoDB, table `records`.

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
    Report,
    Reported,
    Rules,
    Stats,
    Status,
)
from commonplace.hive.records import POINTERS, ROOMS, ContributionTable, contribution_of, epoch, room
from commonplace.hive.refusals import Decided, SameText, unknown
from commonplace.kernel.audit import Lost
from commonplace.kernel.audit_store import HIVE
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.parallel import Parallel
from commonplace.kernel.records import PAGE, Change, Records, is_id
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
PUBLISHED_TOGETHER = 50
"""Published items that are read at once: each is two keys of a batch."""
MAX_NEAR = 20
"""Looked at in each band, the newest, and given back."""
MINE_TOGETHER = 33
"""Each may be in three places, and a batch has 100 keys."""


class DynamoContributions:
    """Contributions, what became of them, and the rules of organisations. All methods raise Unavailable.

    Reads are consistent. Each call concerns one organisation, which comes first. A mutation and its audit record are
    one transaction. Keys begin `{organisation}#hive#`: `pending`, `items`, `rejected`, `hashes`, `mine#{account}`,
    `counts`, `outcomes`, `figures`, `rules`; what is published has a pointer under `public#hive`, and its hash under
    `public#hive#hashes`.
    """

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
        self._records = Records(self._table, activity, HIVE)
        self._parallel = parallel or Parallel()
        self._clock = clock
        self._named: set[str] = set()

    def add(self, contribution: Contribution, audit: AuditRecord) -> tuple[ItemId, Status]:
        """Store it as `pending`, or as `approved` by a rule, unless its organisation or public knowledge has the text.

        Returns who has the text now: of concurrent callers one its own id, the others that same id.
        """
        if contribution.status == "rejected":
            raise ValueError("what is rejected was pending before")
        organisation = contribution.organisation
        self._name(organisation)

        def decide(change: Change) -> tuple[ItemId, Status]:
            if held := self._holder(organisation, contribution.content_hash):
                holder = self.get(*held)
                if holder is not None and (holder.organisation == organisation or holder.is_public):
                    return holder.id, holder.status
                raise Lost  # it was deleted, or withdrawn, between the two reads
            change.writes += self._table.changed((None, contribution))
            change.record(audit)
            return contribution.id, contribution.status

        return self._records.change(organisation, decide)

    def get(self, organisation: str, id: ItemId) -> Contribution | None:
        """Return a contribution of this organisation, whatever became of it."""
        return self._of_organisation(organisation, [id]).get(id)

    def visible(self, organisation: str, ids: Sequence[ItemId]) -> dict[ItemId, tuple[Contribution, Counts]]:
        """Return the items among these that this organisation may see: its own, and those that are published now.

        A foreign id and one that does not exist take the same reads.
        """
        ids = [id for id in dict.fromkeys(ids) if is_id(id)]
        own = room(organisation, "counts")
        pointers = self._table.get_many([key(pk, id) for id in ids for pk in (own, POINTERS)])
        foreign = {item["sk"]: str(item["organisation"]) for item in pointers if item["pk"] == POINTERS}
        # What nobody has is looked for among one's own: every id takes the same two reads, whoever has it.
        found = self.items({id: foreign.get(id, organisation) for id in ids})
        return {id: one for id, one in found.items() if one[0].organisation == organisation or one[0].is_public}

    def items(self, owners: Mapping[ItemId, str]) -> dict[ItemId, tuple[Contribution, Counts]]:
        """Return items by id, each of the organisation that the index names: the caller judges what may be seen."""
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
        """Return about how many are pending."""
        shards = self._table.query(room(organisation, "figures"), "begins_with(sk, :all)", {"all": "all#"})
        return max(0, sum(int(item.get("pending", 0)) for item in shards))

    def pending(
        self, organisation: str, after: str | None = None, *, newest: bool = False, page: int = PAGE
    ) -> Iterator[Contribution]:
        """Yield the queue, oldest first, from beyond `after`, which need not be in it any more."""
        items = self._records.items(room(organisation, "pending"), after=after, newest=newest, page=page)
        return (one for item in items if (one := contribution_of(organisation, item)) is not None)

    def approved(self, organisation: str, after: str | None = None, *, page: int = PAGE) -> Iterator[Contribution]:
        """Yield the items of an organisation, newest first."""
        items = self._records.items(room(organisation, "items"), after=after, newest=True, page=page)
        return (one for item in items if (one := contribution_of(organisation, item)) is not None)

    def published(self, after: str | None = None, *, page: int = PUBLISHED_TOGETHER) -> Iterator[Contribution]:
        """Yield public knowledge of all organisations, newest first."""
        page = min(page, PUBLISHED_TOGETHER)
        pointers = self._records.items(POINTERS, after=after, newest=True, page=page)
        while part := list(islice(pointers, page)):
            found = self.items({ItemId(item["sk"]): item["organisation"] for item in part})
            yield from (one for item in part if item["sk"] in found and (one := found[item["sk"]][0]).is_public)

    def of_account(
        self, organisation: str, account: str, status: Status | None, after: str | None
    ) -> Iterator[Contribution]:
        """Yield what one account contributed, newest first; read as far as it is taken."""
        mine = room(organisation, "mine", account)
        pointers = self._records.items(mine, after=after, newest=True, page=MINE_TOGETHER)
        while ids := [ItemId(item["sk"]) for item in islice(pointers, MINE_TOGETHER)]:
            found = self._of_organisation(organisation, ids, status)
            yield from (found[id] for id in ids if id in found)

    def near(self, organisation: str, signature: str) -> Sequence[Contribution]:
        """Return what shares a band of this signature, pending and approved, own and public."""
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

    def replace(
        self,
        contribution: Contribution,
        was: Contribution,
        audit: AuditRecord,
        superseded: tuple[Contribution, Contribution] | None = None,
    ) -> None:
        """Put it in the place of `was`: a decision, a publication or its withdrawal, an invalidation, a flag, a mask.

        What is rejected loses its text and its hash; with another text goes another hash. `superseded` is what it takes
        the place of, as it will be and as it was, in the same transaction. Raises Decided, and SameText
        for a text that another contribution of the organisation has.
        """
        same = replace(was, organisation=contribution.organisation, id=contribution.id, account=contribution.account)
        if same != was or contribution.revision <= was.revision:
            raise ValueError("a contribution keeps its id, and its revision grows")

        def decide(change: Change) -> None:
            also = [(superseded[1], superseded[0])] if superseded is not None else []
            change.writes += self._table.changed((was, contribution), *also)
            change.record(audit)

        def overtaken() -> None:
            self._explain(contribution, was)
            if superseded is not None:
                self._explain(*superseded)

        self._records.change(was.organisation, decide, overtaken)

    def delete(self, organisation: str, id: ItemId, audit: AuditRecord) -> bool:
        """Remove it with everything that was derived from it; False when there is none."""

        def decide(change: Change) -> bool:
            one = self.get(organisation, id)
            if one is not None:
                change.writes += self._table.changed((one, None))
                change.record(audit)
            return one is not None

        found = self._records.change(organisation, decide)
        # After a failure here, deleting again takes away what was left.
        if is_id(id):
            outcomes = room(organisation, "outcomes")
            left = self._table.query(outcomes, "begins_with(sk, :id)", {"id": f"{id}#"}, ProjectionExpression="sk")
            if self._table.write_many([self._table.delete(key(outcomes, item["sk"])) for item in left]):
                raise Unavailable("There were concurrent changes of the same contributions.", retry_after_seconds=1)
        return found

    def report(self, report: Report, audit: AuditRecord) -> Reported:
        """Record it once per `Report.key`; count it once a day for each organisation and outcome."""
        item, outcome = report.item, report.outcome
        outcomes = room(item.organisation, "outcomes")
        counts = key(room(item.organisation, "counts"), item.id)
        once = key(outcomes, f"{item.id}#{report.key}")
        daily = key(outcomes, f"{item.id}#{report.day}#{outcome}#{report.organisation}")
        figure = "helpful" if outcome == "solved" else "notHelpful"

        def decide(change: Change) -> Reported:
            read = {one["sk"]: one for one in self._table.get_many([counts, once, daily])}
            known = decoded(Counts, read.get(item.id))
            if known is None:
                raise unknown(item.id)
            if said := read.get(once["sk"]):
                return Reported(item.id, said["outcome"], counted=said["counted"], repeated=True, counts=known)
            counted = daily["sk"] not in read
            foreign = report.organisation != item.organisation
            visible, values = ("#isPublic = :public", {"public": True}) if foreign else ("attribute_exists(pk)", {})
            change.writes += [
                self._table.check(key(room(item.organisation, "items"), item.id), visible, **values),
                self._table.new(once, {"outcome": outcome, "counted": counted}),
            ]
            if counted:
                until = epoch(f"{report.day}T00:00:00Z") + DAY_MARK_SECONDS
                add = self._table.update(counts, f"ADD #{figure} :one", "attribute_exists(pk)", one=1)
                change.writes += [self._table.new(daily, {"expiresAt": until}), add]
            change.record(audit)
            helpful, not_helpful = counted and outcome == "solved", counted and outcome != "solved"
            counted_now = replace(known, helpful=known.helpful + helpful, not_helpful=known.not_helpful + not_helpful)
            return Reported(item.id, outcome, counted=counted, counts=counted_now)

        def overtaken() -> None:
            if item.id not in self.visible(report.organisation, [item.id]):
                raise unknown(item.id)

        return self._records.change(item.organisation, decide, overtaken)

    def retrieved(self, contribution: Contribution, by: str) -> None:
        """Count that an organisation fetched it. Never fails its caller."""
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
        """Count a contribution that was over a limit. Never fails its caller."""
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
        """Replace the rules. Raises Decided(None) when they were changed meanwhile."""
        item = asdict(rules) | {"approvals": [encode(one) for one in rules.approvals]}
        where = key(room(organisation, "rules"), "rules")
        put = (
            self._table.put(where, item, "#revision = :revision", revision=was.revision)
            if was.revision
            else self._table.new(where, item)
        )

        def decide(change: Change) -> None:
            change.writes.append(put)
            change.record(audit)

        def overtaken() -> None:
            raise Decided(None)

        self._records.change(organisation, decide, overtaken)

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
        oldest = next(self.pending(organisation, page=1), None)
        return Stats(
            pending=max(0, total["pending"]),
            approved=max(0, total["approved"]),
            rejected=max(0, total["rejected"]),
            contributed=total["contributed"],
            published=max(0, total["published"]),
            retrieved=total["retrieved"],
            served=total["served"],
            oldest_pending=oldest.contributed_at if oldest else None,
            by_category={one: total[f"of_{one}"] for one in CATEGORIES if total[f"of_{one}"] > 0},
            contributors=tuple(sorted(contributors, key=lambda one: (-one.pending, -one.refused, one.agent))),
        )

    def organisations(self) -> Iterator[str]:
        """Yield every organisation that ever contributed."""
        items = self._table.query(ORGANISATIONS, "begins_with(sk, :prefix)", {"prefix": NAME_PREFIX})
        return (item["sk"].removeprefix(NAME_PREFIX) for item in items)

    def versions(self, organisation: str) -> Iterator[tuple[ItemId, int]]:
        """Yield every item's id and revision, for reconciling the index."""
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

    def _count(self, writes: Sequence[Write]) -> None:
        """Write figures; a call that is counted does not fail when that fails."""

        def write(one: Write) -> None:
            with suppress(Unavailable):
                self._counted.write(one)

        self._parallel.map(write, writes)

    def _name(self, organisation: str) -> None:
        """Notes that there is this organisation: apart, for all who add at once would be in each other's way."""
        room(organisation, "")
        if organisation not in self._named:
            self._table.write(self._table.new(key(ORGANISATIONS, f"{NAME_PREFIX}{organisation}")))
            self._named.add(organisation)
