"""What a kept answer is an answer to."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.kernel.errors import Unavailable
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.filters import Filters
from commonplace.search.model import Candidates, RecordId, Reranked, SearchRequest, SearchResults, Tombstone
from commonplace.search.service import KEPT_SECONDS, Answers, SearchService
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import indexed, record

TIDE = SearchRequest("tide")
WORDS = ["tide", "wind", "sea", "harbour"]


class Counting(EmbeddedEngine):
    searched = 0

    def candidates(self, *asked: object) -> Candidates:
        self.searched += 1
        return super().candidates(*asked)  # type: ignore[arg-type]


class Publication:
    """A publication of which only the version counts; it may be away."""

    def __init__(self) -> None:
        self.told: str | None = "one"
        self.away = False

    def version(self) -> str | None:
        if self.away:
            raise Unavailable("The store does not answer.")
        return self.told

    def generation_of(self, _: RecordId) -> int | None:
        return None


class Order:
    name = "order"
    away = False

    def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
        if self.away:
            raise Unavailable("The model does not answer.")
        return [Reranked(name, 0.5) for name, _ in passages]


@pytest.fixture
def engine(tmp_path: Path, provider: FakeEmbeddings) -> Iterator[Counting]:
    engine = Counting(tmp_path / "index.sqlite", provider)
    engine.write(indexed(provider, record("note/tide", "the tide"), record("note/wind", "the wind")), ())
    yield engine
    engine.close()


@pytest.mark.parametrize(
    "other",
    [
        replace(TIDE, filters=Filters(organisation="harbour")),
        replace(TIDE, filters=Filters(organisation="lighthouse")),
        replace(TIDE, filters=Filters(content_types=("note",))),
        replace(TIDE, limit=6),
        replace(TIDE, rerank=False),
        replace(TIDE, collapse=False),
        replace(TIDE, query="tides"),
    ],
    ids=repr,
)
def test_another_request_is_another_question(engine: Counting, provider: FakeEmbeddings, other: SearchRequest) -> None:
    service = SearchService(engine, provider, answers=Answers())
    for request in (TIDE, other, TIDE, other):
        service.search(request)
    assert engine.searched == 2


def test_organisations_share_no_answer(engine: Counting, provider: FakeEmbeddings) -> None:
    own = replace(record("note/secret", "the tide of the harbour"), organisation="harbour")
    engine.write(indexed(provider, own), ())
    service = SearchService(engine, provider, answers=Answers())

    harbour = service.search(replace(TIDE, filters=Filters(organisation="harbour")))
    lighthouse = service.search(replace(TIDE, filters=Filters(organisation="lighthouse")))

    assert [hit.id for hit in harbour.results] == ["secret"]
    assert lighthouse.results == ()


def test_an_explanation_is_made_each_time(engine: Counting, provider: FakeEmbeddings) -> None:
    service = SearchService(engine, provider, answers=Answers())
    for _ in range(2):
        service.search(replace(TIDE, explain=True))
    assert engine.searched == 2


def test_whole_documents_are_read_each_time_for_a_ranking_that_is_cached(
    engine: Counting, provider: FakeEmbeddings
) -> None:
    texts = iter(("before", "after"))
    documents: Any = SimpleNamespace(read=lambda ids: [next(texts) for _ in ids])
    service = SearchService(engine, provider, answers=Answers(), documents=documents)

    found = [service.search(replace(TIDE, limit=1, documents=True)) for _ in range(2)]

    assert [str(hit.document) for each in found for hit in each.results] == ["before", "after"]
    assert service.search(replace(TIDE, limit=1)).results[0].document is None
    assert engine.searched == 1


def test_only_what_is_shown_gets_a_snippet_and_a_document(engine: Counting, provider: FakeEmbeddings) -> None:
    engine.write(indexed(provider, record("note/tides", "tides and the tide")), ())
    documents: Any = SimpleNamespace(read=lambda ids: [f"text of {record}" for record in ids])
    service = SearchService(engine, provider, documents=documents)

    first, second = service.search(replace(TIDE, limit=2, shown=1, documents=True)).results

    assert first.snippet
    assert str(first.document) == f"text of note/{first.id}"
    assert (second.snippet, second.document) == ("", None)


def test_an_answer_is_kept_for_an_hour(engine: Counting, provider: FakeEmbeddings) -> None:
    now = [0.0]
    service = SearchService(engine, provider, answers=Answers(lambda: now[0]))
    service.search(TIDE)
    now[0] = KEPT_SECONDS - 1
    service.search(TIDE)
    assert engine.searched == 1
    now[0] = KEPT_SECONDS
    service.search(TIDE)
    assert engine.searched == 2


def test_a_publication_ends_what_was_kept_before_it(engine: Counting, provider: FakeEmbeddings) -> None:
    publication = Publication()
    service = SearchService(engine, provider, answers=Answers(), publication=publication)
    service.search(TIDE)
    publication.told = "two"
    service.search(TIDE)
    assert engine.searched == 2


def test_nothing_is_kept_where_the_state_is_unknown(engine: Counting, provider: FakeEmbeddings) -> None:
    publication = Publication()
    publication.away = True
    service = SearchService(engine, provider, answers=Answers(), publication=publication)
    for _ in range(2):
        service.search(TIDE)
    assert engine.searched == 2


def test_an_answer_without_the_model_is_not_kept(engine: Counting, provider: FakeEmbeddings) -> None:
    service = SearchService(engine, provider, answers=Answers())
    provider.failing = True
    assert service.search(TIDE).fallback
    provider.failing = False
    assert not service.search(TIDE).fallback


def test_an_answer_without_the_reranker_is_not_kept(engine: Counting, provider: FakeEmbeddings) -> None:
    order = Order()
    service = SearchService(engine, provider, order, answers=Answers())
    order.away = True
    assert not service.search(TIDE).reranked
    order.away = False
    assert service.search(TIDE).reranked


def test_what_is_written_while_somebody_searches_is_not_missed(tmp_path: Path, provider: FakeEmbeddings) -> None:
    class Overtaken(Counting):
        """Another process writes as soon as the candidates are known."""

        def candidates(self, *asked: object) -> Candidates:
            found = super().candidates(*asked)
            if self.searched == 1:
                other = EmbeddedEngine(self.path, provider)
                other.write((), [Tombstone(RecordId("note/tide"), 2)])
                other.close()
            return found

    engine = Overtaken(tmp_path / "index.sqlite", provider)
    engine.write(indexed(provider, record("note/tide", "the tide")), ())
    service = SearchService(engine, provider, answers=Answers())
    for _ in range(2):
        service.search(TIDE)
    assert service.search(TIDE).results == ()
    assert engine.searched == 2
    engine.close()


def comparable(found: SearchResults) -> SearchResults:
    return replace(found, took_ms=0)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.sampled_from(WORDS), st.integers(1, 3)),
        st.tuples(st.just("write"), st.sampled_from(WORDS), st.integers(0, 2)),
        st.tuples(st.just("remove"), st.sampled_from(WORDS), st.just(0)),
    ),
    max_size=25,
)


@settings(max_examples=30, deadline=None)
@given(STEPS)
def test_kept_and_fresh_answers_are_equal(steps: list[tuple[str, str, int]]) -> None:
    provider = FakeEmbeddings()
    with TemporaryDirectory() as name:
        path = Path(name) / "index.sqlite"
        writer, reader = EmbeddedEngine(path, provider), EmbeddedEngine(path, provider)
        kept = SearchService(reader, provider, answers=Answers())
        for version, (step, word, number) in enumerate(steps, 1):
            if step == "ask":
                request = SearchRequest(word, limit=number)
                fresh = SearchService(writer, provider)
                assert comparable(kept.search(request)) == comparable(fresh.search(request))
            elif step == "write":
                body = " ".join([word, *WORDS[: number + 1]])
                writer.write(indexed(provider, record(f"note/{word}", body, generation=version)), ())
            else:
                writer.write((), [Tombstone(RecordId(f"note/{word}"), version)])
        writer.close()
        reader.close()
