"""The judged memory holds together: an import takes every entry, every query has its answer, nothing is too easy."""

from collections import Counter

import pytest

from bench.memory_quality.judged import FOLDER, NOTHING, JudgedMemory, imports, judged_memory
from bench.retrieval.sets import is_locked
from commonplace.memory import entry_files, search, validation

AT_LEAST = {
    "paraphrase": 30,
    "error": 30,
    "term": 20,
    "question": 30,
    "filtered": 20,
    "startup": 10,
    "context": 15,
    "misspelling": 15,
}


@pytest.fixture(scope="module")
def judged() -> JudgedMemory:
    return judged_memory()


def test_an_import_takes_every_entry_and_none_is_there_twice() -> None:
    taken = list(imports())
    assert [item.ref for item in taken if item.ref is None] == []
    assert [ref for ref, count in Counter(item.ref for item in taken).items() if count > 1] == []
    assert [text for text, count in Counter(item.entry.content for item in taken).items() if count > 1] == []


def test_each_file_is_one_that_kb_bulk_import_reads() -> None:
    for file in (FOLDER / "entries").glob("*.yaml"):
        checked = validation.imports(entry_files.read(file.read_text(encoding="utf-8")))
        assert not [item for item in checked if isinstance(item, validation.Refused)], file.name


def test_every_parent_is_a_summary_of_the_same_story(judged: JudgedMemory) -> None:
    by_id = {entry.id: entry for entry in judged.entries.values()}
    for name, entry in judged.entries.items():
        if entry.parent_id is not None:
            parent = by_id[entry.parent_id]
            assert (parent.entry_type, parent.source_story) == ("summary", entry.source_story), name


def test_every_kind_has_enough_queries_and_some_ask_for_what_nobody_wrote(judged: JudgedMemory) -> None:
    counted = Counter(query.kind for query in judged.queries)
    assert counted.keys() == AT_LEAST.keys()
    assert {kind: counted[kind] for kind, least in AT_LEAST.items() if counted[kind] < least} == {}
    assert len(judged.unanswerable) >= 8
    kinds = Counter(query.kind for query in judged_memory(final=True).unanswerable if query.kind != NOTHING)
    assert kinds == {"off topic": 10, "near topic": 10, "nonsense": 8, "foreign": 6, "unknown people": 6}
    assert [query.id for query in judged.unanswerable if query.kind != NOTHING and is_locked(query.id)] == []


def test_no_query_is_there_twice(judged: JudgedMemory) -> None:
    every = [*judged.queries, *judged.unanswerable]
    assert len({query.id for query in every}) == len(every)
    assert len({(query.asked.query.casefold(), str(query.asked)) for query in every}) == len(every)


def test_every_query_has_an_entry_that_helps_and_only_entries_that_exist(judged: JudgedMemory) -> None:
    for query in judged.queries:
        assert judged.useful(query.id), query
        assert judged.grades[query.id].keys() <= judged.entries.keys(), query
        assert set(judged.grades[query.id].values()) <= {1, 2, 3}, query
    assert [query.id for query in judged.unanswerable if judged.grades.get(query.id)] == []


def test_what_is_judged_passes_the_conditions_of_its_query(judged: JudgedMemory) -> None:
    hidden = [
        (query.id, name)
        for query in judged.queries
        for name in judged.grades[query.id]
        if not search.found(query.asked, judged.entries[name])
    ]
    assert hidden == []
