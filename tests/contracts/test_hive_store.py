"""What every store of the hive does: DynamoDB and the fake that stands for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import EndpointConnectionError

from commonplace.hive import minhash
from commonplace.hive.model import (
    AutoApproval,
    Contribution,
    Contributor,
    Counts,
    ItemId,
    Report,
    Rules,
    content_hash,
)
from commonplace.hive.records import places
from commonplace.hive.refusals import Decided, SameText
from commonplace.hive.store import DynamoContributions
from commonplace.kernel.audit import AuditLog, AuditRecord
from commonplace.kernel.audit_store import HIVE, DynamoAudit
from commonplace.kernel.errors import NotFound, Unavailable
from commonplace.kernel.items import key
from commonplace.kernel.table import Table
from tests.aws_fixture import TABLE
from tests.dynamodb_fixture import dump, new_table
from tests.fakes.failing import CANCELED, Failing, refusal
from tests.fakes.hive import MemoryContributions
from tests.fakes.identity_stores import Clock, MemoryAudit

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

START = 1_800_000_000
DAY = 86_400
AT = "2027-01-15T08:00:00.000000Z"
ODD_IDS = ["", "#", "a#b", "ä", "\n", "\udcff", "x" * 201, "x" * 3_000]


@dataclass
class Stores:
    clock: Clock
    hive: DynamoContributions
    audit: AuditLog
    client: Any = None
    records: str = ""

    def left(self) -> str:
        """All that is stored of contributions, as text."""
        return dump(self.client, self.records) if self.client else repr(vars(self.hive))


def over(client: Any, records: str, activity: str, clock: Clock) -> Stores:
    hive = DynamoContributions(client, records, activity, clock=clock, sleep=lambda _: None)
    return Stores(clock, hive, DynamoAudit(client, activity, HIVE), client, records)


@pytest.fixture(params=["DynamoDB", "fake", pytest.param("DynamoDB Local", marks=pytest.mark.real)])
def stores(request: pytest.FixtureRequest) -> Stores:
    clock = Clock(START)
    if request.param == "fake":
        audit = MemoryAudit()
        return Stores(clock, MemoryContributions(clock, audit), audit)
    name = "dynamodb" if request.param == "DynamoDB" else "dynamodb_local"
    client = request.getfixturevalue(name)
    activity = TABLE if name == "dynamodb" else new_table(client, "activity")
    return over(client, new_table(client, "records"), activity, clock)


@pytest.fixture
def by_words(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Signatures that can be read: words, each of which is a band."""
    monkeypatch.setattr(minhash, "bands", lambda signature: tuple(signature.split("-")) if signature else ())
    monkeypatch.setattr(minhash, "similarity", lambda one, other: len({*one.split("-")} & {*other.split("-")}) / 10)
    yield


def a_contribution(name: str = "one", content: str | None = None, **changes: Any) -> Contribution:
    text = f"what {name} says" if content is None else content
    values: dict[str, Any] = {
        "organisation": "acme",
        "id": ItemId(f"hv_{name}"),
        "status": "pending",
        "content": text,
        "content_hash": content_hash(text),
        "category": "bug_fix",
        "confidence": 0.8,
        "contributed_at": AT,
        "valid_at": AT,
        "account": "a" * 32,
        "agent": "otter",
    }
    return Contribution(**values | changes)


def told(event: str = "hive.contribute", organisation: str = "acme") -> AuditRecord:
    return AuditRecord(event=event, outcome="ok", at=START, organisation=organisation, subject="s")


def add(stores: Stores, *contributions: Contribution) -> None:
    for one in contributions:
        assert stores.hive.add(one, told(organisation=one.organisation)) == (one.id, one.status)


def change(stores: Stores, was: Contribution, **changes: Any) -> Contribution:
    new = replace(was, **changes, revision=was.revision + 1)
    stores.hive.replace(new, was, told("hive.change", was.organisation))
    return new


