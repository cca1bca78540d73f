"""Offsets of a list: what they read, and what they show after a write."""

from collections.abc import Iterator
from typing import Any

import pytest

from commonplace.kernel.audit import AuditRecord
from commonplace.memory.entries import FEW
from commonplace.memory.facets import Key
from commonplace.memory.model import Entry, EntryId, Listing, content_hash
from tests.fakes.memories import ACME, memory_over
from tests.fakes.memory_stores import MemoryEntries

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
    whole = memory_over(store).list(ACME, Listing(**asked, limit=SIZE))
    here, store.read, shown = memory_over(store), 0, list[Entry]()
    for offset in range(0, SIZE, PAGE):
        answer = here.list(ACME, Listing(**asked, limit=PAGE, offset=offset))
        shown += answer.entries
        assert answer.more == (offset + PAGE < SIZE)
    assert shown == [*whole.entries]
    assert (answer.total, answer.whole) == (SIZE, True)
    # Where no count is kept of the filters, each page counts the first keys.
    counted = SIZE // PAGE * (FEW + 1) if "tags" in asked else 0
    assert store.read < 2 * SIZE + counted


def test_an_offset_before_a_deep_one_goes_on_from_a_position_on_the_way(store: CountedKeys) -> None:
    here = memory_over(store)
    here.list(ACME, Listing(limit=PAGE, offset=SIZE - PAGE))
    store.read = 0
    answer = here.list(ACME, Listing(limit=PAGE, offset=SIZE // 2 + 7))
    assert answer.entries == memory_over(store).list(ACME, Listing(limit=PAGE, offset=SIZE // 2 + 7)).entries
    assert store.read < SIZE


def test_an_offset_counts_entries_anew_after_a_write(store: CountedKeys) -> None:
    here, asked = memory_over(store), Listing(limit=PAGE, offset=PAGE)
    before = here.list(ACME, asked)
    store.add("acme", [entry(SIZE)], AUDIT)
    after = here.list(ACME, asked)
    assert after.entries[1:] == before.entries[:-1]
    assert store.delete("acme", entry(SIZE).id, AUDIT)
    assert here.list(ACME, asked).entries == before.entries
