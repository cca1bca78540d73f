"""The made-up corpus of chunks: as many as asked for, the same every time, words and vectors about the same subject."""

from itertools import islice

import pytest

from bench.speed.opensearch import CHUNKS_EACH, DIMENSION, MadeUp, MadeUpModel
from commonplace.search.model import IndexedRecord


def _cosine(one: IndexedRecord, other: IndexedRecord) -> float:
    return sum(float(a) * float(b) for a, b in zip(one.vectors[0], other.vectors[0], strict=True))


def test_as_many_chunks_come_as_are_asked_for_each_with_its_vector() -> None:
    documents = list(MadeUp().documents(50))
    assert [len(document.record.chunks) for document in documents] == [CHUNKS_EACH] * 10
    assert {len(vector) for document in documents for vector in document.vectors} == {DIMENSION}
    assert len({document.record.id for document in documents}) == 10


def test_two_corpora_say_the_same() -> None:
    one, other = ([document.record for document in MadeUp().documents(20)] for _ in range(2))
    assert one == other
    assert [query.text for query in MadeUp().queries(5)] == [query.text for query in MadeUp().queries(5)]


def test_a_corpus_that_grows_goes_on_counting() -> None:
    made_up = MadeUp()
    first, then = list(made_up.documents(10)), list(made_up.documents(10, start=2))
    assert [document.record.document_id for document in (*first, *then)] == [f"made-up-{n}" for n in range(4)]


def test_documents_of_one_subject_are_nearer_than_others() -> None:
    documents = list(islice(MadeUp().documents(61 * CHUNKS_EACH), 61))
    assert _cosine(documents[0], documents[60]) > 0.4 > abs(_cosine(documents[0], documents[1]))


def test_a_query_finds_its_words_in_the_corpus() -> None:
    made_up = MadeUp()
    text = " ".join(chunk.text for document in made_up.documents(300) for chunk in document.record.chunks)
    assert all(any(word in text for word in query.text.split()) for query in made_up.queries(20))


def test_the_model_knows_its_queries_only_and_counts_what_it_is_asked() -> None:
    model, (query,) = MadeUpModel(), MadeUp().queries(1)
    model.queries[query.text] = query.vector
    assert model.embed([query.text]) == [query.vector]
    assert model.asked == 1
    with pytest.raises(KeyError):
        model.embed(["another one"])