def approve(stores: Stores, was: Contribution, *, public: bool = False) -> Contribution:
    published = {"is_public": True, "published_at": AT} if public else {}
    return change(stores, was, status="approved", decided_at=AT, decided_by="mo", **published)


def reject(stores: Stores, was: Contribution, reason: str = "Known.") -> Contribution:
    return change(
        stores, was, status="rejected", content="", content_hash="", decided_at=AT, decided_by="mo", reason=reason
    )


def an_item(stores: Stores, name: str = "one", *, public: bool = False, **changes: Any) -> Contribution:
    one = a_contribution(name, **changes)
    add(stores, one)
    return approve(stores, one, public=public)


def ids(*names: str) -> list[ItemId]:
    return [ItemId(f"hv_{name}") for name in names]


def a_report(item: Contribution, key: str = "k", outcome: Any = "solved", **changes: Any) -> Report:
    values = {"organisation": "acme", "day": "2027-01-15"} | changes
    return Report(item=item, key=content_hash(key), outcome=outcome, **values)


def events(stores: Stores, organisation: str = "acme") -> list[str]:
    return sorted(record.event for record in stores.audit.read(organisation, limit=1_000))


def test_a_contribution_is_read_as_it_was_added(stores: Stores) -> None:
    whole = a_contribution(
        content="ü\u2028 [EMAIL] works",
        framework="boto3",
        language="python",
        version="1.2",
        tags=("a", "ü"),
        run_id="run-1",
        signature="00ff",
        near=(ItemId("hv_two"),),
        marks=("override",),
        redactions={"EMAIL": 1},
        confidence=1.0,
    )
    add(stores, whole, a_contribution("two"))

    assert stores.hive.get("acme", whole.id) == whole
    assert stores.hive.get("acme", ItemId("hv_two")) == a_contribution("two")
    assert events(stores) == ["hive.contribute"] * 2
    assert list(stores.hive.organisations()) == ["acme"]


def test_the_largest_contribution_there_may_be_is_kept(stores: Stores) -> None:
    large = a_contribution(content="𝄞" * 20_000, tags=tuple(f"{tag:02}" + "ü" * 62 for tag in range(20)))
    add(stores, large)
    assert stores.hive.get("acme", large.id) == large


def test_what_is_not_there_is_not_found(stores: Stores) -> None:
    assert stores.hive.get("acme", ItemId("hv_one")) is None
    assert stores.hive.visible("acme", ids("one")) == {}
    assert stores.hive.items({ItemId("hv_one"): "acme"}) == {}
    assert list(stores.hive.pending("acme")) == []
    assert not stores.hive.delete("acme", ItemId("hv_one"), told())
    assert list(stores.hive.organisations()) == []
    assert events(stores) == []


@pytest.mark.parametrize("id", ODD_IDS)
def test_an_odd_id_is_nobodys(stores: Stores, id: str) -> None:
    assert stores.hive.get("acme", ItemId(id)) is None
    assert stores.hive.visible("acme", [ItemId(id)]) == {}
    assert not stores.hive.delete("acme", ItemId(id), told())


@pytest.mark.parametrize("id", ODD_IDS)
def test_a_page_after_what_is_no_id_is_the_first(stores: Stores, id: str) -> None:
    waiting, item = a_contribution("waiting"), an_item(stores, "item", public=True)
    add(stores, waiting)
    after = ItemId(id)
    assert list(stores.hive.pending("acme", after)) == [waiting]
    assert list(stores.hive.pending("acme", after, newest=True)) == [waiting]
    assert list(stores.hive.approved("acme", after)) == [item]
    assert list(stores.hive.published(after)) == [item]
    assert list(stores.hive.of_account("acme", item.account, None, after)) == [waiting, item]


