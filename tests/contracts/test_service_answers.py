"""A question that is repeated is answered from memory, and never with what is no longer in the index."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from commonplace.search.model import Engine, Hit, RecordId, SearchRequest, SearchResults, Tombstone
from commonplace.search.service import Answers, SearchService
from tests.contracts.engines import Make
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import indexed, record

SECRET = "The tide takes the lighthouse."


class Watched:
    """An engine that counts how often it is searched."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.searched = 0

    def __getattr__(self, name: str) -> Any:
        self.searched += name in ("candidates", "page")
        return getattr(self._engine, name)


@pytest.fixture
def watched(engine: Engine, provider: FakeEmbeddings) -> Watched:
    engine.write(indexed(provider, record("note/tide", SECRET), record("note/wind", "The wind turns.")), ())
    return Watched(engine)


@pytest.fixture
def service(watched: Watched, provider: FakeEmbeddings) -> SearchService:
    return SearchService(watched, provider, answers=Answers())


def snippets(hits: Sequence[Hit]) -> str:
    return " ".join(hit.snippet for hit in hits)


def same(found: SearchResults, other: SearchResults) -> bool:
    return replace(found, took_ms=0) == replace(other, took_ms=0)


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_a_repeated_question_is_not_searched_again(service: SearchService, watched: Watched, mode: Any) -> None:
    first = service.search(SearchRequest("the tide", mode=mode))
    again = service.search(SearchRequest("  the   tide ", mode=mode))

    assert same(replace(again, query="the tide"), first)
    assert (again.query, watched.searched) == ("  the   tide ", 1)


def test_a_record_that_goes_is_in_no_answer_after_it(
    service: SearchService, make: Make, provider: FakeEmbeddings
) -> None:
    assert SECRET in snippets(service.search(SearchRequest("tide")).results)

    make(provider).write((), [Tombstone(RecordId("note/tide"), 2)])

    assert SECRET not in snippets(service.search(SearchRequest("tide")).results)


def test_an_edited_record_is_answered_as_it_is_now(
    service: SearchService, make: Make, provider: FakeEmbeddings
) -> None:
    service.search(SearchRequest("tide"))

    make(provider).write(indexed(provider, record("note/tide", "The tide leaves it.", generation=2)), ())

    told = snippets(service.search(SearchRequest("tide")).results)
    assert "The tide leaves it." in told
    assert SECRET not in told


def test_a_new_index_answers_for_itself(service: SearchService, engine: Engine, provider: FakeEmbeddings) -> None:
    service.search(SearchRequest("tide"))

    engine.replace(indexed(provider, record("note/calm", "No tide at all.")))

    assert [hit.id for hit in service.search(SearchRequest("tide")).results] == ["calm"]
