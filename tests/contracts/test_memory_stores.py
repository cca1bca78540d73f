"""What every store of the memory does: DynamoDB and the fakes that stand for it."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import EndpointConnectionError

from commonplace.kernel.audit import AuditLog, AuditRecord
from commonplace.kernel.audit_store import MEMORY, DynamoAudit
from commonplace.kernel.errors import Unavailable
from commonplace.memory import facets, store
from commonplace.memory.job_store import DynamoJobs, DynamoQueryCounts
from commonplace.memory.model import Entry, EntryId, Job, content_hash
from commonplace.memory.records import Once
from commonplace.memory.store import DynamoEntries, Replayed, Stale, Taken
from tests.aws_fixture import TABLE
from tests.dynamodb_fixture import new_table
from tests.fakes.failing import CANCELED, Failing, refusal
from tests.fakes.identity_stores import Clock, MemoryAudit
from tests.fakes.memory_stores import MemoryCounts, MemoryEntries, MemoryJobs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

START = 1_800_000_000
OTHER = "globex"
ODD_IDS = ["", "#", "a#b", "ä", "\n", "\udcff", "x" * 101, "x" * 3_000]


@dataclass
class Stores:
    clock: Clock
    entries: DynamoEntries
    jobs: DynamoJobs
    counts: DynamoQueryCounts
    audit: AuditLog


def over(client: Any, records: str, activity: str, clock: Clock) -> Stores:
    return Stores(
        clock,
        DynamoEntries(client, records, activity, clock=clock, sleep=lambda _: None),
        DynamoJobs(client, records, activity, clock=clock, sleep=lambda _: None),
        DynamoQueryCounts(client, records, clock=clock),
        DynamoAudit(client, activity, MEMORY),
    )


@pytest.fixture
def records(dynamodb: "DynamoDBClient") -> str:
    return new_table(dynamodb, "records")


@pytest.fixture(params=["DynamoDB", "fake", pytest.param("DynamoDB Local", marks=pytest.mark.real)])
def stores(request: pytest.FixtureRequest) -> Stores:
    clock = Clock(START)
    if request.param == "fake":
        audit = MemoryAudit()
        return Stores(clock, MemoryEntries(clock, audit), MemoryJobs(clock, audit), MemoryCounts(), audit)
    if request.param == "DynamoDB":
        client = request.getfixturevalue("dynamodb")
        return over(client, request.getfixturevalue("records"), TABLE, clock)
    client = request.getfixturevalue("dynamodb_local")
    return over(client, new_table(client, "records"), new_table(client, "activity"), clock)


def an_entry(name: str = "one", content: str | None = None, **changes: Any) -> Entry:
    text = f"what {name} says" if content is None else content
    values: dict[str, Any] = {
        "organisation": "acme",
        "id": EntryId(name),
        "content": text,
        "content_hash": content_hash(text),
        "entry_type": "fact",
        "roles": ("dev", "qa"),
        "tags": ("routing", "vercel"),
        "confidence": 0.75,
        "created_at": "2026-11-22T10:00:00.000000Z",
        "updated_at": "2026-11-22T10:00:00.000000Z",
    }
    return Entry(**values | changes)


def told(event: str = "memory.add", **details: str) -> AuditRecord:
    return AuditRecord(event=event, outcome="ok", at=START, organisation="acme", subject="s", details=details)


def once(key: str = "k", request: str = "r", expires_at: int = START + 100) -> Once:
    return Once(content_hash(key), content_hash(request), expires_at)


def ids(*names: str) -> list[EntryId]:
    return [EntryId(name) for name in names]


def events(stores: Stores) -> list[tuple[str, str]]:
    """What was recorded: event, and the number of entries where that is told."""
    found = list(stores.audit.read("acme", limit=1_000))
    assert len({record.id for record in found}) == len(found)
    return sorted((record.event, record.details.get("entries", "")) for record in found)


def put(stores: Stores, *entries: Entry) -> None:
    stores.entries.add("acme", entries, told())


def test_an_entry_is_read_as_it_was_added(stores: Stores) -> None:
    whole = an_entry(
        source_file="docs/a.md",
        source_story="STORY-1",
        parent_id=EntryId("parent"),
        confidence=1.0,
        metadata={"gate": None, "n": 1, "f": 1.0, "tiny": 1e-300, "": [True, {"deep": "ü\u2028"}], "big": 10**40},
    )
    bare = an_entry("two", "")
    assert stores.entries.add("acme", [whole, bare], told()) == {
        whole.content_hash: whole.id,
        bare.content_hash: bare.id,
    }

    read = stores.entries.get("acme", whole.id)
    assert read == whole
    assert read is not None
    assert type(read.metadata["f"]) is float
    assert type(read.confidence) is float
    assert stores.entries.get("acme", bare.id) == bare
    assert events(stores) == [("memory.add", "2")]


def test_an_entry_of_the_largest_size_is_kept_with_as_many_others_as_there_may_be(stores: Stores) -> None:
    large = [
        an_entry(
            f"e{number}",
            f"{number:04}" + "ü" * 16_382,
            tags=tuple(f"{tag:02}" + "ü" * 62 for tag in range(30)),
            source_file="x" * 500,
            metadata={"text": "y" * 8_000},
        )
        for number in range(32)
    ]
    put(stores, *large)

    assert stores.entries.get_many("acme", [entry.id for entry in large]) == {entry.id: entry for entry in large}
    assert sum(int(number) for _, number in events(stores)) == 32


def test_what_is_not_there_is_not_found(stores: Stores) -> None:
    assert stores.entries.get("acme", EntryId("one")) is None
    assert stores.entries.get_many("acme", ids("one", "two")) == {}
    assert stores.entries.get_many("acme", []) == {}
    assert stores.entries.holders("acme", [content_hash("x")]) == {}
    assert list(stores.entries.cards("acme")) == []
    assert list(stores.entries.organisations()) == []


@pytest.mark.parametrize("odd", ODD_IDS)
def test_what_cannot_be_an_id_is_not_there(stores: Stores, odd: str) -> None:
    put(stores, an_entry())
    assert stores.entries.get("acme", EntryId(odd)) is None
    assert stores.entries.get_many("acme", ids(odd, "one")).keys() == {"one"}
    assert stores.entries.delete("acme", EntryId(odd), told()) is False
    stores.entries.touch("acme", ids(odd))
    stores.entries.forget_parent("acme", ids(odd), EntryId("p"))
    assert stores.jobs.job("acme", odd) is None
    assert stores.jobs.piece("acme", odd, 0) is None


def test_many_are_read_at_once_and_each_once(stores: Stores) -> None:
    entries = [an_entry(f"e{number:03}") for number in range(230)]
    put(stores, *entries)

    asked = [entry.id for entry in entries]
    assert stores.entries.get_many("acme", [*asked, *asked]) == {entry.id: entry for entry in entries}
    hashes = [entry.content_hash for entry in entries]
    assert stores.entries.holders("acme", [*hashes, *hashes]) == dict(zip(hashes, asked, strict=True))


def test_a_content_is_there_once(stores: Stores) -> None:
    first, again, other = an_entry(), an_entry("two", "what one says"), an_entry("three")
    put(stores, first)
    assert stores.entries.add("acme", [again, other], told()) == {
        first.content_hash: first.id,
        other.content_hash: other.id,
    }
    assert stores.entries.add("acme", [again], told()) == {first.content_hash: first.id}

    assert stores.entries.get("acme", again.id) is None
    assert [card.id for card in stores.entries.cards("acme")] == ids("one", "three")
    assert events(stores) == [("memory.add", "1"), ("memory.add", "1")]


def test_of_two_with_one_content_the_first_is_added(stores: Stores) -> None:
    first, again = an_entry(), an_entry("two", "what one says")
    assert stores.entries.add("acme", [first, again], told()) == {first.content_hash: first.id}
    assert stores.entries.get("acme", again.id) is None


def test_nothing_added_is_nothing_recorded(stores: Stores) -> None:
    assert stores.entries.add("acme", [], told()) == {}
    assert events(stores) == []


def test_many_are_added_in_as_few_transactions_as_there_can_be(stores: Stores) -> None:
    put(stores, an_entry("e050"))
    put(stores, *(an_entry(f"e{number:03}") for number in range(100)))

    assert [card.id for card in stores.entries.cards("acme")] == [f"e{number:03}" for number in range(100)]
    counted = [int(number) for _, number in events(stores)]
    assert sum(counted) == 100
    assert len(counted) == 14


def test_each_transaction_tells_who_and_what(stores: Stores) -> None:
    stores.entries.add("acme", [an_entry()], told(entry="one", type="fact"))
    (record,) = stores.audit.read("acme")
    assert (record.event, record.subject, dict(record.details)) == (
        "memory.add",
        "s",
        {"entry": "one", "type": "fact", "entries": "1"},
    )


def test_cards_tell_of_entries_without_their_text_in_order_of_ids(stores: Stores) -> None:
    entries = [an_entry(name, parent_id=EntryId("p"), source_story="S-1") for name in ("b", "c", "a")]
    put(stores, *entries)
    assert list(stores.entries.cards("acme")) == [entry.card for entry in sorted(entries, key=lambda one: one.id)]


def test_cards_go_on_behind_an_id_whether_it_is_there_or_not(stores: Stores) -> None:
    put(stores, *(an_entry(name) for name in ("a", "c", "e")))
    found = {after: [card.id for card in stores.entries.cards("acme", after=after)] for after in ("", "a", "b", "e")}
    assert found == {"": ["a", "c", "e"], "a": ["c", "e"], "b": ["c", "e"], "e": []}


def test_more_cards_than_one_page_holds_are_all_told(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "CARDS_PER_PAGE", 2)
    put(stores, *(an_entry(f"e{number}") for number in range(5)))
    assert [card.id for card in stores.entries.cards("acme")] == [f"e{number}" for number in range(5)]


@pytest.mark.soak
def test_more_cards_than_an_answer_of_the_table_holds_are_all_told(stores: Stores) -> None:
    tags = tuple(f"{number:02}" + "ü" * 62 for number in range(30))
    put(stores, *(an_entry(f"e{number:04}", tags=tags) for number in range(300)))
    assert [card.id for card in stores.entries.cards("acme")] == [f"e{number:04}" for number in range(300)]


def test_a_request_with_a_key_is_done_once(stores: Stores) -> None:
    entry = an_entry()
    assert stores.entries.add_once("acme", entry, told(), once()) == entry.id
    assert stores.entries.get("acme", entry.id) == entry

    again = stores.entries.add_once("acme", an_entry("two"), told(), once(request="another"))
    assert again == Replayed(entry.id, content_hash("r"))
    assert stores.entries.get("acme", EntryId("two")) is None
    assert events(stores) == [("memory.add", "1")]


def test_a_key_is_remembered_also_for_a_content_that_was_there(stores: Stores) -> None:
    put(stores, an_entry())
    assert stores.entries.add_once("acme", an_entry("two", "what one says"), told(), once()) == "one"
    assert stores.entries.delete("acme", EntryId("one"), told("memory.delete"))

    again = stores.entries.add_once("acme", an_entry("two", "what one says"), told(), once())
    assert again == Replayed(EntryId("one"), content_hash("r"))
    assert events(stores) == [("memory.add", "1"), ("memory.delete", "")]


def test_a_key_is_forgotten_when_its_time_is_over(stores: Stores) -> None:
    stores.entries.add_once("acme", an_entry(), told(), once())
    stores.clock.forward(100)
    assert stores.entries.add_once("acme", an_entry("two"), told(), once(expires_at=START + 300)) == "two"


def test_an_entry_is_replaced_whole(stores: Stores) -> None:
    was = an_entry(parent_id=EntryId("p"), metadata={"a": 1})
    put(stores, was)
    changed = replace(was, content="new", content_hash=content_hash("new"), tags=(), version=2, revision=2)
    stores.entries.replace("acme", changed, was, told("memory.update"))

    assert stores.entries.get("acme", was.id) == changed
    assert list(stores.entries.cards("acme")) == [changed.card]
    assert stores.entries.holders("acme", [was.content_hash, changed.content_hash]) == {changed.content_hash: was.id}
    assert events(stores) == [("memory.add", "1"), ("memory.update", "")]


def test_an_entry_is_replaced_with_the_content_it_had(stores: Stores) -> None:
    was = an_entry()
    put(stores, was)
    changed = replace(was, confidence=1.0, version=2, revision=2)
    stores.entries.replace("acme", changed, was, told("memory.update"))
    assert stores.entries.get("acme", was.id) == changed
    assert stores.entries.holders("acme", [was.content_hash]) == {was.content_hash: was.id}


def test_an_entry_is_replaced_only_as_it_was_read(stores: Stores) -> None:
    was = an_entry()
    put(stores, was)
    changed = replace(was, confidence=1.0, version=2, revision=2)
    stores.entries.replace("acme", changed, was, told("memory.update"))
    with pytest.raises(Stale):
        stores.entries.replace("acme", replace(was, confidence=0.1, version=2, revision=2), was, told("memory.update"))
    stores.entries.delete("acme", was.id, told("memory.delete"))
    with pytest.raises(Stale):
        stores.entries.replace("acme", replace(changed, version=3, revision=3), changed, told("memory.update"))

    assert stores.entries.get("acme", was.id) is None
    assert events(stores) == [("memory.add", "1"), ("memory.delete", ""), ("memory.update", "")]


def test_a_content_that_another_has_is_not_taken(stores: Stores) -> None:
    was, other = an_entry(), an_entry("two")
    put(stores, was, other)
    wanted = replace(was, content=other.content, content_hash=other.content_hash, version=2, revision=2)
    with pytest.raises(Taken) as taken:
        stores.entries.replace("acme", wanted, was, told("memory.update"))

    assert taken.value.id == other.id
    assert stores.entries.get("acme", was.id) == was
    assert events(stores) == [("memory.add", "2")]


def test_a_replacement_that_would_not_be_seen_is_a_mistake(stores: Stores) -> None:
    was = an_entry()
    put(stores, was)
    with pytest.raises(ValueError, match="revision"):
        stores.entries.replace("acme", replace(was, version=2), was, told())


def test_a_deleted_entry_leaves_nothing_and_its_content_may_come_again(stores: Stores) -> None:
    put(stores, an_entry())
    assert stores.entries.delete("acme", EntryId("one"), told("memory.delete")) is True
    assert stores.entries.delete("acme", EntryId("one"), told("memory.delete")) is False
    assert stores.entries.get("acme", EntryId("one")) is None
    assert list(stores.entries.cards("acme")) == []

    again = an_entry("two", "what one says")
    assert stores.entries.add("acme", [again], told()) == {again.content_hash: again.id}
    assert events(stores) == [("memory.add", "1"), ("memory.add", "1"), ("memory.delete", "")]


def test_a_parent_that_is_gone_is_taken_out_of_its_children_alone(stores: Stores) -> None:
    children = [an_entry(f"c{number:03}", parent_id=EntryId("p")) for number in range(60)]
    other = an_entry("other", parent_id=EntryId("q"))
    put(stores, *children, other)
    asked = [child.id for child in children]
    stores.entries.forget_parent("acme", [*asked, other.id, EntryId("none")], EntryId("p"))

    orphans = [replace(child, parent_id=None, revision=2) for child in children]
    assert stores.entries.get_many("acme", asked) == {orphan.id: orphan for orphan in orphans}
    assert stores.entries.get("acme", other.id) == other
    assert list(stores.entries.cards("acme")) == [*(orphan.card for orphan in orphans), other.card]


def listed_by(stores: Stores, *entries: Entry) -> None:
    """Every facet, and every count, is that of these entries and of no other."""
    everything = [an_entry("x", source_file="f", source_story="S", parent_id=EntryId("p"), entry_type="summary")]
    asked = {name for entry in (*entries, *everything) for name, _ in facets.keys(entry)}
    for name in sorted(asked):
        expected = [key for entry in entries for (one, _), key in facets.keys(entry).items() if one == name]
        expected.sort(key=lambda key: key.position)
        assert list(stores.entries.keys("acme", name, newest_first=False)) == expected, name
        assert list(stores.entries.keys("acme", name)) == expected[::-1], name
    summed = facets.together(facets.change(None, entry) for entry in entries).counts
    for name in asked:
        assert stores.entries.counts("acme", name) == summed.get(name, {}), name


def changed(stores: Stores, was: Entry, **changes: Any) -> Entry:
    entry = replace(was, version=was.version + 1, revision=was.revision + 1, **changes)
    stores.entries.replace("acme", entry, was, told("memory.update"))
    return entry


def test_former_versions_are_kept_the_last_twenty(stores: Stores) -> None:
    entry = first = an_entry()
    put(stores, entry)
    stores.entries.touch("acme", [entry.id])
    entry = replace(entry, revision=2)
    for number in range(20):
        entry = changed(stores, entry, confidence=number / 20)
    assert stores.entries.versions("acme", entry.id)[0] == replace(first, revision=2)
    last = changed(stores, entry, content="new", content_hash=content_hash("new"))
    kept = stores.entries.versions("acme", entry.id)
    assert [one.version for one in kept] == list(range(2, 22))
    assert kept[-1] == entry
    assert stores.entries.get("acme", entry.id) == last
    assert stores.entries.versions(OTHER, entry.id) == ()


def test_a_deletion_is_undone_with_versions_facets_and_counts_and_for_thirty_days(stores: Stores) -> None:
    tags = tuple(f"tag {number}" for number in range(30))
    roles, source = ("pm", "dev", "qa"), {"source_file": "a.md", "source_story": "STORY-1"}
    entry = an_entry(tags=tags, roles=roles, parent_id=EntryId("p"), **source)
    put(stores, entry)
    for number in range(21):
        entry = changed(stores, entry, confidence=number / 40)
    versions = stores.entries.versions("acme", entry.id)

    assert stores.entries.delete("acme", entry.id, told("memory.delete"))
    assert stores.entries.deleted("acme", entry.id) == entry
    assert stores.entries.deleted(OTHER, entry.id) is None
    listed_by(stores)
    back = replace(entry, revision=entry.revision + 5)
    stores.entries.restore("acme", back, entry, told("memory.undelete"))
    assert stores.entries.get("acme", entry.id) == back
    assert stores.entries.versions("acme", entry.id) == versions
    assert stores.entries.deleted("acme", entry.id) is None
    listed_by(stores, back)
    assert stores.entries.holders("acme", [entry.content_hash]) == {entry.content_hash: entry.id}
    with pytest.raises(Stale):
        stores.entries.restore("acme", back, entry, told())

    stores.entries.delete("acme", entry.id, told("memory.delete"))
    stores.clock.now += 30 * 86_400
    assert stores.entries.deleted("acme", entry.id) is None
    with pytest.raises(Stale):
        stores.entries.restore("acme", replace(back, revision=99), back, told())


def test_what_has_its_content_elsewhere_does_not_come_back(stores: Stores) -> None:
    entry = an_entry()
    put(stores, entry)
    stores.entries.delete("acme", entry.id, told())
    put(stores, replace(entry, id=EntryId("other")))
    with pytest.raises(Taken) as taken:
        stores.entries.restore("acme", replace(entry, revision=2), entry, told())
    assert taken.value.id == "other"


def test_versions_of_what_is_deleted_expire_with_it_and_stay_with_what_is_brought_back(
    dynamodb: "DynamoDBClient", records: str
) -> None:
    stores = over(dynamodb, records, TABLE, Clock(START))
    entry = an_entry()
    put(stores, entry)
    entry = changed(stores, changed(stores, entry, confidence=0.1), confidence=0.2)

    def expiring() -> list[str]:
        items = dynamodb.scan(TableName=records)["Items"]
        return sorted(item["pk"]["S"] for item in items if item.get("expiresAt") == {"N": str(START + 30 * 86_400)})

    stores.entries.delete("acme", entry.id, told())
    assert expiring() == ["acme#memory#deleted", *["acme#memory#versions#one"] * 2]
    stores.entries.restore("acme", replace(entry, revision=9), entry, told())
    assert expiring() == []


def test_facets_and_counts_follow_every_mutation(stores: Stores) -> None:
    parent = an_entry("p", entry_type="summary", roles=("all",), source_file="docs/ü #1.md" * 30, source_story="S")
    child = an_entry("c", parent_id=EntryId("p"), confidence=0.05, tags=("vercel", "x#y"))
    put(stores, parent, child)
    stores.entries.add_once("acme", an_entry("other"), told(), once())
    listed_by(stores, parent, child, an_entry("other"))

    changed = replace(
        parent, tags=("new",), roles=("pm",), confidence=0.5, updated_at="2026-11-23", version=2, revision=2
    )
    stores.entries.replace("acme", changed, parent, told())
    stores.entries.touch("acme", ids("p", "c"))
    listed_by(stores, changed, child, an_entry("other"))

    stores.entries.delete("acme", EntryId("p"), told())
    stores.entries.forget_parent("acme", ids("c"), EntryId("p"))
    stores.entries.delete("acme", EntryId("other"), told())
    listed_by(stores, replace(child, parent_id=None))


def test_all_of_very_many_tags_can_change_at_once(stores: Stores) -> None:
    was = an_entry(tags=tuple(f"a{number}" for number in range(30)), roles=("all",), source_file="a", source_story="A")
    put(stores, was)
    tags = tuple(f"b{number}" for number in range(30))
    now = replace(was, tags=tags, source_file="b", source_story="B", content_hash=content_hash("new"), content="new")
    now = replace(now, entry_type="summary", parent_id=EntryId("p"), confidence=1.0, updated_at="2026-12", revision=2)
    stores.entries.replace("acme", now, was, told())
    listed_by(stores, now)
    assert not list(stores.entries.keys("acme", "tag=a7"))


class Ending:
    """A client of DynamoDB that is cut off after so many transactions."""

    def __init__(self, client: Any, left: int) -> None:
        self._client, self._left = client, left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def transact_write_items(self, **request: Any) -> Any:
        if not self._left:
            raise EndpointConnectionError(endpoint_url="https://dynamodb")
        self._left -= 1
        return self._client.transact_write_items(**request)


@pytest.mark.parametrize(("transactions", "done"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_large_change_that_is_cut_off_is_done_whole_or_not_and_says_which(
    dynamodb: "DynamoDBClient", records: str, transactions: int, done: bool
) -> None:
    stores = over(dynamodb, records, TABLE, Clock())
    was = an_entry(tags=tuple(f"a{number}" for number in range(30)), roles=("all",), source_file="a", source_story="A")
    put(stores, was)
    now = replace(was, tags=tuple(f"b{number}" for number in range(30)), source_file="b", source_story="B")
    now = replace(now, content="new", content_hash=content_hash("new"), entry_type="summary", parent_id=EntryId("p"))
    now = replace(now, confidence=1.0, updated_at="2026-12", revision=2, version=2)
    cut_off = over(Ending(dynamodb, transactions), records, TABLE, Clock()).entries
    with nullcontext() if done else pytest.raises(Unavailable):
        cut_off.replace("acme", now, was, told("memory.update"))
    there = now if done else was
    assert stores.entries.get("acme", was.id) == there
    assert set(stores.entries.holders("acme", [was.content_hash, now.content_hash])) == {there.content_hash}
    assert [event for event, _ in events(stores)] == ["memory.add", *(["memory.update"] if done else [])]


def test_an_entry_with_the_most_tags_and_versions_is_deleted_and_restored_whole(stores: Stores) -> None:
    was = an_entry(
        tags=tuple(f"t{number}" for number in range(30)),
        roles=("pm", "dev", "qa"),
        source_file="a",
        source_story="A",
        parent_id=EntryId("p"),
    )
    put(stores, was)
    for number in range(2, 23):
        now = replace(was, content=f"{number}", content_hash=content_hash(f"{number}"), version=number, revision=number)
        stores.entries.replace("acme", now, was, told())
        was = now
    assert stores.entries.delete("acme", was.id, told())
    listed_by(stores)
    again = replace(was, revision=was.revision + 1)
    stores.entries.restore("acme", again, was, told())
    listed_by(stores, again)
    assert len(stores.entries.versions("acme", was.id)) == 20


def test_touched_entries_are_newer_and_the_same(stores: Stores) -> None:
    entries = [an_entry(f"e{number:03}") for number in range(60)]
    put(stores, *entries)
    asked = [entry.id for entry in entries]
    stores.entries.touch("acme", [*asked[:30], EntryId("none"), *asked[30:], asked[0]])

    touched = [replace(entry, revision=2) for entry in entries]
    assert stores.entries.get_many("acme", asked) == {entry.id: entry for entry in touched}
    assert list(stores.entries.cards("acme")) == [entry.card for entry in touched]
    assert stores.entries.get("acme", EntryId("none")) is None
    with pytest.raises(Stale):
        stores.entries.replace("acme", replace(entries[0], version=2, revision=2), entries[0], told())


def test_one_organisation_does_not_see_the_others(stores: Stores) -> None:
    mine, theirs = an_entry(), an_entry(content="what one says", organisation=OTHER, tags=("theirs",))
    put(stores, mine)
    assert stores.entries.add(OTHER, [theirs], told()) == {theirs.content_hash: theirs.id}

    assert stores.entries.get("acme", mine.id) == mine
    assert stores.entries.get(OTHER, mine.id) == theirs
    assert stores.entries.delete(OTHER, theirs.id, told())
    assert stores.entries.get("acme", mine.id) == mine
    assert stores.entries.holders(OTHER, [mine.content_hash]) == {}
    assert list(stores.entries.cards(OTHER)) == []
    assert list(stores.entries.organisations()) == ["acme", OTHER]


def test_an_entry_belongs_to_whom_it_was_added_for(stores: Stores) -> None:
    stores.entries.add(OTHER, [an_entry()], told())
    found = stores.entries.get(OTHER, EntryId("one"))
    assert found is not None
    assert found.organisation == OTHER
    assert stores.entries.get("acme", EntryId("one")) is None


@pytest.mark.parametrize("odd", ["", "a#b", "Acme", "acme#memory", "../x"])
def test_what_names_no_organisation_has_no_memory(stores: Stores, odd: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: stores.entries.get(odd, EntryId("one")),
        lambda: stores.entries.get_many(odd, ids("one")),
        lambda: stores.entries.holders(odd, [content_hash("x")]),
        lambda: stores.entries.add(odd, [an_entry()], told()),
        lambda: stores.entries.add_once(odd, an_entry(), told(), once()),
        lambda: stores.entries.delete(odd, EntryId("one"), told()),
        lambda: list(stores.entries.cards(odd)),
        lambda: stores.jobs.job(odd, "j"),
        lambda: stores.jobs.create(a_job(organisation=odd)),
        lambda: list(stores.jobs.unfinished(odd)),
        lambda: stores.counts.counts(odd),
        lambda: stores.counts.count(odd, None, "all"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="no organisation"):
            call()
    assert list(stores.entries.organisations()) == []


def a_job(name: str = "j", **changes: Any) -> Job:
    values: dict[str, Any] = {
        "organisation": "acme",
        "id": name,
        "kind": "import",
        "created_at": "2026-11-22T10:00:00.000000Z",
        "updated_at": "2026-11-22T10:00:00.000000Z",
        "total": 3,
    }
    return Job(**values | changes)


def test_a_job_is_kept_with_its_pieces(stores: Stores) -> None:
    job = a_job(errors=("entries[0]: x",), position="1", account="a", client="c", grant="g", network="n")
    stores.jobs.create(job, ["first", "ü" * 150_000, ""], told("memory.import"))

    assert stores.jobs.job("acme", "j") == job
    assert [stores.jobs.piece("acme", "j", number) for number in range(4)] == ["first", "ü" * 150_000, "", None]
    assert list(stores.jobs.unfinished("acme")) == [job]
    assert events(stores) == [("memory.import", "")]


def test_a_piece_that_no_item_holds_is_a_mistake(stores: Stores) -> None:
    with pytest.raises(ValueError, match="too large"):
        stores.jobs.create(a_job(), ["fine", "ü" * 150_001])
    assert stores.jobs.job("acme", "j") is None


def test_a_job_goes_on_from_where_it_was_read(stores: Stores) -> None:
    first = a_job()
    stores.jobs.create(first)
    second = replace(first, step=1, processed=2)
    assert stores.jobs.advance(second, first) is True
    assert stores.jobs.advance(replace(first, step=1, processed=1), first) is False
    assert stores.jobs.job("acme", "j") == second

    assert stores.jobs.advance(replace(second, step=2, status="complete"), second) is True
    assert list(stores.jobs.unfinished("acme")) == []
    assert stores.jobs.advance(replace(a_job("none"), step=1), a_job("none")) is False
    with pytest.raises(ValueError, match="step"):
        stores.jobs.advance(second, second)


def test_a_job_is_forgotten_a_week_after_its_last_write(stores: Stores) -> None:
    first = a_job()
    stores.jobs.create(first, ["piece"])
    stores.clock.forward(6 * 86_400)
    stores.jobs.advance(replace(first, step=1), first)
    stores.clock.forward(86_400)
    assert stores.jobs.piece("acme", "j", 0) == "piece"
    stores.clock.forward(5 * 86_400)
    assert stores.jobs.job("acme", "j") == replace(first, step=1)
    assert stores.jobs.piece("acme", "j", 0) is None

    stores.clock.forward(86_400)
    assert stores.jobs.job("acme", "j") is None
    assert list(stores.jobs.unfinished("acme")) == []


def test_jobs_of_others_are_not_there(stores: Stores) -> None:
    stores.jobs.create(a_job(), ["piece"])
    assert stores.jobs.job(OTHER, "j") is None
    assert stores.jobs.piece(OTHER, "j", 0) is None
    assert list(stores.jobs.unfinished(OTHER)) == []
    assert stores.jobs.advance(a_job(organisation=OTHER, step=1), a_job(organisation=OTHER)) is False


def test_queries_are_counted_by_phase_and_role(stores: Stores) -> None:
    assert dict(stores.counts.counts("acme")) == {}
    for _ in range(3):
        stores.counts.count("acme", "dev", "qa")
    stores.counts.count("acme", None, "all")
    stores.counts.count(OTHER, "dev", "qa")
    assert dict(stores.counts.counts("acme")) == {("dev", "qa"): 3, ("none", "all"): 1}


@pytest.mark.parametrize(
    "error",
    [
        refusal("ThrottlingException"),
        refusal(CANCELED, "None", "ThrottlingError"),
        refusal(CANCELED, "TransactionConflict"),
        EndpointConnectionError(endpoint_url="https://dynamodb.example"),
    ],
    ids=lambda error: f"{error!r:.60}",
)
def test_a_store_that_does_not_answer_says_so(dynamodb: "DynamoDBClient", records: str, error: Exception) -> None:
    stores = over(Failing(dynamodb, error), records, TABLE, Clock(START))
    entries, jobs, one = stores.entries, stores.jobs, an_entry()
    calls: list[Callable[[], object]] = [
        lambda: entries.get("acme", one.id),
        lambda: entries.get_many("acme", [one.id]),
        lambda: entries.holders("acme", [one.content_hash]),
        lambda: entries.add("acme", [one], told()),
        lambda: entries.add_once("acme", one, told(), once()),
        lambda: entries.replace("acme", replace(one, revision=2), one, told()),
        lambda: entries.delete("acme", one.id, told()),
        lambda: entries.forget_parent("acme", [one.id], EntryId("p")),
        lambda: entries.touch("acme", [one.id]),
        lambda: list(entries.cards("acme")),
        lambda: list(entries.organisations()),
        lambda: jobs.create(a_job(), ["piece"]),
        lambda: jobs.job("acme", "j"),
        lambda: jobs.piece("acme", "j", 0),
        lambda: jobs.advance(a_job(step=1), a_job()),
        lambda: list(jobs.unfinished("acme")),
        lambda: stores.counts.counts("acme"),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            call()
    stores.counts.count("acme", "dev", "all")


def test_the_fakes_fail_when_they_are_told_to() -> None:
    entries, jobs, counts = MemoryEntries(), MemoryJobs(), MemoryCounts()
    for fake in (entries, jobs, counts):
        fake.down = True
    calls: list[Callable[[], object]] = [
        lambda: entries.get("acme", EntryId("one")),
        lambda: list(entries.cards("acme")),
        lambda: jobs.job("acme", "j"),
        lambda: counts.counts("acme"),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            call()
    counts.count("acme", "dev", "all")


def test_a_transaction_in_others_way_is_tried_again(dynamodb: "DynamoDBClient", records: str) -> None:
    stores = over(dynamodb, records, TABLE, Clock(START))
    put(stores, an_entry())
    failing = Failing(dynamodb, refusal(CANCELED, "TransactionConflict", "None"), times=3)
    busy = over(failing, records, TABLE, Clock(START)).entries
    busy.touch("acme", ids("one"))

    assert stores.entries.get("acme", EntryId("one")) == an_entry(revision=2)


@pytest.mark.parametrize("harm", ["REMOVE #tags", "SET #roles = :x", "SET #organisation = :x", "REMOVE #contentHash"])
def test_an_item_that_is_no_entry_counts_as_absent(dynamodb: "DynamoDBClient", records: str, harm: str) -> None:
    stores = over(dynamodb, records, TABLE, Clock(START))
    put(stores, an_entry(), an_entry("two"))
    name = harm.split()[1]
    more: Any = {"ExpressionAttributeValues": {":x": {"S": "nonsense"}}} if ":x" in harm else {}
    dynamodb.update_item(
        TableName=records,
        Key={"pk": {"S": "acme#memory#entries"}, "sk": {"S": "one"}},
        UpdateExpression=harm,
        ExpressionAttributeNames={name: name[1:]},
        **more,
    )

    assert stores.entries.get("acme", EntryId("one")) is None
    assert stores.entries.get_many("acme", ids("one", "two")).keys() == {"two"}
