"""Our judged sets hold together: every id exists, every kind has its queries, and a third of them is locked away."""

from collections import Counter

import pytest

from bench.retrieval import __main__ as program
from bench.retrieval.sets import (
    HERE,
    LOCKED,
    JudgedSet,
    Topic,
    is_locked,
    misspelt,
    our_topics,
    read_topics,
    sample_sets,
)
from commonplace.search.filters import Filters
from commonplace.search.model import Record

QUESTIONS_AT_LEAST = {"frame": 20, "language": 16, "spelling": 12, "joined": 10, "inflection": 10, "typo": 12}
QUESTIONS_AT_LEAST |= {"author": 8, "type": 8, "tag": 4}


@pytest.fixture(scope="module")
def sets() -> dict[str, JudgedSet]:
    return {judged.name: judged for judged in sample_sets(final=True)}


@pytest.fixture(scope="module")
def judged(sets: dict[str, JudgedSet]) -> JudgedSet:
    return sets["sample"]


@pytest.fixture(scope="module")
def topics(judged: JudgedSet) -> list[Topic]:
    return list(judged.topics)


@pytest.fixture(scope="module")
def records(judged: JudgedSet) -> dict[str, Record]:
    return {record.id: record for record in judged.records}


def test_no_query_is_there_twice(topics: list[Topic]) -> None:
    assert [topic for topic, count in Counter(topic.id for topic in topics).items() if count > 1] == []
    asked = Counter((topic.text.casefold(), topic.filters) for topic in topics if topic.category != "name")
    assert [query for query, count in asked.items() if count > 1] == []


@pytest.mark.parametrize("name", ["sample", "asked", "titles of sample"])
def test_every_query_has_an_answer_in_full(sets: dict[str, JudgedSet], name: str) -> None:
    judged = sets[name]
    assert [topic.id for topic in judged.topics if 3 not in judged.grades.get(topic.id, {}).values()] == []


@pytest.mark.parametrize("name", ["sample", "asked", "titles of sample"])
def test_every_judgement_is_of_a_query_and_a_document_that_exist(
    sets: dict[str, JudgedSet], records: dict[str, Record], name: str
) -> None:
    judged = sets[name]
    assert judged.grades.keys() == {topic.id for topic in judged.topics}
    assert {document for found in judged.grades.values() for document in found} - records.keys() == set()


def test_a_typo_is_one_letter_and_the_same_every_time(records: dict[str, Record]) -> None:
    for record in records.values():
        made = misspelt(record.title)
        assert made == misspelt(record.title) != record.title
        assert abs(len(made) - len(record.title)) <= 1
        assert sum((Counter(made) - Counter(record.title)).values()) <= 1


def test_a_third_of_the_queries_is_locked_away_by_their_ids_alone() -> None:
    for name in ("sample", "asked", "lists", "handbook", "til", "unanswerable"):
        tuned, locked = read_topics(HERE / name / "topics.tsv"), read_topics(LOCKED / f"{name}-topics.tsv")
        assert [topic.id for topic in tuned if is_locked(topic.id)] == []
        assert [topic.id for topic in locked if not is_locked(topic.id)] == []


def test_only_a_final_run_reads_what_is_locked_away(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[Topic] = []

    def measure(_: object, sets: list[JudgedSet], __: object) -> list[object]:
        measured.extend(topic for judged in sets for topic in judged.topics)
        return []

    monkeypatch.setattr(program.Run, "measure", measure)
    assert program.main([]) == 1
    assert len(measured) > 300
    assert [topic.id for topic in measured if is_locked(topic.id)] == []
    program.main(["--final"])
    assert sum(is_locked(topic.id) for topic in measured) > 100


def test_what_answers_a_filtered_query_passes_its_filters(judged: JudgedSet, records: dict[str, Record]) -> None:
    filtered = _of(judged, "filter")
    assert all(topic.filters != Filters() for topic in filtered)
    for topic in filtered:
        for document, grade in judged.grades[topic.id].items():
            assert not grade or _passes(records[document], topic.filters), (topic.text, document)


def _of(judged: JudgedSet, category: str) -> list[Topic]:
    return [topic for topic in judged.topics if topic.category == category]


def _passes(record: Record, filters: Filters) -> bool:
    date = record.date or ""
    return (
        (not filters.content_types or record.content_type in filters.content_types)
        and (not filters.groups or record.group in filters.groups)
        and (not filters.releases or record.release in filters.releases)
        and (not filters.statuses or record.status in filters.statuses)
        and set(filters.tags_all) <= set(record.tags)
        and (not filters.tags_any or bool(set(filters.tags_any) & set(record.tags)))
        and (not filters.path_prefix or record.path.startswith(filters.path_prefix + "/"))
        and (not filters.date_from or date >= filters.date_from)
        and (not filters.date_to or (bool(date) and date[: len(filters.date_to)] <= filters.date_to))
    )


@pytest.mark.parametrize(("name", "count"), [("handbook", 123), ("til", 101)])
def test_questions_for_public_clones_have_judgements(name: str, count: int) -> None:
    topics, grades = our_topics(name, final=True)
    assert len(topics) == count
    assert grades.keys() == {topic.id for topic in topics}
    assert all(3 in found.values() for found in grades.values())
