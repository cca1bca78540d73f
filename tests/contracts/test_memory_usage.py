"""What every store of recurrences, searches by story and votes does: DynamoDB and the fake that stands for it."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.memory.model import MAX_SEEN_IN, EntryId, Rating, Recurrence, Vote
from commonplace.memory.store import DynamoEntries
from commonplace.memory.usage import KEPT_SECONDS, DynamoUsage
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
    entries: DynamoEntries
    usage: DynamoUsage

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
    assert world.usage.totals("acme") == {"recurrences": 2}


def test_what_recurs_most_often_comes_first_with_its_last_story(world: World) -> None:
    names = [world.add(name) for name in ("one", "two", "three")]
    for id, times in zip(names, (2, 11, 1), strict=True):
        for number in range(times):
            world.recur(id, f"APP-{number + 2}")
    told_of = [(one.id, one.story, one.seen) for one in world.usage.recurring("acme", 2)]
    assert told_of == [(names[1], "APP-12", 11), (names[0], "APP-3", 2)]
    assert len(world.usage.recurring("acme", 9)) == 3
    assert list(world.usage.recurring(OTHER, 9)) == []


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
    assert [Counter(world.usage.totals(name))["recurrences"] for name in ("acme", OTHER)] == [0, 0]


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
    assert world.usage.totals("acme") == {"recurrences": 6}


def test_searches_and_tokens_of_stories_are_totalled(world: World) -> None:
    long = "ä" * 500
    for story, tokens in (("APP-1", 700), ("APP-1", 300), (long, 5)):
        world.usage.searched("acme", story, tokens)
    world.usage.recorded("acme", "APP-1", 48_000)
    world.usage.recorded("acme", "APP-2", None)
    world.usage.recorded("acme", "APP-3", 60_000)
    searched = {"stories": 4, "searching": 2, "searches": 3, "answer_tokens": 1_005, "recurrences": 0}
    told_of = {"searching_told": 1, "searching_tokens": 48_000, "other_told": 1, "other_tokens": 60_000}
    assert Counter(world.usage.totals("acme")) == Counter(searched | told_of)
    assert Counter(world.usage.totals(OTHER)) == Counter()


def test_a_story_that_searches_later_is_counted_with_those_that_search(world: World) -> None:
    world.usage.recorded("acme", "APP-1", 48_000)
    world.usage.recorded("acme", "APP-1", 50_000)
    world.usage.recorded("acme", "APP-1", None)
    world.usage.searched("acme", "APP-1", 10)
    cells = {"stories": 1, "searching": 1, "searches": 1, "answer_tokens": 10}
    assert Counter(world.usage.totals("acme")) == Counter(cells | {"searching_told": 1, "searching_tokens": 50_000})


@pytest.mark.parametrize("world", ["fake", pytest.param("DynamoDB Local", marks=pytest.mark.real)], indirect=True)
def test_votes_at_once_are_all_counted(world: World) -> None:
    one = EntryId("one")
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: world.usage.vote("acme", Vote(one, "", str(number % 6), number % 3)), range(12)))
    rating = world.usage.rating("acme", one)
    assert rating == Rating(one, 6, 6)
    assert [*world.usage.lowest("acme", 5)] == [rating]
    assert Counter(world.usage.totals("acme")) == Counter(rated_0=2, rated_1=2, rated_2=2)


def test_a_voter_has_one_vote_on_an_entry_in_a_story(world: World) -> None:
    one, two = EntryId("one"), EntryId("one-more")
    votes = [Vote(one, "APP-1", "a", 5), Vote(one, "APP-2", "a", 4), Vote(one, "APP-1", "b", 0), Vote(two, "", "a", 3)]
    for vote in [Vote(one, "APP-1", "a", 1), *votes, *votes]:
        rating = world.usage.vote("acme", vote)
    assert rating == Rating(two, 1, 3)
    assert world.usage.rating("acme", one) == Rating(one, 3, 9)
    assert Counter(world.usage.totals("acme")) == Counter(rated_5=1, rated_4=1, rated_3=1, rated_0=1)
    assert world.usage.rating(OTHER, one) == Rating(one)


def test_the_entries_that_were_rated_lowest_come_first(world: World) -> None:
    given = {"good": (5, 5), "middling": (4, 2), "of-equals-with-more": (3, 3, 3), "bad": (5, 0, 0)}
    for name, votes in given.items():
        for number, vote in enumerate(votes):
            world.usage.vote("acme", Vote(EntryId(name), f"APP-{number}", "a", vote))
    assert [one.id for one in world.usage.lowest("acme", 3)] == ["bad", "of-equals-with-more", "middling"]
    assert [one.id for one in world.usage.lowest("acme", 9)][3:] == ["good"]
    assert list(world.usage.lowest(OTHER, 9)) == []


def test_stories_and_votes_are_kept_for_a_year_and_their_totals_stay(dynamodb: "DynamoDBClient") -> None:
    clock, records = Clock(START), new_table(dynamodb, "records")
    usage = DynamoUsage(dynamodb, records, TABLE, clock=clock)
    usage.searched("acme", "APP-1", 1)
    usage.vote("acme", Vote(EntryId("one"), "APP-1", "a", 4))
    items = dynamodb.scan(TableName=records)["Items"]
    ends = {item["pk"]["S"].rpartition("#")[2]: item.get("expiresAt", {}).get("N") for item in items}
    year = str(int(clock.now) + KEPT_SECONDS)
    assert ends == {"stories": year, "votes": year, "ratings": None, "rated": None, "usage": None}


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
