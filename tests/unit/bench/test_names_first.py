"""What is asked for by name comes first, among entries like it."""

from bench.memory_quality.names import entries_of, missed, searching
from tests.fakes.embeddings import FakeEmbeddings


def test_every_name_is_first_among_600_entries_and_was_not_without_identifiers() -> None:
    entries, names = entries_of(600, 30)
    with searching(entries, FakeEmbeddings()) as search:
        assert missed(search, names) == []
    with searching(entries, FakeEmbeddings(), by_name=False) as search:
        assert len(missed(search, names)) > len(names) // 3