@pytest.mark.parametrize("organisation", ["", "public", "a#b", "Acme", "a/b", "x" * 65])
def test_what_names_no_organisation_has_no_hive(stores: Stores, organisation: str) -> None:
    with pytest.raises(ValueError, match="organisation"):
        stores.hive.add(a_contribution(organisation=organisation), told())
    with pytest.raises(ValueError, match="organisation"):
        stores.hive.get(organisation, ItemId("hv_one"))
    with pytest.raises(ValueError, match="organisation"):
        stores.hive.visible(organisation, ids("one"))


def test_the_same_text_again_is_the_first_ones_whatever_became_of_it(stores: Stores) -> None:
    first = a_contribution()
    add(stores, first)
    again = a_contribution("two", content=first.content)

    assert stores.hive.add(again, told()) == (first.id, "pending")
    approve(stores, first)
    assert stores.hive.add(again, told()) == (first.id, "approved")
    assert stores.hive.get("acme", again.id) is None
    assert events(stores) == ["hive.change", "hive.contribute"]
    assert stores.hive.stats("acme").contributed == 1


def test_a_text_that_was_rejected_may_come_again(stores: Stores) -> None:
    first = a_contribution()
    add(stores, first)
    reject(stores, first)
    add(stores, a_contribution("two", content=first.content))


def test_a_text_of_another_organisation_is_a_duplicate_only_while_it_is_public(stores: Stores) -> None:
    theirs = an_item(stores, "theirs", content="the same", organisation="other")
    mine = a_contribution("mine", content="the same")
    add(stores, mine)
    assert stores.hive.delete("acme", mine.id, told())

    public = change(stores, theirs, is_public=True, published_at=AT)
    assert stores.hive.add(mine, told()) == (theirs.id, "approved")
    change(stores, public, is_public=False, published_at=None)
    add(stores, mine)


def test_a_text_stays_public_while_one_of_two_who_published_it_does(stores: Stores) -> None:
    mine = an_item(stores, "mine", content="the same", public=False)
    theirs = an_item(stores, "theirs", content="the same", organisation="other")
    mine = change(stores, mine, is_public=True, published_at=AT)
    theirs = change(stores, theirs, is_public=True, published_at=AT)
    assert [one.id for one in stores.hive.published()] == ids("theirs", "mine")

    third = a_contribution("third", content="the same", organisation="third")
    assert stores.hive.add(third, told()) == (mine.id, "approved")
    change(stores, mine, is_public=False, published_at=None)
    assert stores.hive.add(third, told()) == (theirs.id, "approved")
    assert stores.hive.delete("other", theirs.id, told())
    add(stores, third)


def test_one_sees_ones_own_items_and_public_ones(stores: Stores) -> None:
    mine = an_item(stores, "mine")
    public = an_item(stores, "public", public=True, organisation="other")
    an_item(stores, "private", organisation="other")
    add(stores, a_contribution("waiting"))
    seen = ids("mine", "public", "private", "waiting", "none", "mine")

    assert stores.hive.visible("acme", seen) == {mine.id: (mine, Counts()), public.id: (public, Counts())}
    assert set(stores.hive.visible("third", seen)) == {public.id}
    change(stores, public, is_public=False, published_at=None)
    assert set(stores.hive.visible("acme", seen)) == {mine.id}
    assert set(stores.hive.visible("other", seen)) == set(ids("public", "private"))


def test_an_item_that_the_index_names_is_read_from_its_owner(stores: Stores) -> None:
    item = an_item(stores)
    add(stores, a_contribution("waiting"))
    assert stores.hive.items({item.id: "acme", ItemId("hv_waiting"): "acme"}) == {item.id: (item, Counts())}
    assert stores.hive.items({item.id: "other"}) == {}


