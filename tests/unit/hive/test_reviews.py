"""What reviewers do with the hive, over the store that keeps the adapter's contract."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from commonplace.hive.model import (
    AutoApproval,
    Contribution,
    Contributor,
    Draft,
    ItemId,
    Near,
    Rules,
    SearchAnswer,
    content_hash,
)
from commonplace.hive.review import Reviews
from commonplace.hive.search import HiveSearch
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable
from commonplace.redaction.client import LambdaRedactor
from commonplace.redaction.function import RedactFunction
from tests.fakes.hives import FakeHive
from tests.fakes.redaction import InvokedHere, WordRedactor

OTTER = Author(organisation="acme", account="a" * 32, name="otter")
MO = Author(organisation="acme", account="c" * 32, name="mo")
JO = Author(organisation="acme", account="d" * 32, name="jo")
FOREIGN = Author(organisation="other", account="e" * 32, name="crow")
TEXT = "Retries need jitter, says Petra, or all come back at once."
UNKNOWN = ItemId("hv_01JDX5Z8K4QW7M2N6P9R3TZZZZ")


@pytest.fixture
def world() -> FakeHive:
    return FakeHive()


def contribute(world: FakeHive, content: str = TEXT, by: Author = OTTER, **changes: Any) -> ItemId:
    return world.hive.contribute(by, Draft(**{"content": content, "category": "bug_fix", **changes})).id


def get(world: FakeHive, id: ItemId) -> Contribution:
    return world.kept()[id]


def test_what_is_approved_is_an_item_with_its_reviewer(world: FakeHive) -> None:
    id = contribute(world)
    item = world.reviews.approve(MO, id)
    assert item == get(world, id)
    assert (item.status, item.decided_by, item.is_public, item.revision) == ("approved", "mo", False, 2)
    assert list(world.reviews.pending(MO)) == []
    assert [one.contribution.id for one in world.reviews.items(MO)] == [id]
    assert list(world.reviews.items(MO, public=True)) == []


def test_what_is_approved_may_be_published_at_once(world: FakeHive) -> None:
    id = contribute(world)
    item = world.reviews.approve(MO, id, public=True)
    assert item.published_at == item.decided_at
    assert [one.contribution.id for one in world.reviews.items(FOREIGN, public=True)] == [id]


def test_what_is_rejected_keeps_its_reason_and_no_text(world: FakeHive) -> None:
    id = contribute(world, tags=("jitter",), framework="boto", language="py", version="9", run_id="run-7")
    world.reviews.reject(MO, id, "  Known\n to all. ")
    kept = get(world, id)
    assert (kept.status, kept.reason, kept.decided_by) == ("rejected", "Known to all.", "mo")
    assert (kept.content, kept.content_hash, kept.tags, kept.signature) == ("", "", (), "")
    dump = world.store.dump()
    assert "jitter" not in dump
    assert "boto" not in dump
    with pytest.raises(InvalidInput, match="at most 500"):
        world.reviews.reject(MO, contribute(world), "x" * 501)


def test_the_second_of_two_reviewers_is_told_of_the_first(world: FakeHive) -> None:
    id = contribute(world)
    world.reviews.approve(MO, id)
    decisions: list[Callable[[], Contribution]] = [
        lambda: world.reviews.approve(JO, id),
        lambda: world.reviews.reject(JO, id, "No."),
        lambda: world.reviews.flag(JO, id, sensitive=True),
        lambda: world.reviews.mask(JO, id, "Petra"),
    ]
    for decide in decisions:
        with pytest.raises(Conflict, match="approved already, by mo") as told:
            decide()
        assert told.value.details["decidedBy"] == "mo"
    assert get(world, id).decided_by == "mo"


class Overtaken:
    """A store of which somebody else has read, and decided, before one writes."""

    def __init__(self, store: Any, decide: Any) -> None:
        self._store, self._decide = store, decide

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def replace(self, *given: Any) -> None:
        self._decide()
        self._store.replace(*given)


def test_who_is_overtaken_between_reading_and_writing_is_told_of_the_other(world: FakeHive) -> None:
    def late(decide: Any) -> Reviews:
        store: Any = Overtaken(world.store, decide)
        return Reviews(replace(world.parts, store=store))

    first, second, third = (contribute(world, f"Learned number {number}.") for number in range(3))
    with pytest.raises(Conflict, match="rejected already, by mo"):
        late(lambda: world.reviews.reject(MO, first, "No.")).approve(JO, first)
    with pytest.raises(Conflict, match="changed this item meanwhile"):
        late(lambda: world.reviews.flag(MO, second, sensitive=True)).approve(JO, second)
    with pytest.raises(NotFound):
        late(lambda: world.hive.delete(OTTER, third)).approve(JO, third)
    assert get(world, second).status == "pending"


@pytest.mark.parametrize("id", ["foreign", UNKNOWN])
def test_nobody_reviews_what_is_not_the_organisations(world: FakeHive, id: str) -> None:
    wanted = contribute(world, by=FOREIGN) if id == "foreign" else UNKNOWN
    for act in (
        lambda: world.reviews.show(MO, wanted),
        lambda: world.reviews.approve(MO, wanted),
        lambda: world.reviews.reject(MO, wanted, ""),
        lambda: world.reviews.flag(MO, wanted, sensitive=True),
        lambda: world.reviews.mask(MO, wanted, "Petra"),
        lambda: world.reviews.invalidate(MO, wanted, None),
    ):
        with pytest.raises(NotFound):
            act()


def test_a_missed_name_is_masked_in_every_field(world: FakeHive) -> None:
    id = contribute(world, tags=("petra", "by Petra"), framework="Petra's", run_id="Petra-1")
    masked = world.reviews.mask(MO, id, " Petra ", "NAME")
    assert masked.content == TEXT.replace("Petra", "[NAME]")
    assert masked.content_hash == content_hash(masked.content)
    assert (masked.tags, masked.framework, masked.run_id) == (("petra", "by [NAME]"), "[NAME]'s", "[NAME]-1")
    assert masked.redactions == {"NAME": 4}
    assert masked.revision == 2
    assert masked.intact
    assert "Petra" not in world.store.dump()
    assert world.store.audit.records[-1].event == "hive.mask"

    world.reviews.approve(MO, id)
    again = world.hive.contribute(OTTER, Draft(content=masked.content, category="bug_fix"))
    assert (again.id, again.status, again.duplicate) == (id, "approved", True)


def test_a_text_that_would_be_anothers_is_not_masked(world: FakeHive) -> None:
    first = contribute(world, TEXT.replace("Petra", "[REDACTED]"))
    id = contribute(world)
    with pytest.raises(Conflict, match="this very text") as same:
        world.reviews.mask(MO, id, "Petra")
    assert same.value.details["id"] == first
    assert get(world, id).content == TEXT


def test_not_more_than_half_is_masked(world: FakeHive) -> None:
    id = contribute(world, "alpha beta alpha beta alpha")
    assert world.reviews.mask(MO, id, "beta").content.count("[REDACTED]") == 2
    with pytest.raises(InvalidInput, match="Too little"):
        world.reviews.mask(MO, id, "alpha")
    for passage in ("", "  ", "gamma"):
        with pytest.raises(InvalidInput, match="is not in the contribution"):
            world.reviews.mask(MO, id, passage)


def test_a_flag_asks_for_a_second_look(world: FakeHive) -> None:
    id = contribute(world)
    assert world.reviews.flag(MO, id, sensitive=True).sensitive
    revision = get(world, id).revision
    world.reviews.flag(MO, id, sensitive=True)
    assert get(world, id).revision == revision
    assert [one.id for one in world.reviews.pending(MO) if one.sensitive] == [id]
    assert not world.reviews.flag(MO, id, sensitive=False).sensitive


def test_every_decision_is_on_record_without_its_text(world: FakeHive) -> None:
    first, second = contribute(world), contribute(world, "Another text about jitter.")
    world.reviews.mask(MO, first, "Petra")
    world.reviews.approve(MO, first)
    world.reviews.invalidate(MO, first, world.parts.now(), "Petra says so.")
    world.reviews.reject(MO, second, "Petra knows.")
    records = world.store.audit.records
    assert [(one.event, one.subject) for one in records[2:]] == [
        ("hive.mask", MO.account),
        ("hive.approve", MO.account),
        ("hive.invalidate", MO.account),
        ("hive.reject", MO.account),
    ]
    assert "Petra" not in repr(records)
    assert "jitter" not in repr(records)


def test_an_item_ends_after_it_began_and_only_an_item_ends(world: FakeHive) -> None:
    id = contribute(world)
    with pytest.raises(Conflict, match="pending"):
        world.reviews.invalidate(MO, id, world.parts.now())
    item = world.reviews.approve(MO, id)
    with pytest.raises(InvalidInput, match="before it begins") as refused:
        world.reviews.invalidate(MO, id, "2020-01-01T00:00:00.000000Z")
    assert item.valid_at in str(refused.value.hint)
    assert world.reviews.invalidate(MO, id, item.valid_at).invalid_at == item.valid_at


def test_a_review_shows_what_resembles_by_words_and_by_meaning(world: FakeHive) -> None:
    long = "When the queue is full, retry with jitter and a cap of thirty seconds, or every worker comes back at once."
    waiting = contribute(world, long)
    meant = contribute(world, "Randomise the pauses between attempts.")
    apart = contribute(world, "Vectors of two models cannot be compared.")
    foreign = contribute(world, "Spread the tries.", by=FOREIGN)
    world.approve(MO, meant, apart)
    world.approve(FOREIGN, foreign)
    id = contribute(world, f"{long} Really.")

    class Meaning(HiveSearch):
        def __init__(self) -> None: ...

        def search(self, *_: Any) -> SearchAnswer:
            raise AssertionError

        def similar(self, organisation: str, text: str, limit: int) -> Sequence[tuple[ItemId, float]]:
            assert (organisation, text) == ("acme", f"{long} Really.")
            return [(id, 0.99), (foreign, 0.98), (meant, 0.9), (apart, 0.74)][:limit]

    reviews = Reviews(replace(world.parts, search=Meaning()))
    words, meaning = sorted(reviews.show(MO, id).near, key=lambda near: near.by, reverse=True)
    assert (words.contribution.id, words.by) == (waiting, "words")
    assert words.similarity > 0.8
    assert meaning == Near(get(world, meant), 0.9, "meaning")


def test_a_review_goes_on_by_words_while_the_index_is_away(world: FakeHive) -> None:
    class Away(HiveSearch):
        def __init__(self) -> None: ...

        def search(self, *_: Any) -> SearchAnswer:
            raise AssertionError

        def similar(self, *_: Any) -> Sequence[tuple[ItemId, float]]:
            raise Unavailable("The index does not answer.")

    id = contribute(world)
    assert Reviews(replace(world.parts, search=Away())).show(MO, id).near == ()


def test_a_review_of_an_item_has_its_counts_and_quality(world: FakeHive) -> None:
    id = contribute(world)
    assert world.reviews.show(MO, id).item is None
    world.reviews.approve(MO, id)
    world.hive.report(OTTER, id, "solved")
    item = world.reviews.show(MO, id).item
    assert item is not None
    assert item.counts.helpful == 1
    assert item.quality.outcomes == pytest.approx(2 / 3, abs=1e-4)


def test_pages_of_the_queue_stand_while_it_is_worked_off(world: FakeHive) -> None:
    ids = [contribute(world, f"Learned number {number}.") for number in range(9)]
    for id in ids[:3]:
        world.reviews.approve(MO, id)
    world.hive.delete(OTTER, ids[4])
    new = contribute(world, "A new one.")
    assert [one.id for one in world.reviews.pending(MO, ids[2])] == [ids[3], *ids[5:], new]
    assert [one.id for one in world.reviews.pending(MO, newest=True)][:2] == [new, ids[8]]


@pytest.fixture
def checked(world: FakeHive) -> Reviews:
    """With the patterns judged by the function that redacts, in this process."""
    client = LambdaRedactor(InvokedHere(RedactFunction(WordRedactor())), "arn:redact")
    return Reviews(replace(world.parts, invalid_patterns=client.invalid_patterns))


def test_rules_are_kept_and_told(checked: Reviews) -> None:
    rule = AutoApproval(id="r1", category="config", min_confidence=0.5)
    rules = checked.change_rules(MO, Rules(approvals=(rule,), patterns=(r"ACME-\d+",), allowed=("Acme",)))
    assert rules.revision == 1
    assert checked.rules(MO) == rules
    assert checked.rules(FOREIGN) == Rules()
    with pytest.raises(Conflict, match="in the meantime"):
        checked.change_rules(JO, Rules())
    assert checked.change_rules(JO, Rules(revision=1)) == Rules(revision=2)


def test_patterns_that_are_none_are_named(checked: Reviews) -> None:
    with pytest.raises(InvalidInput, match=r"not valid: \(: missing \)") as refused:
        checked.change_rules(MO, Rules(patterns=("a+", "(")))
    assert refused.value.details == {"patterns": {"(": "missing )"}, "field": "patterns"}
    assert checked.rules(MO) == Rules()


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (Rules(approvals=(AutoApproval(id="r1"),)), "names a category"),
        (Rules(approvals=(AutoApproval(id="r1", agent="x"),) * 2), "same id"),
        (Rules(approvals=(AutoApproval(id="r1", agent="x", min_confidence=1.1),)), "from 0 to 1"),
        (Rules(approvals=(AutoApproval(id="r1", category="gossip"),)), "no category"),  # type: ignore[arg-type]
        (Rules(approvals=tuple(AutoApproval(id=f"{n}", agent="x") for n in range(51))), "at most 50 rules"),
        (Rules(patterns=tuple(f"p{n}" for n in range(51))), "at most 50 patterns"),
        (Rules(allowed=tuple(f"t{n}" for n in range(501))), "at most 500 texts"),
        (Rules(patterns=("x" * 201,)), "1 to 200 characters"),
        (Rules(allowed=("Acme", "a")), "One letter"),
        (Rules(allowed=(" ",)), "1 to 200 characters"),
    ],
)
def test_rules_out_of_bounds_are_refused(checked: Reviews, rules: Rules, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        checked.change_rules(MO, rules)
    assert checked.rules(MO) == Rules()


def test_rules_at_the_bounds_are_taken(checked: Reviews) -> None:
    approvals = tuple(AutoApproval(id=f"{n}", agent="x" * 100, category="general") for n in range(50))
    rules = Rules(approvals=approvals, patterns=("x" * 200,) * 50, allowed=("x" * 200,) * 500)
    assert checked.change_rules(MO, rules).revision == 1


def test_figures_tell_of_the_queue_and_of_the_model(world: FakeHive) -> None:
    first, second = contribute(world, "Learned number one."), contribute(world, "Learned number two.")
    contribute(world, "Learned number three.", by=JO)
    world.reviews.approve(MO, first, public=True)
    reviews = Reviews(replace(world.parts, kept_model=lambda: ("local:256", True)))
    stats = reviews.stats(MO)
    assert (stats.pending, stats.approved, stats.published, stats.contributed) == (2, 1, 1, 3)
    assert stats.oldest_pending == get(world, second).contributed_at
    assert stats.contributors == (Contributor("jo", 1, 0), Contributor("otter", 1, 0))
    assert (stats.model, stats.model_changed) == ("local:256", True)
    assert reviews.waiting(MO) == 2


def test_a_correction_takes_the_place_of_an_item_once_it_is_approved(world: FakeHive) -> None:
    item = contribute(world)
    world.approve(MO, item)
    new = contribute(world, "Lock rows in the order of their ids, also in jobs.", replaces=item)
    assert get(world, item).invalid_at is None
    approved = world.reviews.approve(MO, new)
    was = get(world, item)
    assert (was.invalid_at, was.reason, approved.replaces) == (approved.decided_at, f"Replaced by {new}.", item)


def test_a_correction_of_what_is_pending_rejects_that(world: FakeHive) -> None:
    first = contribute(world)
    new = contribute(world, "Lock rows in the order of their ids, also in jobs.", replaces=first)
    world.reviews.approve(MO, new)
    assert (get(world, first).status, get(world, first).content) == ("rejected", "")


def test_what_replaces_something_is_approved_by_a_person(world: FakeHive) -> None:
    first = contribute(world)
    world.reviews.change_rules(MO, Rules(approvals=(AutoApproval(id="r1", category="bug_fix"),)))
    assert get(world, contribute(world, "Lock the rows of a job in order.", replaces=first)).status == "pending"


def test_only_ones_own_is_replaced_and_only_while_it_stands(world: FakeHive) -> None:
    theirs = contribute(world, by=replace(OTTER, account="b" * 32))
    with pytest.raises(NotFound):
        contribute(world, "Another way to lock rows in order.", replaces=theirs)
    rejected = contribute(world, "Something else that was learned.")
    world.reviews.reject(MO, rejected, "Known already")
    with pytest.raises(Conflict):
        contribute(world, "Another way to lock rows in order.", replaces=rejected)


def test_words_take_the_place_of_a_placeholder(world: FakeHive) -> None:
    id = contribute(world, "Ask Rosa before Rosa locks the rows of a long job.")
    assert get(world, id).content.count("[NAME]") == 2
    filled = world.reviews.fill(MO, id, "NAME", 2, "the maintainer")
    assert filled.content == "Ask [NAME] before the maintainer locks the rows of a long job."
    assert filled.redactions == {"NAME": 1}
    assert "maintainer" not in str(world.store.audit.records[-1])
    for words in ("Rosa", "", "Luxemburg's deputy"):
        with pytest.raises(InvalidInput):
            world.reviews.fill(MO, id, "NAME", 1, words)
    with pytest.raises(InvalidInput):
        world.reviews.fill(MO, id, "NAME", 2, "somebody")


def test_passage_of_one_letter_is_refused(world: FakeHive) -> None:
    id = contribute(world)
    with pytest.raises(InvalidInput, match="one letter"):
        world.reviews.mask(MO, id, "e")
