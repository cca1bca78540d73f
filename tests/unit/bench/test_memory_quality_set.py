"""The judged memory holds together: an import takes every entry, every query has its answer, nothing is too easy."""

from collections import Counter

import pytest

from bench.memory_quality.judged import FOLDER, NOTHING, JudgedMemory, Query, id_of, imports, judged_memory
from bench.retrieval.sets import is_locked
from commonplace.memory import entry_files, search, validation
from commonplace.memory.model import ENTRY_TYPES, ROLES
from commonplace.search.text import query_terms, words
from tests.unit.bench.stems import stems

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


def test_there_are_500_entries_or_more_and_120_queries_or_more(judged: JudgedMemory) -> None:
    assert len(judged.entries) >= 500
    assert len(judged.queries) >= 120


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


def test_there_are_60_stories_with_a_summary_each(judged: JudgedMemory) -> None:
    stories = {f"BARN-{number:03d}" for number in range(1, 61)}
    summaries = Counter(entry.source_story for entry in judged.entries.values() if entry.entry_type == "summary")
    assert summaries == dict.fromkeys(stories, 1)


def test_types_roles_and_doubts_are_all_among_the_entries(judged: JudgedMemory) -> None:
    entries = judged.entries.values()
    assert {entry.entry_type for entry in entries} == set(ENTRY_TYPES)
    assert {role for entry in entries for role in entry.roles} == set(ROLES)
    assert sum(entry.confidence < 0.5 for entry in entries) >= 10, "distractors that a search leaves out"
    assert sum(0.5 <= entry.confidence < 1 for entry in entries) >= 50


def test_some_entries_say_nearly_the_same(judged: JudgedMemory) -> None:
    told = Counter(" ".join(words(entry.content)) for entry in judged.entries.values())
    assert sum(count > 1 for count in told.values()) >= 4


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


def test_half_of_the_queries_have_several_entries_that_help(judged: JudgedMemory) -> None:
    several = sum(len(judged.useful(query.id)) > 1 for query in judged.queries)
    assert several >= len(judged.queries) // 2


def test_what_is_judged_passes_the_conditions_of_its_query(judged: JudgedMemory) -> None:
    hidden = [
        (query.id, name)
        for query in judged.queries
        for name in judged.grades[query.id]
        if not search.found(query.asked, judged.entries[name])
    ]
    assert hidden == []


def test_a_paraphrase_shares_no_word_with_what_it_asks_for(judged: JudgedMemory) -> None:
    shared = {
        (query.asked.query, name): common
        for query in _of(judged, "paraphrase")
        for name, grade in judged.grades[query.id].items()
        if grade == 3
        and (
            common := stems(_terms(query)) & stems(" ".join((judged.entries[name].content, *judged.entries[name].tags)))
        )
    }
    assert shared == {}


def test_a_term_stands_in_one_of_the_entries_that_it_asks_for(judged: JudgedMemory) -> None:
    for query in _of(judged, "term"):
        best = [judged.entries[name] for name, grade in judged.grades[query.id].items() if grade == 3]
        told = frozenset[str]().union(*(stems(f"{entry.content} {entry.source_story}") for entry in best))
        assert stems(_terms(query)) & told, query


def test_a_misspelling_has_a_word_that_no_entry_has(judged: JudgedMemory) -> None:
    known = frozenset[str]().union(*(stems(entry.content) for entry in judged.entries.values()))
    assert [query.asked.query for query in _of(judged, "misspelling") if stems(_terms(query)) <= known] == []


def test_names_of_entries_become_the_same_ids_every_time() -> None:
    assert id_of("route-order") == id_of("route-order") != id_of("fastify-route-order")


def test_no_entry_has_every_word_of_what_nothing_answers(judged: JudgedMemory) -> None:
    texts = [stems(entry.content) for entry in judged.entries.values()]
    for query in judged_memory(final=True).unanswerable:
        if query.kind != NOTHING:
            assert not any(stems(_terms(query)) <= text for text in texts), query.asked.query


def _of(judged: JudgedMemory, kind: str) -> list[Query]:
    return [query for query in judged.queries if query.kind == kind]


def _terms(query: Query) -> str:
    return " ".join(query_terms(query.asked.query))