def test_a_decision_is_the_only_one(stores: Stores) -> None:
    was = a_contribution()
    add(stores, was)
    approved = approve(stores, was)

    with pytest.raises(Decided) as other:
        reject(stores, was)
    assert other.value.now == approved
    assert stores.hive.get("acme", was.id) == approved
    assert events(stores) == ["hive.change", "hive.contribute"]
    assert list(stores.hive.pending("acme")) == []

    assert stores.hive.delete("acme", was.id, told())
    with pytest.raises(Decided) as other:
        change(stores, approved, is_public=True, published_at=AT)
    assert other.value.now is None


def test_a_revision_grows(stores: Stores) -> None:
    was = a_contribution()
    add(stores, was)
    with pytest.raises(ValueError, match="revision"):
        stores.hive.replace(was, was, told())
    with pytest.raises(ValueError, match="id"):
        stores.hive.replace(a_contribution("two", revision=2), was, told())


def test_what_is_rejected_keeps_its_reason_for_180_days(stores: Stores) -> None:
    was = a_contribution()
    add(stores, was)
    rejected = reject(stores, was)
    stores.clock.forward(179 * DAY)
    assert stores.hive.get("acme", was.id) == rejected
    assert list(stores.hive.of_account("acme", was.account, "rejected", None)) == [rejected]
    stores.clock.forward(2 * DAY)
    assert stores.hive.get("acme", was.id) is None
    assert list(stores.hive.of_account("acme", was.account, None, None)) == []


def test_a_text_that_is_masked_is_another_text(stores: Stores) -> None:
    was, other = a_contribution(content="Ask Jane."), a_contribution("two", content="Ask Joe.")
    add(stores, was, other)
    masked = change(stores, was, content="Ask [REDACTED].", content_hash=content_hash("Ask [REDACTED]."))

    assert stores.hive.get("acme", was.id) == masked
    again = a_contribution("three", content="Ask [REDACTED].")
    assert stores.hive.add(again, told()) == (was.id, "pending")
    with pytest.raises(SameText) as same:
        change(stores, other, content="Ask [REDACTED].", content_hash=masked.content_hash)
    assert same.value.holder == was.id
    assert stores.hive.get("acme", other.id) == other
    if stores.client:
        assert "Ask Jane" not in stores.left()
    add(stores, a_contribution("four", content="Ask Jane."))


def test_the_queue_is_read_by_pages_oldest_first(stores: Stores) -> None:
    add(stores, *(a_contribution(f"{number:02}") for number in (3, 1, 2, 0, 4)))
    first = [one.id for one in islice(stores.hive.pending("acme", page=2), 2)]
    assert first == ids("00", "01")

    assert stores.hive.delete("acme", ItemId("hv_01"), told())
    add(stores, a_contribution("05"))
    rest = stores.hive.pending("acme", first[-1], page=2)
    assert [one.id for one in rest] == ids("02", "03", "04", "05")
    assert list(stores.hive.pending("acme", "hv_05")) == []
    newest = stores.hive.pending("acme", newest=True, page=2)
    assert [one.id for one in newest] == ids("05", "04", "03", "02", "00")
    older = stores.hive.pending("acme", "hv_04", newest=True)
    assert [one.id for one in older] == ids("03", "02", "00")
    assert stores.hive.waiting("acme") == 5
    assert stores.hive.waiting("other") == 0


def test_items_are_read_by_pages_newest_first(stores: Stores) -> None:
    for number in range(5):
        an_item(stores, f"{number:02}", public=number % 2 == 0)
    an_item(stores, "99", public=True, organisation="other")
    assert [one.id for one in stores.hive.approved("acme", page=2)] == ids("04", "03", "02", "01", "00")
    assert [one.id for one in stores.hive.approved("acme", "hv_02")] == ids("01", "00")
    assert [one.id for one in stores.hive.published(page=2)] == ids("99", "04", "02", "00")
    assert [one.id for one in stores.hive.published("hv_04")] == ids("02", "00")


