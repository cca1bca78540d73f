"""Our judged set holds together: every id exists, every category has its queries, every paraphrase is one."""

from collections import Counter

import pytest

from bench.retrieval.judged import JudgedSet, Topic, read_qrels, read_topics
from bench.retrieval.sets import FOLDER, documents, sample_set
from commonplace.search.filters import Filters
from commonplace.search.model import Record
from commonplace.search.text import name_key, query_terms
from tests.unit.bench.stems import stems

AT_LEAST = {"name": 40, "paraphrase": 60, "question": 35, "misspelling": 30, "filter": 30}


@pytest.fixture(scope="module")
def judged() -> JudgedSet:
    return sample_set()


@pytest.fixture(scope="module")
def topics() -> list[Topic]:
    return list(read_topics(FOLDER / "topics.tsv"))


@pytest.fixture(scope="module")
def records(judged: JudgedSet) -> dict[str, Record]:
    return {record.id: record for record in judged.records}


def test_the_sample_publishes_what_was_judged() -> None:
    assert len(documents()) == 54


def test_every_category_has_enough_queries(topics: list[Topic]) -> None:
    counted = Counter(topic.category for topic in topics)
    assert counted.keys() == AT_LEAST.keys()
    assert {name: counted[name] for name, least in AT_LEAST.items() if counted[name] < least} == {}


def test_no_query_is_there_twice(topics: list[Topic]) -> None:
    assert [topic for topic, count in Counter(topic.id for topic in topics).items() if count > 1] == []
    asked = Counter((topic.text.casefold(), topic.filters) for topic in topics if topic.category != "name")
    assert [query for query, count in asked.items() if count > 1] == []


def test_every_query_has_an_answer_in_full(judged: JudgedSet, topics: list[Topic]) -> None:
    assert [topic.id for topic in topics if 3 not in judged.grades.get(topic.id, {}).values()] == []
    assert len(judged.topics) == len(topics)


def test_every_judgement_is_of_a_query_and_a_document_that_exist(judged: JudgedSet, records: dict[str, Record]) -> None:
    assert judged.grades.keys() == {topic.id for topic in judged.topics}
    assert {document for found in judged.grades.values() for document in found} - records.keys() == set()


def test_grades_are_from_zero_to_three_and_none_is_given_twice() -> None:
    lines = (FOLDER / "qrels.txt").read_text(encoding="utf-8").splitlines()
    assert {grade for found in read_qrels(lines).values() for grade in found.values()} == {0, 1, 2, 3}
    judgements = Counter(tuple(line.split()[::2]) for line in lines)
    assert [pair for pair, count in judgements.items() if count > 1] == []


def test_a_name_is_a_title_or_an_alias_of_what_it_asks_for(judged: JudgedSet, records: dict[str, Record]) -> None:
    for topic in _of(judged, "name"):
        named = {document for document in _wanted(judged, topic) if name_key(topic.text) in _names(records[document])}
        assert named, f"{topic.text} names nothing"


def test_a_paraphrase_shares_no_word_with_the_labels_of_what_it_asks_for(
    judged: JudgedSet, records: dict[str, Record]
) -> None:
    shared = {
        (topic.text, document): words
        for topic in _of(judged, "paraphrase")
        for document in _wanted(judged, topic)
        if (words := stems(" ".join(query_terms(topic.text))) & stems(_labels(records[document])))
    }
    assert shared == {}


def test_a_misspelling_has_a_word_that_no_document_has(judged: JudgedSet, records: dict[str, Record]) -> None:
    known = frozenset[str]().union(*(stems(f"{_labels(record)} {record.body}") for record in records.values()))
    understood = [t.text for t in _of(judged, "misspelling") if stems(" ".join(query_terms(t.text))) <= known]
    assert understood == []


def test_what_answers_a_filtered_query_passes_its_filters(judged: JudgedSet, records: dict[str, Record]) -> None:
    filtered = _of(judged, "filter")
    assert all(topic.filters != Filters() for topic in filtered)
    for topic in filtered:
        for document, grade in judged.grades[topic.id].items():
            assert not grade or _passes(records[document], topic.filters), (topic.text, document)


def test_only_filtered_queries_have_filters(judged: JudgedSet) -> None:
    assert {topic.category for topic in judged.topics if topic.filters != Filters()} == {"filter"}


def _of(judged: JudgedSet, category: str) -> list[Topic]:
    return [topic for topic in judged.topics if topic.category == category]


def _wanted(judged: JudgedSet, topic: Topic) -> list[str]:
    return [document for document, grade in judged.grades[topic.id].items() if grade == 3]


def _names(record: Record) -> set[str]:
    return {name_key(name) for name in (record.title, *record.aliases)}


def _labels(record: Record) -> str:
    return " ".join((record.title, record.description or "", *record.aliases))


def _passes(record: Record, filters: Filters) -> bool:
    date = record.date or ""
    return (
        (not filters.content_types or record.content_type in filters.content_types)
        and filters.group in (None, record.group)
        and filters.release in (None, record.release)
        and filters.status in (None, record.status)
        and set(filters.tags_all) <= set(record.tags)
        and (not filters.tags_any or bool(set(filters.tags_any) & set(record.tags)))
        and (not filters.path_prefix or record.path.startswith(filters.path_prefix + "/"))
        and (not filters.date_from or date >= filters.date_from)
        and (not filters.date_to or (bool(date) and date[: len(filters.date_to)] <= filters.date_to))
    )
