"""Many callers at the very same moment, each with a service of its own over the same tables, as functions are.

DynamoDB Local is atomic of itself; moto is not, so there the calls wait for each other and only whole ones interleave.
"""

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Barrier
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from commonplace.kernel.audit import AuditRecord, Author
from commonplace.kernel.audit_store import MEMORY, DynamoAudit
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound
from commonplace.memory import facets, validation
from commonplace.memory.entries import Memory
from commonplace.memory.job_store import DynamoJobs, DynamoQueryCounts
from commonplace.memory.jobs import LargeImports
from commonplace.memory.model import Added, Entry, EntryId, Job, Updated
from commonplace.memory.search import MemorySearch
from commonplace.memory.store import DynamoEntries
from commonplace.memory.usage import DynamoUsage
from tests.aws_fixture import TABLE
from tests.dynamodb_fixture import new_table
from tests.examples import examples
from tests.fakes.memory_stores import MemoryCaches
from tests.fakes.one_at_a_time import OneAtATime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CALLERS = examples(16, soak=32)
ACME = Author(organisation="acme", account="a" * 32)
NO_INDEX: Any = None
"""Nothing is searched here."""
START = datetime(2026, 11, 22, tzinfo=UTC)


@dataclass
class Team:
    """Tables, and services over them."""

    client: Any
    records: str
    activity: str

    def __post_init__(self) -> None:
        self._ticks = itertools.count()
        self.entries = DynamoEntries(self.client, self.records, self.activity, clock=START.timestamp)
        self.jobs = DynamoJobs(self.client, self.records, self.activity, clock=START.timestamp)
        self.counts = DynamoQueryCounts(self.client, self.records)
        self.audit = DynamoAudit(self.client, self.activity, MEMORY)

    def service(self) -> Memory:
        entries = DynamoEntries(self.client, self.records, self.activity, clock=START.timestamp)
        return Memory(
            store=entries,
            jobs=self.jobs,
            counts=self.counts,
            caches=MemoryCaches(),
            usage=DynamoUsage(self.client, self.records, self.activity, clock=START.timestamp),
            search_index=MemorySearch(NO_INDEX, [], entries),
            embedder=None,
            clock=lambda: START + timedelta(milliseconds=next(self._ticks)),
            new_id=lambda: str(uuid4()),
        )

    def add(self, content: str = "Cars are red.", key: str | None = None) -> Added:
        new = validation.new_entry(content=content, entry_type="fact", roles=["dev"])
        return self.service().add(ACME, new, idempotency_key=key)

    def events(self) -> list[str]:
        return sorted(record.event for record in self.audit.read("acme", limit=1_000))

    def check(self) -> list[Entry]:
        """All entries; fails unless each has its card, its hash, its keys and counts, and nothing else is there."""
        cards = list(self.entries.cards("acme"))
        entries = self.entries.get_many("acme", [card.id for card in cards])
        assert [entries[card.id].card for card in cards] == cards
        items = self.client.scan(TableName=self.records, ConsistentRead=True)["Items"]
        kept = [item for item in items if item["pk"]["S"] in ("acme#memory#entries", "acme#memory#hashes")]
        assert len(kept) == 2 * len(cards)
        assert self.entries.holders("acme", [card.content_hash for card in cards]) == {
            card.content_hash: card.id for card in cards
        }
        places = {place for card in cards for place in facets.keys(card)}
        prefix = "acme#memory#facet#"
        held = [(item["pk"]["S"], item["sk"]["S"]) for item in items if item["pk"]["S"].startswith(prefix)]
        assert sorted(held) == sorted((f"{prefix}{facet}", position) for facet, position in places)
        summed = facets.together(facets.change(None, card) for card in cards).counts
        for name in {facets.ALL, *summed, *(facet for facet, _ in places if facet.startswith(facets.COUNTED))}:
            assert self.entries.counts("acme", name) == summed.get(name, {}), name
        return list(entries.values())


