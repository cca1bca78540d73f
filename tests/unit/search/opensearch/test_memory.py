"""What is remembered of records goes with the version that a search has found."""

from commonplace.search.model import RecordId
from commonplace.search.opensearch.engine import RecordMemory

A, B, C = RecordId("note/a"), RecordId("note/b"), RecordId("note/c")


def test_what_was_read_is_known_in_its_index_until_a_search_finds_another_version() -> None:
    memory = RecordMemory[str](10)
    memory.remember("one", {A: (1, "rain"), B: (1, "wind")})

    memory.check("one", [(A, 1), (B, 2), (C, 1)])

    assert memory.known("one", [A, B, C]) == {A: "rain"}
    assert memory.known("two", [A, B, C]) == {}


def test_what_was_wanted_longest_ago_goes_first() -> None:
    memory = RecordMemory[str](2)
    memory.remember("one", {A: (1, "rain"), B: (1, "wind")})
    memory.known("one", [A])

    memory.remember("one", {C: (1, "snow")})

    assert memory.known("one", [A, B, C]) == {A: "rain", C: "snow"}
