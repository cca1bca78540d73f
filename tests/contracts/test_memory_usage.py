"""What every store of recurrences, searches by story and votes does: DynamoDB and the fake that stands for it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.memory.model import MAX_SEEN_IN, EntryId, Recurrence, StoryUse, Vote
from commonplace.memory.ports import EntryStore, UsageStore
from commonplace.memory.store import DynamoEntries
from commonplace.memory.usage_store import KEPT_SECONDS, DynamoUsage
from tests.aws_fixture import TABLE
from tests.contracts.test_memory_stores import OTHER, START, an_entry, told
from tests.dynamodb_fixture import new_table
from tests.fakes.failing import Failing, refusal
from tests.fakes.identity_stores import Clock
from tests.fakes.memory_stores import MemoryEntries, MemoryUsage

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

AT = "2026-11-24T08:00:00.000000Z"


@dataclass
class World:
    clock: Clock
    entries: EntryStore
    usage: UsageStore

    def add(self, name: str = "one", story: str | None = "APP-1") -> EntryId:
        entry = an_entry(name, source_story=story)
        self.entries.add("acme", [entry], told())
        return entry.id

    def recur(self, id: EntryId, story: str, organisation: str = "acme") -> Recurrence | None:
        return self.usage.recur(organisation, id, story, AT, told())


@pytest.fixture(params=["DynamoDB", "fake", pytest.param("DynamoDB Local", marks=pytest.mark.real)])
def world(request: pytest.FixtureRequest) -> World:
    clock = Clock(START)
    if request.param == "fake":
        entries = MemoryEntries(clock)
        return World(clock, entries, MemoryUsage(entries))
    local = request.param == "DynamoDB Local"
    client = request.getfixturevalue("dynamodb_local" if local else "dynamodb")
    records, activity = new_table(client, "records"), new_table(client, "activity") if local else TABLE
    return World(
        clock,
        DynamoEntries(client, records, activity, clock=clock, sleep=lambda _: None),
        DynamoUsage(client, records, activity, clock=clock, sleep=lambda _: None),
    )


def test_a_further_story_is_noted_once_and_the_entry_tells_it(world: World) -> None:
    id = world.add()
    second = Recurrence(id, "APP-1", "APP-2", AT, 1)
    assert world.recur(id, "APP-2") == second
    assert world.recur(id, "APP-1") is None
    assert world.recur(id, "APP-3") == Recurrence(id, "APP-1", "APP-3", AT, 2)
    assert world.recur(id, "APP-2") == second
    entry = world.entries.get("acme", id)
    assert entry is not None
    assert (entry.seen, entry.seen_in, entry.version, entry.revision) == (2, ("APP-2", "APP-3"), 1, 3)
    assert [card.revision for card in world.entries.cards("acme")] == [3]
    assert world.usage.recurred("acme") == 2
    assert {one.story for one in world.usage.recurrences("acme")} == {"APP-2", "APP-3"}


def test_an_entry_names_its_newest_stories_and_counts_all(world: World) -> None:
    id = world.add()
    stories = [f"APP-{number}" for number in range(2, 4 + MAX_SEEN_IN)]
    for story in stories:
        assert world.recur(id, story)
    again = [world.recur(id, story) for story in stories]
    assert [one.seen for one in again if one] == list(range(1, len(stories) + 1))
    entry = world.entries.get("acme", id)
    assert entry is not None
    assert (entry.seen, entry.seen_in) == (len(stories), tuple(stories[-MAX_SEEN_IN:]))


def test_nothing_is_noted_of_an_entry_that_is_not_there_or_is_anothers(world: World) -> None:
    id = world.add()
    assert world.recur(EntryId("nothing"), "APP-2") is None
    assert world.recur(id, "APP-2", OTHER) is None
    assert (world.usage.recurred("acme"), world.usage.recurred(OTHER)) == (0, 0)


@pytest.mark.parametrize("world", ["fake", pytest.param("DynamoDB Local", marks=pytest.mark.real)], indirect=True)
def test_stories_that_learn_it_at_once_are_all_noted(world: World) -> None:
    id = world.add()
    stories = [f"APP-{number}" for number in range(2, 8)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda story: world.recur(id, story), stories * 2))
    assert sorted(one.story for one in found if one) == sorted(stories * 2)
    entry = world.entries.get("acme", id)
    assert entry is not None
    assert (entry.seen, sorted(entry.seen_in)) == (6, stories)
    assert world.usage.recurred("acme") == 6


def test_searches_and_tokens_are_counted_by_story(world: World) -> None:
    long = "ä" * 500
    for story, tokens in (("APP-1", 700), ("APP-1", 300), (long, 5)):
        world.usage.searched("acme", story, tokens)
    world.usage.recorded("acme", "APP-1", 48_000)
    world.usage.recorded("acme", "APP-2", None)
    assert sorted(world.usage.stories("acme"), key=lambda one: one.story) == [
        StoryUse("APP-1", 2, 1_000, 48_000, recorded=True),
        StoryUse("APP-2", recorded=True),
        StoryUse(long, 1, 5),
    ]
    assert list(world.usage.stories(OTHER)) == []


def test_a_voter_has_one_vote_on_an_entry_in_a_story(world: World) -> None:
    one, two = EntryId("one"), EntryId("one-more")
    votes = [Vote(one, "APP-1", "a", 5), Vote(one, "APP-2", "a", 4), Vote(one, "APP-1", "b", 0), Vote(two, "", "a", 3)]
    for vote in [Vote(one, "APP-1", "a", 1), *votes, *votes]:
        world.usage.vote("acme", vote)
    assert set(world.usage.votes("acme")) == set(votes)
    assert len(list(world.usage.votes("acme"))) == len(votes)
    assert set(world.usage.votes("acme", one)) == set(votes[:3])
    assert list(world.usage.votes(OTHER)) == []


def test_stories_and_votes_are_kept_for_a_year(dynamodb: "DynamoDBClient") -> None:
    clock = Clock(START)
    usage = DynamoUsage(dynamodb, new_table(dynamodb, "records"), TABLE, clock=clock)
    usage.searched("acme", "APP-1", 1)
    usage.vote("acme", Vote(EntryId("one"), "APP-1", "a", 4))
    clock.now += KEPT_SECONDS + 1
    assert (list(usage.stories("acme")), list(usage.votes("acme"))) == ([], [])


def test_a_store_that_does_not_answer_costs_counts_and_refuses_votes() -> None:
    failing: Any = Failing(None, refusal("InternalServerError"))
    usage = DynamoUsage(failing, "records", TABLE)
    usage.searched("acme", "APP-1", 1)
    usage.recorded("acme", "APP-1", None)
    refused: tuple[Callable[[], object], ...] = (
        lambda: usage.vote("acme", Vote(EntryId("one"), "", "a", 1)),
        lambda: usage.recur("acme", EntryId("one"), "APP-1", AT, told()),
    )
    for call in refused:
        with pytest.raises(Unavailable):
            call()