def test_what_an_account_contributed_is_listed_newest_first(stores: Stores) -> None:
    many = [a_contribution(f"{number:03}") for number in range(80)]
    add(stores, *many, a_contribution("other", account="b" * 32), a_contribution("x", organisation="other"))
    approved, rejected = approve(stores, many[70]), reject(stores, many[10])
    listed = list(stores.hive.of_account("acme", "a" * 32, None, None))

    assert [one.id for one in listed] == [one.id for one in reversed(many)]
    assert listed[9] == approved
    assert list(stores.hive.of_account("acme", "a" * 32, "approved", None)) == [approved]
    assert list(stores.hive.of_account("acme", "a" * 32, "rejected", None)) == [rejected]
    assert [one.id for one in stores.hive.of_account("acme", "a" * 32, "pending", ItemId("hv_002"))] == ids(
        "001", "000"
    )
    assert list(stores.hive.of_account("acme", "c" * 32, None, None)) == []


@pytest.mark.usefixtures("by_words")
def test_what_shares_a_band_is_near(stores: Stores) -> None:
    waiting = a_contribution("waiting", signature="red-green-blue")
    add(stores, waiting, a_contribution("apart", signature="black-white"))
    item = an_item(stores, "item", signature="red-green-black")
    public = an_item(stores, "public", signature="red-brown", organisation="other", public=True)
    an_item(stores, "private", signature="red-green", organisation="other")
    out = a_contribution("out", signature="red-blue")
    add(stores, out)
    reject(stores, out)

    assert list(stores.hive.near("acme", "red-green-blue")) == [waiting, item, public]
    assert list(stores.hive.near("third", "red-green-blue")) == [public]
    change(stores, public, is_public=False, published_at=None)
    masked = change(stores, waiting, signature="yellow")
    assert list(stores.hive.near("acme", "red-green-blue")) == [item]
    assert list(stores.hive.near("acme", "yellow")) == [masked]
    assert stores.hive.delete("acme", item.id, told())
    assert list(stores.hive.near("acme", "red-green-blue")) == []
    assert list(stores.hive.near("acme", "")) == []


@pytest.mark.usefixtures("by_words")
def test_nothing_is_left_of_what_is_deleted(stores: Stores) -> None:
    item = an_item(stores, "gone", content="a text of its own", signature="red-green", public=True, account="e" * 32)
    for number in range(40):
        stores.hive.report(a_report(item, f"run {number}"), told("hive.report"))
    stores.hive.retrieved(item, "other")
    before = stores.left()
    assert item.content_hash in before
    assert "hv_gone" in before

    assert stores.hive.delete("acme", item.id, told("hive.delete"))
    left = stores.left().replace(repr(vars(stores.audit)) if not stores.client else "", "")
    assert item.content_hash not in left
    if stores.client:
        assert "hv_gone" not in left
    assert not stores.hive.delete("acme", item.id, told())
    stats = stores.hive.stats("acme")
    assert (stats.approved, stats.published, stats.contributed, stats.by_category) == (0, 0, 1, {})


def test_an_agent_reports_once_in_a_run_and_an_organisation_counts_once_a_day(stores: Stores) -> None:
    item = an_item(stores, public=True)
    first = stores.hive.report(a_report(item, "one"), told("hive.report"))
    assert (first.counted, first.repeated, first.counts) == (True, False, Counts(helpful=1))

    again = stores.hive.report(a_report(item, "one", "did_not_help"), told("hive.report"))
    assert (again.outcome, again.counted, again.repeated, again.counts) == ("solved", True, True, Counts(helpful=1))
    more = stores.hive.report(a_report(item, "two"), told("hive.report"))
    assert (more.counted, more.repeated, more.counts) == (False, False, Counts(helpful=1))
    worse = stores.hive.report(a_report(item, "three", "did_not_help"), told("hive.report"))
    assert worse.counts == Counts(helpful=1, not_helpful=1)
    later = stores.hive.report(a_report(item, "four", day="2027-01-16"), told("hive.report"))
    assert later.counts == Counts(helpful=2, not_helpful=1)
    foreign = stores.hive.report(a_report(item, "five", organisation="other"), told("hive.report", "other"))
    assert foreign.counts == Counts(helpful=3, not_helpful=1)

    assert stores.hive.visible("third", [item.id])[item.id][1] == Counts(helpful=3, not_helpful=1)
    assert events(stores).count("hive.report") == 4
    assert events(stores, "other") == ["hive.report"]


