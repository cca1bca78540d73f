"""The store on DynamoDB beside the one in memory: whatever is done, both say the same, and no item is left over."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from commonplace.hive import minhash
from commonplace.hive.model import AutoApproval, Contribution, ItemId, Report, Rules, content_hash
from commonplace.hive.records import places
from commonplace.hive.refusals import Decided, SameText
from commonplace.hive.store import DynamoContributions
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.audit_store import HIVE, DynamoAudit
from commonplace.kernel.errors import NotFound
from tests.dynamodb_fixture import new_table
from tests.examples import examples
from tests.fakes.hive import MemoryContributions
from tests.fakes.identity_stores import Clock, MemoryAudit

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ORGANISATIONS = ("acme", "other")
ACCOUNTS = ("a" * 32, "b" * 32)
TEXTS = tuple(f"When the queue is full, retry with jitter and a cap of {number} seconds." for number in range(4))
AT = "2027-01-15T08:00:00.000000Z"
START = 1_800_000_000
COUNTED_APART = ("figures", "outcomes", "rules")

organisations = st.sampled_from(ORGANISATIONS)
texts = st.sampled_from(TEXTS)
numbers = st.integers(0, 30)


class Stores(RuleBasedStateMachine):
    """`client` is set by the test."""

    client: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock(START)
        self.records, self.activity = new_table(self.client, "records"), new_table(self.client, "activity")
        nap: Callable[[float], None] = lambda _: None  # noqa: E731 - typed
        self.real = DynamoContributions(self.client, self.records, self.activity, clock=self.clock, sleep=nap)
        self.audit = MemoryAudit()
        self.fake = MemoryContributions(self.clock, self.audit)
        self.ids: list[tuple[str, ItemId]] = []
        self.gone: list[Contribution] = []

    @rule(organisation=organisations, text=texts, account=st.sampled_from(ACCOUNTS), at_once=st.booleans())
    def add(self, organisation: str, text: str, account: str, at_once: bool) -> None:
        one = Contribution(
            organisation=organisation,
            id=ItemId(f"hv_{len(self.ids):03}"),
            status="approved" if at_once else "pending",
            content=text,
            content_hash=content_hash(text),
            category="bug_fix",
            confidence=0.8,
            contributed_at=AT,
            valid_at=AT,
            account=account,
            agent=f"agent {account[0]}",
            signature=minhash.signature(text),
            decided_at=AT if at_once else None,
            decided_by="rule:r" if at_once else None,
            revision=2 if at_once else 1,
        )
        held = self.both(lambda store, told: store.add(one, told(organisation)))
        if held[0] == one.id:
            self.ids.append((organisation, one.id))

    @precondition(lambda self: self.ids)
    @rule(number=numbers, public=st.booleans())
    def approve(self, number: int, public: bool) -> None:
        published = {"is_public": True, "published_at": AT} if public else {}
        self.change(number, status="approved", decided_at=AT, decided_by="mo", **published)

    @precondition(lambda self: self.ids)
    @rule(number=numbers)
    def reject(self, number: int) -> None:
        self.change(
            number, status="rejected", content="", content_hash="", signature="", decided_at=AT, is_public=False
        )

    @precondition(lambda self: self.ids)
    @rule(number=numbers, text=texts)
    def mask(self, number: int, text: str) -> None:
        self.change(number, content=text, content_hash=content_hash(text), signature=minhash.signature(text))

    @precondition(lambda self: self.ids)
    @rule(number=numbers, public=st.booleans())
    def publish(self, number: int, public: bool) -> None:
        was = self.known(number)
        if was is not None and was.status == "approved":
            self.change(number, is_public=public, published_at=AT if public else None)

    @precondition(lambda self: self.gone)
    @rule(number=numbers)
    def change_what_was_changed_before(self, number: int) -> None:
        was = self.gone[number % len(self.gone)]
        self.replace(was, replace(was, sensitive=True, revision=was.revision + 1))

    @precondition(lambda self: self.ids)
    @rule(number=numbers, organisation=organisations)
    def delete(self, number: int, organisation: str) -> None:
        id = self.ids[number % len(self.ids)][1]
        self.both(lambda store, told: store.delete(organisation, id, told(organisation)))

    @precondition(lambda self: self.ids)
    @rule(number=numbers, by=organisations, run=st.integers(0, 2), solved=st.booleans(), day=st.integers(1, 2))
    def report(self, number: int, by: str, run: int, solved: bool, day: int) -> None:
        was = self.known(number)
        if was is not None:
            outcome: Any = "solved" if solved else "did_not_help"
            key = content_hash(f"{by} {run}")
            report = Report(item=was, organisation=by, key=key, outcome=outcome, day=f"2027-01-{day:02}")
            self.both(lambda store, told: store.report(report, told(by)))

    @precondition(lambda self: self.ids)
    @rule(number=numbers, by=organisations)
    def fetch(self, number: int, by: str) -> None:
        was = self.known(number)
        if was is not None and was.status == "approved":
            self.both(lambda store, _: store.retrieved(was, by))

    @rule(organisation=organisations, revision=st.integers(0, 2))
    def put_rules(self, organisation: str, revision: int) -> None:
        rules = Rules(approvals=(AutoApproval(id="r", agent="x"),), revision=revision + 1)
        self.both(
            lambda store, told: store.put_rules(organisation, rules, Rules(revision=revision), told(organisation))
        )

    @rule(organisation=organisations, text=texts)
    def near(self, organisation: str, text: str) -> None:
        signature = minhash.signature(text)
        self.both(lambda store, _: {one.id for one in store.near(organisation, signature)})

    @rule(days=st.integers(30, 120))
    def wait(self, days: int) -> None:
        self.clock.forward(days * 86_400)

    @invariant()
    def both_have_the_same(self) -> None:
        ids = [id for _, id in self.ids]
        for organisation in ORGANISATIONS:
            self.both(lambda store, _, of=organisation: [store.get(of, id) for id in ids])
            self.both(lambda store, _, of=organisation: store.visible(of, ids))
            self.both(lambda store, _, of=organisation: (list(store.pending(of)), list(store.approved(of))))
            self.both(lambda store, _, of=organisation: sorted(store.versions(of)))
            self.both(lambda store, _, of=organisation: (store.rules(of), store.waiting(of)))
            for account in ACCOUNTS:
                self.both(lambda store, _, of=organisation, by=account: list(store.of_account(of, by, None, None)))
            real, fake = self.real.stats(organisation), self.fake.stats(organisation)
            # What has expired is counted on: the figure is of all that were ever rejected and not deleted.
            assert replace(real, rejected=0) == replace(fake, rejected=0)
        self.both(lambda store, _: list(store.published()))

    @invariant()
    def nothing_is_left_over(self) -> None:
        kept = [one for owned in self.fake.kept.values() for one in owned.values()]
        wanted = {where for one in kept for where in places(one)}
        there = {(item["pk"]["S"], item["sk"]["S"]) for item in self.client.scan(TableName=self.records)["Items"]}
        there = {(pk, sk) for pk, sk in there if pk != "organisations" and not pk.endswith(COUNTED_APART)}
        expired = {(pk, sk) for pk, sk in there - wanted if pk.endswith("#rejected") or "#mine#" in pk}
        assert there - expired == wanted

    @invariant()
    def every_change_is_on_record_once(self) -> None:
        for organisation in ORGANISATIONS:
            real = DynamoAudit(self.client, self.activity, HIVE).read(organisation, limit=1_000)
            assert len(list(real)) == len(list(self.audit.read(organisation, limit=1_000)))

    def known(self, number: int) -> Contribution | None:
        organisation, id = self.ids[number % len(self.ids)]
        return self.fake.get(organisation, id)

    def change(self, number: int, **changes: Any) -> None:
        was = self.known(number)
        if was is None or (was.status == "rejected") or (was.status == "approved" and "is_public" not in changes):
            return
        self.replace(was, replace(was, **changes, revision=was.revision + 1))

    def replace(self, was: Contribution, new: Contribution) -> None:
        if self.both(lambda store, told: store.replace(new, was, told(was.organisation))) is None:
            self.gone.append(was)

    def both(self, use: Callable[..., Any]) -> Any:
        """What both stores say: the same."""

        def told(organisation: str) -> AuditRecord:
            return AuditRecord(event="hive.change", outcome="ok", at=START, organisation=organisation)

        answers = []
        for store in (self.real, self.fake):
            try:
                answers.append(use(store, told))
            except Decided as other:
                answers.append(("decided", other.now))
            except SameText as same:
                answers.append(("same", same.holder))
            except NotFound as unknown:
                answers.append(("unknown", unknown.message))
        assert answers[0] == answers[1]
        return answers[0]


@pytest.fixture
def machine(dynamodb: "DynamoDBClient") -> Iterator[type[Stores]]:
    Stores.client = dynamodb
    yield Stores
    Stores.client = None


def test_both_stores_say_the_same_whatever_is_done(machine: type[Stores]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples(2, soak=200),
            stateful_step_count=20,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
