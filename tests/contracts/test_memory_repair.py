"""Facets and counts that differ from the entries are found by the reconcile, and repaired, while others write."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from commonplace.memory import facets
from commonplace.memory.model import Card, Entry, EntryId
from commonplace.memory.records import SHARDS, count_key, facet_key
from commonplace.memory.store import DynamoEntries
from commonplace.memory.upkeep import repair
from tests.contracts.test_memory_stores import an_entry, told
from tests.dynamodb_fixture import new_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ORGANISATION = "acme"
ONE = an_entry("one", tags=("routing", "api"), source_story="S-1", source_file="a.md")
TWO = an_entry("two", tags=("routing",), parent_id=EntryId("one"), confidence=0.5)


class Damaged:
    """A store, and what can be broken in its table."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self._client = client
        self._table = new_table(client, "records")
        self.store = DynamoEntries(client, self._table, new_table(client, "activity"), sleep=lambda _: None)
        self.store.add(ORGANISATION, [ONE, TWO], told())

    def lose_key(self, place: facets.Place) -> None:
        item = facet_key(ORGANISATION, place)
        self._client.delete_item(TableName=self._table, Key={name: {"S": str(one)} for name, one in item.items()})

    def lose_counts(self, facet: str) -> None:
        for shard in range(SHARDS):
            item = count_key(ORGANISATION, facet, shard)
            self._client.delete_item(TableName=self._table, Key={name: {"S": str(one)} for name, one in item.items()})

    def misplace(self, place: facets.Place, like: facets.Place) -> None:
        """A key where none belongs."""
        item = facet_key(ORGANISATION, like)
        read = self._client.get_item(TableName=self._table, Key={name: {"S": str(one)} for name, one in item.items()})
        wrong = {name: {"S": str(one)} for name, one in facet_key(ORGANISATION, place).items()}
        self._client.put_item(TableName=self._table, Item={**read["Item"], **wrong, "position": {"S": place[1]}})

    def assert_true(self, *entries: Entry) -> None:
        assert repair(self.store, ORGANISATION) == 0
        wanted = facets.together(facets.change(None, entry) for entry in entries)
        for name in {place[0] for place in wanted.put}:
            keys = {key.position: key for key in self.store.keys(ORGANISATION, name)}
            assert keys == {at: key for (facet, at), key in wanted.put.items() if facet == name}
        for name, cells in wanted.counts.items():
            assert self.store.counts(ORGANISATION, name) == cells


@pytest.fixture
def damaged(dynamodb: "DynamoDBClient") -> Damaged:
    return Damaged(dynamodb)


def test_what_is_as_it_should_be_is_left_alone(damaged: Damaged) -> None:
    damaged.assert_true(ONE, TWO)


def test_a_lost_key_is_put_back(damaged: Damaged) -> None:
    for place in facets.keys(ONE):
        damaged.lose_key(place)
    assert repair(damaged.store, ORGANISATION) == 1
    damaged.assert_true(ONE, TWO)


def test_a_key_of_what_an_entry_is_not_any_more_is_removed(damaged: Damaged) -> None:
    at = facets.position(TWO)
    damaged.misplace(("role=pm", at), ("tag=routing", at))
    damaged.misplace((facets.ALL, "2020-01-01T00:00:00.000000Z#two"), ("tag=routing", at))
    assert repair(damaged.store, ORGANISATION) == 1
    assert not [key for key in damaged.store.keys(ORGANISATION, "role=pm") if key.id == "two" and "pm" not in TWO.roles]
    damaged.assert_true(ONE, TWO)


def test_a_key_of_an_entry_that_is_gone_is_removed(damaged: Damaged) -> None:
    at = facets.position(TWO)
    damaged.store.delete(ORGANISATION, EntryId("one"), told())
    damaged.misplace(("tag=routing", f"{ONE.created_at}#one"), ("tag=routing", at))
    repair(damaged.store, ORGANISATION)
    damaged.assert_true(TWO)


@pytest.mark.parametrize("name", [facets.ALL, "tag=routing", "story=S-1"])
def test_counts_are_what_entries_add_up_to(damaged: Damaged, name: str) -> None:
    damaged.lose_counts(name)
    assert repair(damaged.store, ORGANISATION) == 1
    damaged.assert_true(ONE, TWO)


def test_two_who_repair_at_once_add_once(damaged: Damaged) -> None:
    damaged.lose_counts("tag=routing")
    tally = damaged.store.tally(ORGANISATION)
    drift = {"tag=routing": facets.counts(ONE)["tag=routing"]}
    damaged.store.correct(ORGANISATION, drift, tally)
    damaged.store.correct(ORGANISATION, drift, tally)
    assert facets.number(damaged.store.counts(ORGANISATION, "tag=routing")) == 1


def test_two_who_repair_more_counts_than_one_transaction_takes_add_once(damaged: Damaged) -> None:
    tags = tuple(f"tag-{number}" for number in range(30))
    many = an_entry("many", "many", tags=tags, source_story="S-2", source_file="b.md")
    damaged.store.add(ORGANISATION, [many], told())
    counts = facets.counts(many)
    for name in counts.keys() - {facets.ALL}:
        damaged.lose_counts(name)
    tally = damaged.store.tally(ORGANISATION)
    drift = {name: cells for name, cells in counts.items() if name != facets.ALL}
    assert len(drift) > 30
    damaged.store.correct(ORGANISATION, drift, tally)
    damaged.store.correct(ORGANISATION, drift, tally)
    assert {name: damaged.store.counts(ORGANISATION, name) for name in drift} == drift


def test_what_is_written_while_cards_are_read_is_not_counted_twice(
    damaged: Damaged, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged.lose_counts("tag=routing")
    cards = damaged.store.cards
    late = [an_entry(name, name, tags=("routing",)) for name in ("three", "four")]

    def busy(organisation: str, *, after: str = "") -> Iterator[Card]:
        found = list(cards(organisation, after=after))
        if waiting:
            damaged.store.add(organisation, [waiting.pop()], told())
        yield from found

    waiting = list(late)
    monkeypatch.setattr(damaged.store, "cards", busy)
    repair(damaged.store, ORGANISATION)
    monkeypatch.undo()
    damaged.assert_true(ONE, TWO, *late)


def test_where_somebody_always_writes_counts_wait_for_the_next_time(
    damaged: Damaged, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged.lose_counts("tag=routing")
    cards, numbers = damaged.store.cards, iter(range(100))

    def busy(organisation: str, *, after: str = "") -> Iterator[Card]:
        name = f"late{next(numbers)}"
        damaged.store.add(organisation, [an_entry(name, name, tags=())], told())
        return cards(organisation, after=after)

    monkeypatch.setattr(damaged.store, "cards", busy)
    repair(damaged.store, ORGANISATION)
    assert facets.number(damaged.store.counts(ORGANISATION, "tag=routing")) == 0
    monkeypatch.undo()
    repair(damaged.store, ORGANISATION)
    assert facets.number(damaged.store.counts(ORGANISATION, "tag=routing")) == 2