@pytest.fixture(params=["moto", pytest.param("DynamoDB Local", marks=pytest.mark.real)])
def team(request: pytest.FixtureRequest) -> Team:
    if request.param == "moto":
        client: DynamoDBClient = request.getfixturevalue("dynamodb")
        return Team(OneAtATime(client), new_table(client, "records"), TABLE)
    client = request.getfixturevalue("dynamodb_local")
    return Team(client, new_table(client, "records"), new_table(client, "activity"))


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each came to: its answer, or the refusal."""
    barrier = Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except (Conflict, NotFound) as refusal:
            return refusal

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def told() -> AuditRecord:
    return AuditRecord(event="memory.delete", outcome="ok", at=START.timestamp(), organisation="acme")


def test_one_of_many_who_add_the_same_text_adds_it(team: Team) -> None:
    outcomes = at_once([team.add] * CALLERS)

    assert [outcome.duplicate for outcome in outcomes].count(False) == 1
    assert len({outcome.id for outcome in outcomes}) == 1
    assert [entry.id for entry in team.check()] == [outcomes[0].id]
    assert team.events() == ["memory.add"]


def test_many_who_add_other_texts_with_the_same_tags_all_do(team: Team) -> None:
    def add(number: int) -> Added:
        new = validation.new_entry(
            content=f"Car {number}.", entry_type="fact", roles=["dev"], tags=["car", "red"], source_story="S-1"
        )
        return team.service().add(ACME, new)

    outcomes = at_once([partial(add, number) for number in range(CALLERS)])

    assert all(isinstance(outcome, Added) and not outcome.duplicate for outcome in outcomes)
    assert len(team.check()) == CALLERS
    assert facets.number(team.entries.counts("acme", "tag=car")) == CALLERS


def test_many_who_send_one_request_again_and_again_do_it_once(team: Team) -> None:
    outcomes = at_once([lambda: team.add(key="one")] * CALLERS)

    assert len({outcome.id for outcome in outcomes}) == 1
    assert [outcome.duplicate or outcome.replayed for outcome in outcomes].count(False) == 1
    assert len(team.check()) == 1
    assert team.events() == ["memory.add"]


def test_one_key_for_many_requests_is_good_for_one(team: Team) -> None:
    outcomes = at_once([partial(team.add, f"Text {number}", "one") for number in range(CALLERS)])

    assert len([outcome for outcome in outcomes if isinstance(outcome, Added)]) == 1
    assert len([outcome for outcome in outcomes if isinstance(outcome, Conflict)]) == CALLERS - 1
    assert len(team.check()) == 1


def test_many_who_add_the_same_texts_in_bulk_add_each_once(team: Team) -> None:
    def bulk(first: int) -> Any:
        numbers = [(first + number) % 40 for number in range(40)]
        items = [{"content": f"Text {number}", "entry_type": "fact", "roles": ["dev"]} for number in numbers]
        return LargeImports(team.service()).start(ACME, validation.imports(items), True, lambda: False)

    outcomes = at_once([partial(bulk, first) for first in range(8)])

    assert sum(outcome.imported for outcome in outcomes) == 40
    assert sum(outcome.skipped for outcome in outcomes) == 7 * 40
    assert {entry.content for entry in team.check()} == {f"Text {number}" for number in range(40)}


def test_none_of_many_updates_is_lost(team: Team) -> None:
    id = team.add().id

    def update(number: int) -> Updated:
        return team.service().update(ACME, id, validation.changes(metadata={f"k{number}": number}))

    outcomes = at_once([partial(update, number) for number in range(CALLERS)])

    done = {number for number, outcome in enumerate(outcomes) if isinstance(outcome, Updated)}
    (entry,) = team.check()
    assert set(entry.metadata.values()) == done
    assert entry.version == 1 + len(done)
    assert len({outcome.entry.version for outcome in outcomes if isinstance(outcome, Updated)}) == len(done)
    assert len(done) + len([one for one in outcomes if isinstance(one, Conflict)]) == CALLERS
    assert team.events().count("memory.update") == len(done)


def test_one_of_many_who_expect_a_version_changes_it(team: Team) -> None:
    id = team.add().id

    def update(number: int) -> Updated:
        changes = validation.changes(content=f"Cars have {number} wheels.")
        return team.service().update(ACME, id, changes, expected_version=1)

    outcomes = at_once([partial(update, number) for number in range(CALLERS)])

    (winner,) = (outcome for outcome in outcomes if isinstance(outcome, Updated))
    assert len([outcome for outcome in outcomes if isinstance(outcome, Conflict)]) == CALLERS - 1
    assert team.check() == [winner.entry]


def test_two_entries_never_change_to_one_content(team: Team) -> None:
    ids = [team.add(f"Text {number}").id for number in range(8)]
    changes = validation.changes(content="The same.")
    outcomes = at_once([partial(team.service().update, ACME, id, changes) for id in ids])

    (winner,) = (outcome for outcome in outcomes if isinstance(outcome, Updated))
    refused = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
    assert {refusal.details["id"] for refusal in refused} == {winner.entry.id}
    assert len(refused) == len(ids) - 1
    assert len(team.check()) == len(ids)


def test_no_circle_comes_of_entries_that_get_their_parents_at_once(team: Team) -> None:
    ids = [team.add(f"Text {number}").id for number in range(4)]
    pairs = list(zip(ids, [*ids[1:], ids[0]], strict=True))

    def reparent(id: EntryId, parent: EntryId) -> Updated | None:
        try:
            return team.service().update(ACME, id, validation.changes(parent_id=parent))
        except InvalidInput:
            return None

    outcomes = at_once([partial(reparent, id, parent) for id, parent in pairs])

    parents = {entry.id: entry.parent_id for entry in team.check()}
    assert sum(isinstance(outcome, Updated) for outcome in outcomes) == sum(map(bool, parents.values())) < len(ids)
    for id in ids:
        above: EntryId | None = id
        for _ in ids:
            above = parents.get(above) if above else None
        assert above is None


def test_what_is_added_changed_and_deleted_at_once_stays_whole(team: Team) -> None:
    id = team.add().id
    changes = [validation.changes(content=f"Cars are {colour}.") for colour in ("blue", "green", "red", "black")]

    def delete() -> None:
        team.service().delete(ACME, id)

    updates: list[Callable[[], Any]] = [partial(team.service().update, ACME, id, one) for one in changes]
    for calls in (updates * 3, [delete, *updates, team.add, delete, *updates, team.add]):
        at_once(calls)
        team.check()


def test_an_update_outlives_the_index_that_is_made_anew_beside_it(team: Team) -> None:
    parent, child = team.add("A story").id, team.add("A fact").id
    entry = team.entries.get("acme", child)
    assert entry is not None
    team.entries.replace("acme", replace(entry, parent_id=parent, revision=2), entry, told())

    def update(number: int) -> Updated:
        return team.service().update(ACME, child, validation.changes(metadata={f"k{number}": number}))

    touches: list[Callable[[], Any]] = [lambda: team.entries.touch("acme", [parent, child])] * 4
    sweep = [lambda: team.entries.forget_parent("acme", [child], parent)] * 2
    outcomes = at_once([*touches, *sweep, *(partial(update, number) for number in range(6))])

    done = {outcome.entry.version for outcome in outcomes if isinstance(outcome, Updated)}
    found = {entry.id: entry for entry in team.check()}
    assert found[child].parent_id is None
    assert found[child].version == 1 + len(done)
    assert found[child].revision == 2 + 4 + 1 + len(done)
    assert found[parent].revision == 1 + 4


def test_one_of_many_goes_on_with_a_job(team: Team) -> None:
    job = Job(organisation="acme", id="j", kind="import", created_at="", updated_at="")
    team.jobs.create(job)
    steps = [replace(job, step=1, processed=number) for number in range(CALLERS)]
    outcomes = at_once([partial(team.jobs.advance, step, job) for step in steps])

    assert outcomes.count(True) == 1
    assert team.jobs.job("acme", "j") == steps[outcomes.index(True)]


def test_every_one_of_many_queries_is_counted(team: Team) -> None:
    at_once([lambda: team.counts.count("acme", "dev", "qa")] * CALLERS)
    assert dict(team.counts.counts("acme")) == {("dev", "qa"): CALLERS}


def test_an_entry_that_many_delete_is_gone_once(team: Team) -> None:
    id: EntryId = team.add().id
    outcomes = at_once([lambda: team.entries.delete("acme", id, told())] * CALLERS)
    assert outcomes.count(True) == 1
    assert team.check() == []
    assert team.events().count("memory.delete") == 1


def test_many_who_change_delete_and_bring_back_leave_it_whole(team: Team) -> None:
    id = team.add().id
    undo = partial(team.service().undelete, ACME, id)
    changes = [
        partial(team.service().update, ACME, id, validation.changes(metadata={f"k{number}": number}))
        for number in range(4)
    ]
    calls: list[Callable[[], Any]] = [partial(team.service().delete, ACME, id), undo] * 4
    for _ in range(3):
        at_once([*calls, *changes, team.add])
        entries = team.check()
        assert (id in {entry.id for entry in entries}) != (team.entries.deleted("acme", id) is not None)
        known = [*team.entries.versions("acme", id), team.entries.get("acme", id) or team.entries.deleted("acme", id)]
        assert [entry.version for entry in known if entry] == list(range(1, len(known) + 1))
        expected = facets.together(facets.change(None, entry) for entry in entries).counts.get(facets.ALL, {})
        assert team.entries.counts("acme", facets.ALL) == expected
        for entry in entries:
            team.entries.delete("acme", entry.id, told())
        undo()


def test_an_entry_that_many_bring_back_is_there_once(team: Team) -> None:
    id = team.add().id
    team.entries.delete("acme", id, told())
    outcomes = at_once([lambda: team.service().undelete(ACME, id)] * CALLERS)
    assert {outcome.id for outcome in outcomes} == {id}
    assert [entry.id for entry in team.check()] == [id]
    assert team.events().count("memory.undelete") == 1


def test_one_of_an_undo_and_of_others_with_its_content_succeeds(team: Team) -> None:
    id = team.add().id
    team.entries.delete("acme", id, told())
    undo, *added = at_once([lambda: team.service().undelete(ACME, id), *[team.add] * (CALLERS - 1)])
    [entry] = team.check()
    assert {one.id for one in added} == {entry.id}
    assert isinstance(undo, Conflict) == (entry.id != id)