def test_nobody_reports_on_what_he_does_not_see(stores: Stores) -> None:
    item = an_item(stores, public=True)
    private = change(stores, item, is_public=False, published_at=None)
    with pytest.raises(NotFound):
        stores.hive.report(a_report(item, organisation="other"), told("hive.report", "other"))
    assert stores.hive.report(a_report(private), told("hive.report")).counted
    assert stores.hive.delete("acme", item.id, told())
    with pytest.raises(NotFound):
        stores.hive.report(a_report(private, "again"), told("hive.report"))
    assert events(stores, "other") == []


def test_fetches_are_counted_for_item_owner_and_reader(stores: Stores) -> None:
    item = an_item(stores, public=True)
    stores.hive.retrieved(item, "acme")
    stores.hive.retrieved(item, "other")
    assert stores.hive.visible("acme", [item.id])[item.id][1] == Counts(retrieved=2)
    assert (stores.hive.stats("acme").served, stores.hive.stats("acme").retrieved) == (2, 0)
    assert (stores.hive.stats("other").served, stores.hive.stats("other").retrieved) == (0, 1)

    assert stores.hive.delete("acme", item.id, told())
    stores.hive.retrieved(item, "other")
    assert stores.hive.visible("acme", [item.id]) == {}


def test_counting_leaves_the_item_as_it_is(stores: Stores) -> None:
    item = an_item(stores)
    stores.hive.retrieved(item, "acme")
    stores.hive.report(a_report(item), told())
    assert stores.hive.get("acme", item.id) == item
    assert list(stores.hive.versions("acme")) == [(item.id, item.revision)]


def test_figures_follow_every_change(stores: Stores) -> None:
    one, two, three = (a_contribution(f"{number}") for number in range(3))
    four = a_contribution("9", account="b" * 32, agent="mole", contributed_at="2027-02-01T00:00:00.000000Z")
    add(stores, one, two, three, four)
    stores.hive.refused("acme", "c" * 32, "flood")
    stores.hive.refused("acme", "c" * 32, "flood")
    stats = stores.hive.stats("acme")
    assert (stats.pending, stats.approved, stats.rejected, stats.contributed) == (4, 0, 0, 4)
    assert stats.oldest_pending == AT
    assert stats.contributors == (Contributor("otter", 3, 0), Contributor("mole", 1, 0), Contributor("flood", 0, 2))

    one, two = approve(stores, one, public=True), approve(stores, two)
    reject(stores, three)
    change(stores, four, sensitive=True)
    stores.clock.forward(DAY + 3_600)
    stats = stores.hive.stats("acme")
    assert (stats.pending, stats.approved, stats.rejected, stats.contributed) == (1, 2, 1, 4)
    assert (stats.published, stats.by_category) == (1, {"bug_fix": 2})
    assert stats.oldest_pending == four.contributed_at
    assert stats.contributors == (Contributor("mole", 1, 0),)

    change(stores, one, is_public=False, published_at=None)
    assert stores.hive.delete("acme", two.id, told())
    assert stores.hive.delete("acme", four.id, told())
    stats = stores.hive.stats("acme")
    assert (stats.pending, stats.approved, stats.published, stats.contributed) == (0, 1, 0, 4)
    assert stats.oldest_pending is None
    assert stores.hive.stats("other") == replace(
        stats, approved=0, rejected=0, contributed=0, by_category={}, contributors=()
    )


