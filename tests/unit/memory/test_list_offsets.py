"""Offsets of a list: what they read, and what they show after a write."""

from collections.abc import Iterator
from typing import Any

import pytest

from commonplace.kernel.audit import AuditRecord
from commonplace.memory.facets import Key
from commonplace.memory.lookup import FEW, Reading
from commonplace.memory.model import Entry, EntryId, Listing, content_hash
from tests.fakes.memory_stores import MemoryCaches, MemoryCounts, MemoryEntries, MemoryUsage

AUDIT = AuditRecord(event="memory.test", outcome="ok", at=1_800_000_000, organisation="acme", subject="s")
SIZE, PAGE = 600, 50


class CountedKeys(MemoryEntries):
    """Counts the keys that are read."""

    read = 0

    def keys(self, *given: Any, **options: Any) -> Iterator[Key]:
        for key in super().keys(*given, **options):
            self.read += 1
            yield key


def entry(number: int) -> Entry:
    at = f"2026-01-01T00:{number // 60:02d}:{number % 60:02d}.000000Z"
    return Entry(
        organisation="acme",
        id=EntryId(f"{number:08x}-0000-4000-8000-000000000000"),
        content=f"Lesson {number}.",
        content_hash=content_hash(f"Lesson {number}."),
        entry_type="fact",
        roles=("dev",),
        tags=("a", "b"),
        confidence=number % 7 / 7,
        created_at=at,
        updated_at=at,
    )


def reading(store: MemoryEntries) -> Reading:
    return Reading(store, MemoryCounts(), MemoryCaches(), MemoryUsage(store))


@pytest.fixture
def store() -> CountedKeys:
    store = CountedKeys()
    store.add("acme", [entry(number) for number in range(SIZE)], AUDIT)
    return store


@pytest.mark.parametrize(
    "asked",
    [{}, {"order": "asc"}, {"order_by": "confidence"}, {"order_by": "updated_at"}, {"tags": ("a", "b")}],
    ids=str,
)
def test_pages_by_offset_read_each_key_about_once(store: CountedKeys, asked: dict[str, Any]) -> None:
    whole = reading(store).list("acme", Listing(**asked, limit=SIZE))
    here, store.read, shown = reading(store), 0, list[Entry]()
    for offset in range(0, SIZE, PAGE):
        answer = here.list("acme", Listing(**asked, limit=PAGE, offset=offset))
        shown += answer.entries
        assert answer.more == (offset + PAGE < SIZE)
    assert shown == [*whole.entries]
    assert (answer.total, answer.whole) == (SIZE, True)
    # Where no count is kept of the filters, each page counts the first keys.
    counted = SIZE // PAGE * (FEW + 1) if "tags" in asked else 0
    assert store.read < 2 * SIZE + counted


def test_an_offset_before_a_deep_one_goes_on_from_a_position_on_the_way(store: CountedKeys) -> None:
    here = reading(store)
    here.list("acme", Listing(limit=PAGE, offset=SIZE - PAGE))
    store.read = 0
    answer = here.list("acme", Listing(limit=PAGE, offset=SIZE // 2 + 7))
    assert answer.entries == reading(store).list("acme", Listing(limit=PAGE, offset=SIZE // 2 + 7)).entries
    assert store.read < SIZE


def test_an_offset_counts_entries_anew_after_a_write(store: CountedKeys) -> None:
    here, asked = reading(store), Listing(limit=PAGE, offset=PAGE)
    before = here.list("acme", asked)
    store.add("acme", [entry(SIZE)], AUDIT)
    after = here.list("acme", asked)
    assert after.entries[1:] == before.entries[:-1]
    assert store.delete("acme", entry(SIZE).id, AUDIT)
    assert here.list("acme", asked).entries == before.entries
