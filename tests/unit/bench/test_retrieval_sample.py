"""Our judged sets hold together: every id exists, every kind has its queries, and a third of them is locked away."""

from collections import Counter

import pytest

from bench.retrieval import __main__ as program
from bench.retrieval.sets import (
    EXACT,
    HERE,
    LOCKED,
    TYPO,
    JudgedSet,
    Topic,
    documents,
    is_locked,
    misspelt,
    our_topics,
    read_qrels,
    read_topics,
    sample_sets,
)
from commonplace.documents.content.document import DocumentRef
from commonplace.search.filters import Filters
from commonplace.search.model import Record
from commonplace.search.text import name_key, query_terms
from tests.unit.bench.stems import stems

AT_LEAST = {"name": 40, "paraphrase": 60, "question": 35, "misspelling": 30, "filter": 30}


QUESTIONS_AT_LEAST = {"frame": 20, "language": 16, "spelling": 12, "joined": 10, "inflection": 10, "typo": 12}
QUESTIONS_AT_LEAST |= {"author": 8, "type": 8, "tag": 4}
LISTS = {"type": 11, "newest": 9, "author": 6, "date": 5, "tag": 3, "way in": 6}
NOTHING_AT_LEAST = {"off-topic": 10, "near-topic": 8, "nonsense": 8, "foreign": 6, "unknown name": 6}


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


def test_people_ask_a_hundred_questions_and_forty_that_nothing_answers(sets: dict[str, JudgedSet]) -> None:
    asked, unanswerable = sets["asked"].topics, sets["unanswerable on sample"].topics
    assert (len(asked), len(unanswerable)) == (100, 40)
    assert Counter(topic.category for topic in asked) == QUESTIONS_AT_LEAST
    assert Counter(topic.category for topic in unanswerable) >= Counter(NOTHING_AT_LEAST)
    texts = Counter(topic.text.casefold() for judged in sets.values() for topic in judged.topics if not topic.filters)
    assert [text for text, count in texts.items() if count > 1 and text in {topic.text for topic in asked}] == []


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


def test_no_document_has_every_word_of_a_question_that_nothing_answers(
    sets: dict[str, JudgedSet], records: dict[str, Record]
) -> None:
    texts = [stems(f"{_labels(record)} {record.body}") for record in records.values()]
    for topic in sets["unanswerable on sample"].topics:
        assert not any(stems(" ".join(query_terms(topic.text))) <= text for text in texts), topic.text


def test_what_an_author_is_asked_for_was_written_by_that_author(sets: dict[str, JudgedSet]) -> None:
    written = {document.ref: " ".join(document.author or ()) for document in documents()}
    for topic in sets["asked"].topics:
        names = [
            name for name in ("Tobias Lund", "Amara Quill", "Ines Farrow", "Wendeline Marsh") if name in topic.text
        ]
        if topic.category == "author" and names:
            wanted = _wanted(sets["asked"], topic)
            assert [ref for ref in wanted if names[0] not in written[DocumentRef(ref)]] == [], topic.text


def test_a_typo_is_one_letter_and_the_same_every_time(records: dict[str, Record]) -> None:
    for record in records.values():
        made = misspelt(record.title)
        assert made == misspelt(record.title) != record.title
        assert abs(len(made) - len(record.title)) <= 1
        assert sum((Counter(made) - Counter(record.title)).values()) <= 1


def test_titles_are_asked_for_as_they_are_and_with_a_typo(sets: dict[str, JudgedSet]) -> None:
    assert Counter(topic.category for topic in sets["titles of sample"].topics) == {EXACT: 54, TYPO: 54}


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


def test_grades_are_from_zero_to_three_and_none_is_given_twice() -> None:
    for name in ("sample", "asked"):
        files = (HERE / name / "qrels.txt", LOCKED / f"{name}-qrels.txt")
        lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        assert {grade for found in read_qrels(lines).values() for grade in found.values()} >= {1, 2, 3}
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
        and (not filters.groups or record.group in filters.groups)
        and (not filters.releases or record.release in filters.releases)
        and (not filters.statuses or record.status in filters.statuses)
        and set(filters.tags_all) <= set(record.tags)
        and (not filters.tags_any or bool(set(filters.tags_any) & set(record.tags)))
        and (not filters.path_prefix or record.path.startswith(filters.path_prefix + "/"))
        and (not filters.date_from or date >= filters.date_from)
        and (not filters.date_to or (bool(date) and date[: len(filters.date_to)] <= filters.date_to))
    )


def test_forty_lists_are_asked_for_and_their_order_is_graded(sets: dict[str, JudgedSet]) -> None:
    lists = sets["lists"]
    assert Counter(topic.category for topic in lists.topics) == LISTS
    assert {document for found in lists.grades.values() for document in found} <= {one.id for one in lists.records}
    dated = {document.ref: document.date or "" for document in documents()}
    for topic in lists.topics:
        if topic.category != "way in" and "oldest" not in topic.text:
            found = lists.grades[topic.id]
            ordered = [dated[DocumentRef(ref)] for ref in sorted(found, key=lambda ref: -found[ref])]
            assert ordered == sorted(ordered, reverse=True), topic.text


@pytest.mark.parametrize(("name", "count"), [("handbook", 123), ("til", 101)])
def test_questions_for_public_clones_have_judgements(name: str, count: int) -> None:
    topics, grades = our_topics(name, final=True)
    assert len(topics) == count
    assert grades.keys() == {topic.id for topic in topics}
    assert all(3 in found.values() for found in grades.values())