def test_what_a_rule_approves_is_an_item_at_once(stores: Stores) -> None:
    item = a_contribution(status="approved", decided_at=AT, decided_by="rule:r1", revision=2)
    add(stores, item)
    assert stores.hive.visible("acme", [item.id]) == {item.id: (item, Counts())}
    assert stores.hive.stats("acme").approved == 1
    with pytest.raises(ValueError, match="rejected"):
        stores.hive.add(replace(item, status="rejected"), told())


def test_rules_are_changed_by_one_at_a_time(stores: Stores) -> None:
    assert stores.hive.rules("acme") == Rules()
    approval = AutoApproval(id="r1", category="config", agent="otter", min_confidence=0.75)
    rules = Rules(approvals=(approval,), patterns=(r"ACME-\d+",), allowed=("Acme",), revision=1)
    stores.hive.put_rules("acme", rules, Rules(), told("hive.rules"))
    assert stores.hive.rules("acme") == rules
    assert stores.hive.rules("other") == Rules()

    for was in (Rules(), Rules(revision=2)):
        with pytest.raises(Decided):
            stores.hive.put_rules("acme", Rules(revision=3), was, told("hive.rules"))
    stores.hive.put_rules("acme", Rules(revision=2), rules, told("hive.rules"))
    assert stores.hive.rules("acme") == Rules(revision=2)
    assert events(stores) == ["hive.rules"] * 2


def test_versions_are_of_items_alone(stores: Stores) -> None:
    item = an_item(stores, "item")
    add(stores, a_contribution("waiting"))
    out = a_contribution("out")
    add(stores, out)
    reject(stores, out)
    assert list(stores.hive.versions("acme")) == [(item.id, 2)]
    assert list(stores.hive.versions("other")) == []


def test_a_store_that_does_not_answer_says_so_and_keeps_nothing(dynamodb: "DynamoDBClient") -> None:
    records = new_table(dynamodb, "records")
    away = EndpointConnectionError(endpoint_url="http://nowhere")
    for calls in range(4):
        client: Any = Answering(dynamodb, calls, away)
        stores = over(client, records, TABLE, Clock(START))
        with pytest.raises(Unavailable):
            stores.hive.add(a_contribution(), told())
    stores = over(dynamodb, records, TABLE, Clock(START))
    assert "what one says" not in stores.left()
    assert events(stores) == []
    assert stores.hive.stats("acme").contributed == 0


class Answering:
    """A client that answers so many calls, and no more."""

    def __init__(self, client: Any, calls: int, error: Exception) -> None:
        self._client, self._left, self._error = client, calls, error

    def __getattr__(self, name: str) -> Any:
        def call(**values: Any) -> Any:
            if self._left == 0:
                raise self._error
            self._left -= 1
            return getattr(self._client, name)(**values)

        return call


def test_a_transaction_that_others_are_in_the_way_of_is_tried_again(dynamodb: "DynamoDBClient") -> None:
    records = new_table(dynamodb, "records")
    busy = Failing(dynamodb, refusal(CANCELED, "TransactionConflict"), times=5)
    stores = over(busy, records, TABLE, Clock(START))
    add(stores, a_contribution())
    assert stores.hive.stats("acme").pending == 1


def test_counting_never_fails_its_caller(dynamodb: "DynamoDBClient") -> None:
    records = new_table(dynamodb, "records")
    item = an_item(over(dynamodb, records, TABLE, Clock(START)))
    away = over(Failing(dynamodb, EndpointConnectionError(endpoint_url="http://nowhere")), records, TABLE, Clock(START))
    away.hive.retrieved(item, "acme")
    away.hive.refused("acme", "a" * 32, "otter")
    with pytest.raises(Unavailable):
        away.hive.stats("acme")


@dataclass
class Seen:
    """A client that notes which keys and partitions each read asks for."""

    client: Any

    def __post_init__(self) -> None:
        self.reads: list[tuple[str, int]] = []
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        def call(**values: Any) -> Any:
            if name == "batch_get_item":
                ((_, asked),) = values["RequestItems"].items()
                self.reads.append((name, len(asked["Keys"])))
            elif name in ("query", "get_item"):
                self.reads.append((name, 1))
            else:
                self.writes += 1
            return getattr(self.client, name)(**values)

        return call


def test_a_foreign_id_and_an_unknown_one_take_the_same_reads(dynamodb: "DynamoDBClient") -> None:
    records = new_table(dynamodb, "records")
    stores = over(dynamodb, records, TABLE, Clock(START))
    an_item(stores, "private", organisation="other")
    an_item(stores, "public", organisation="other", public=True)
    an_item(stores, "mine")
    add(stores, a_contribution("waiting", organisation="other"))
    reads = []
    for name in ("private", "none", "waiting", "public", "mine"):
        seen = Seen(dynamodb)
        over(seen, records, TABLE, Clock(START)).hive.visible("acme", ids(name))
        reads.append(seen.reads)
    assert reads == [[("batch_get_item", 2)] * 2] * 5


def test_a_long_queue_takes_no_more_requests_than_a_short_one(dynamodb: "DynamoDBClient") -> None:
    records = new_table(dynamodb, "records")
    stores = over(dynamodb, records, TABLE, Clock(START))
    many = [a_contribution(f"{number:04}", account=f"{number % 3:032x}") for number in range(250)]
    table = Table(dynamodb, records)
    table.write_many([table.put(key(*where), item) for one in many for where, item in places(one).items()])
    seen = Seen(dynamodb)
    hive = over(seen, records, TABLE, Clock(START)).hive

    def reads(ask: Callable[[], Any]) -> list[str]:
        seen.reads.clear()
        ask()
        return [name for name, _ in seen.reads]

    middle = many[100]
    assert reads(lambda: list(islice(hive.pending("acme"), 100))) == ["query"]
    assert reads(lambda: list(islice(hive.pending("acme", middle.id), 50))) == ["query"]
    assert reads(lambda: hive.waiting("acme")) == ["query"]
    assert reads(lambda: hive.stats("acme")) == ["query"] * 2
    assert reads(lambda: hive.get("acme", middle.id)) == ["batch_get_item"]
    assert reads(lambda: list(islice(hive.of_account("acme", middle.account, None, None), 20))) == [
        "query",
        "batch_get_item",
    ]
    writes = seen.writes
    assert reads(lambda: approve(replace(stores, hive=hive), middle)) == []
    assert seen.writes == writes + 1


@pytest.mark.usefixtures("by_words")
def test_no_two_organisations_share_a_key(dynamodb: "DynamoDBClient") -> None:
    records = new_table(dynamodb, "records")
    stores = over(dynamodb, records, TABLE, Clock(START))

    def keys() -> set[tuple[str, str]]:
        items = dynamodb.scan(TableName=records)["Items"]
        return {(item["pk"]["S"], item["sk"]["S"]) for item in items}

    written: dict[str, set[tuple[str, str]]] = {}
    for owner in ("acme", "acme-hive", "hive"):
        before = keys()
        item = an_item(stores, f"of-{owner}", content="the same", signature="red", organisation=owner)
        stores.hive.retrieved(item, owner)
        stores.hive.report(a_report(item, organisation=owner), told("hive.report", owner))
        stores.hive.put_rules(owner, Rules(revision=1), Rules(), told("hive.rules", owner))
        add(stores, a_contribution("waiting", organisation=owner, signature="red"))
        written[owner] = keys() - before
        change(stores, item, is_public=False)
    for owner, own in written.items():
        assert {pk for pk, _ in own} - {"organisations"} <= {pk for pk, _ in own if pk.startswith(f"{owner}#hive#")}
        assert all(own.isdisjoint(others) for name, others in written.items() if name != owner)
