"""The stages of a search: whose vector is asked, where a ranking ends, what is collapsed, what is read whole."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from commonplace.documents.content.document import Document
from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.filters import Filters
from commonplace.search.model import (
    Candidates,
    Hit,
    QueryVector,
    RecordId,
    Reranked,
    SearchRequest,
    SearchResults,
    Tombstone,
)
from commonplace.search.query import Query
from commonplace.search.service import RERANK_DEPTH, SearchService
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import document, indexed, record

POEM = " ".join(f"line{number} of the sea and the tide" for number in range(30))


class Order:
    """A reranker that gives every passage the same score, and remembers what it was asked."""

    name = "order"

    def __init__(self) -> None:
        self.asked: list[list[RecordId]] = []

    def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
        self.asked.append([name for name, _ in passages])
        return [Reranked(name, 0.5) for name, _ in passages]


class Library:
    """Whole documents, of which some are gone."""

    def __init__(self, *documents: Document) -> None:
        self.documents = {item.ref: item for item in documents}
        self.asked: list[list[RecordId]] = []
        self.away = False

    def read(self, records: Sequence[RecordId]) -> list[Document | None]:
        self.asked.append(list(records))
        if self.away:
            raise Unavailable("The store does not answer.")
        return [self.documents.get(name) for name in records]  # type: ignore[call-overload]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(tmp_path / "index.sqlite", FakeEmbeddings())
    yield engine
    engine.close()


def fill(engine: EmbeddedEngine, provider: FakeEmbeddings, number: int) -> None:
    engine.write(indexed(provider, *(record(f"note/n{at:03}", "the tide") for at in range(number))), ())


def refs(found: SearchResults) -> list[str]:
    return [f"{hit.content_type}/{hit.id}" for hit in found.results]


@pytest.mark.parametrize(("limit", "ends"), [(1, 50), (50, 50), (51, 51), (100, 60)])
def test_a_fused_ranking_ends_at_its_candidates_and_its_total_says_how_many(
    engine: EmbeddedEngine, provider: FakeEmbeddings, limit: int, ends: int
) -> None:
    fill(engine, provider, 60)

    found = SearchService(engine, provider).search(SearchRequest("tide", limit=limit))

    assert (found.total, len(found.results)) == (ends, min(limit, ends))


def test_without_embedding_the_total_is_exact(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    fill(engine, provider, 60)

    found = SearchService(engine, None).search(SearchRequest("tide", limit=3))

    assert (found.total, found.fallback, len(found.results)) == (60, True, 3)


@pytest.mark.parametrize(("limit", "depth"), [(1, RERANK_DEPTH), (RERANK_DEPTH, RERANK_DEPTH), (50, 50)])
def test_one_call_reranks_as_many_as_the_ranking_has(
    engine: EmbeddedEngine, provider: FakeEmbeddings, limit: int, depth: int
) -> None:
    fill(engine, provider, 60)
    reranker = Order()

    found = SearchService(engine, provider, reranker).search(SearchRequest("tide", limit=limit))

    assert [len(asked) for asked in reranker.asked] == [depth]
    assert len(found.results) == limit


def test_reranking_can_be_declined(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    fill(engine, provider, 3)
    reranker = Order()

    found = SearchService(engine, provider, reranker).search(SearchRequest("tide", rerank=False))

    assert (found.reranked, reranker.asked, len(found.results)) == (False, [], 3)


def test_whole_documents_are_aligned_with_the_hits_whatever_is_missing(
    engine: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    fill(engine, provider, 4)
    library = Library(*(document(f"note/n{at:03}", "whole") for at in (0, 3)))
    service = SearchService(engine, provider, documents=library)

    found = service.search(SearchRequest("tide", limit=4, documents=True))

    assert library.asked == [["note/n000", "note/n001", "note/n002", "note/n003"]]
    assert [hit.document.id if hit.document else None for hit in found.results] == ["n000", None, None, "n003"]
    assert service.search(SearchRequest("tide", limit=4)).results[0].document is None
    assert len(library.asked) == 1


def test_whole_documents_come_in_the_reranked_order_and_only_for_what_is_shown(
    engine: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    class LastFirst(Order):
        def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
            return [Reranked(name, float(at)) for at, (name, _) in enumerate(passages)]

    fill(engine, provider, 4)
    library = Library(document("note/n003"))

    found = SearchService(engine, provider, LastFirst(), documents=library).search(
        SearchRequest("tide", limit=2, documents=True)
    )

    assert library.asked == [["note/n003", "note/n002"]]
    assert [hit.document is not None for hit in found.results] == [True, False]


def test_a_store_that_does_not_answer_costs_the_documents_and_not_the_answer(
    engine: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    fill(engine, provider, 2)
    library = Library()
    library.away = True

    found = SearchService(engine, provider, documents=library).search(SearchRequest("tide", documents=True))

    assert [hit.document for hit in found.results] == [None, None]


@pytest.fixture
def versions_of_a_poem(engine: EmbeddedEngine, provider: FakeEmbeddings) -> EmbeddedEngine:
    others = record("note/other", "Something else about the tide.", title="Other")
    twins = [record(f"note/poem{at}", f"{POEM} ending{at}", title=f"Poem {at}") for at in range(3)]
    engine.write(indexed(provider, *twins, others), ())
    return engine


def test_near_duplicates_are_shown_once_and_named(versions_of_a_poem: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    service = SearchService(versions_of_a_poem, provider)

    found = service.search(SearchRequest("sea tide"))

    shown = set(refs(found))
    named = {name for hit in found.results for name in hit.duplicates}
    assert len(shown) == 2
    assert shown | named == {"note/poem0", "note/poem1", "note/poem2", "note/other"}
    assert found.total == 2
    everything = service.search(SearchRequest("sea tide", collapse=False))
    assert (len(everything.results), everything.total) == (4, 4)
    assert all(hit.duplicates == () for hit in everything.results)


def test_a_named_near_duplicate_is_shown_first(versions_of_a_poem: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    for title in ("Poem 0", "Poem 1", "Poem 2"):
        best = SearchService(versions_of_a_poem, provider).search(SearchRequest(title)).results[0]
        assert (best.title, len(best.duplicates)) == (title, 2)


def test_near_duplicates_that_the_query_names_are_all_shown(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    twins = [record(f"note/{name}", f"{POEM} {name}", title="Sea") for name in ("one", "two", "three")]
    engine.write(indexed(provider, *twins, record("note/four", f"{POEM} four", title="Elegy")), ())

    found = SearchService(engine, provider).search(SearchRequest("sea"))

    assert sorted(refs(found)) == ["note/one", "note/three", "note/two"]
    assert [name for hit in found.results for name in hit.duplicates] == ["note/four"]


def test_only_what_is_shown_of_near_duplicates_is_reranked(
    versions_of_a_poem: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    reranker = Order()

    SearchService(versions_of_a_poem, provider, reranker).search(SearchRequest("sea tide"))

    assert [len(asked) for asked in reranker.asked] == [2]


def test_hits_are_marked_where_the_words_stand(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    engine.write(indexed(provider, record("note/a", "# Pools\n\nCrabs governed *every* pool.")), ())

    (hit,) = SearchService(engine, provider).search(SearchRequest("who governs a crab?")).results

    assert [hit.snippet[start:end] for start, end in hit.marks] == ["Crabs", "governed"]


def test_a_misspelt_query_is_told_what_may_be_meant(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    fill(engine, provider, 2)
    service = SearchService(engine, provider)

    assert service.search(SearchRequest("The tidle")).suggestion == "The tide"
    assert service.search(SearchRequest("tidle", mode="lexical")).suggestion == "tide"
    assert service.search(SearchRequest("The tide")).suggestion is None
    assert service.search(SearchRequest("tidle", Filters(groups=("none",)))).suggestion is None


def test_of_a_corrected_query_the_corrected_words_are_marked(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    engine.write(indexed(provider, record("note/a", "# Pools\n\nCrabs governed *every* pool.")), ())

    found = SearchService(engine, provider).search(SearchRequest("crbas goverend"))

    assert found.suggestion == "crabs governed"
    assert [found.results[0].snippet[start:end] for start, end in found.results[0].marks] == ["Crabs", "governed"]


def by_words(service: SearchService, limit: int) -> tuple[list[Hit], set[int], int]:
    hits: list[Hit] = []
    totals: set[int] = set()
    after, pages = None, 0
    while pages == 0 or (after and pages < 99):
        found = service.search(SearchRequest("tide sea", limit=limit, mode="lexical", after=after))
        hits += found.results
        totals.add(found.total)
        after, pages = found.after, pages + 1
    return hits, totals, pages


@pytest.mark.parametrize("limit", [1, 4, 7, 100])
def test_a_search_by_words_counts_exactly_and_pages_through_everything(
    versions_of_a_poem: EmbeddedEngine, provider: FakeEmbeddings, limit: int
) -> None:
    fill(versions_of_a_poem, provider, 10)
    provider.asked.clear()
    reranker = Order()
    service = SearchService(versions_of_a_poem, provider, reranker)

    hits, totals, pages = by_words(service, limit)

    assert len({(hit.content_type, hit.id) for hit in hits}) == len(hits) == 14
    assert (totals, pages) == ({14}, -(-14 // limit))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 <= hit.score < 0.8 and hit.duplicates == () for hit in hits)
    assert (provider.asked, reranker.asked) == ([], [])


def test_a_search_by_words_is_no_fallback(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    fill(engine, provider, 2)

    found = SearchService(engine, provider, Order()).search(SearchRequest("tide", mode="lexical"))

    assert (found.fallback, found.reranked, found.total, found.after) == (False, False, 2, None)


def test_only_a_search_by_words_has_pages(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    fill(engine, provider, 2)
    service = SearchService(engine, provider)
    after = service.search(SearchRequest("tide", limit=1, mode="lexical")).after
    assert after is not None

    with pytest.raises(InvalidInput, match="lexical"):
        service.search(SearchRequest("tide", after=after))


def test_the_provider_of_the_index_that_answers_embeds_the_query(tmp_path: Path) -> None:
    old, new = FakeEmbeddings("1"), FakeEmbeddings("2")
    path = tmp_path / "index.sqlite"
    writers = [EmbeddedEngine(path, provider) for provider in (old, new)]
    service = SearchService(EmbeddedEngine(path, old, read_only=True), [old, new])
    writers[0].replace(indexed(old, record("note/a", "rain")))
    old.asked.clear()

    first = service.search(SearchRequest("rain"))
    writers[1].replace(indexed(new, record("note/a", "rain")))
    new.asked.clear()
    second = service.search(SearchRequest("rain"))
    third = service.search(SearchRequest("rain"))

    assert [found.fallback for found in (first, second, third)] == [False, False, False]
    assert (old.asked, new.asked) == (["rain"], ["rain"])
    for writer in writers:
        writer.close()


class Swapped(EmbeddedEngine):
    """Another index takes the place of this one between the question for its model and the search."""

    def __init__(self, path: Path, successor: FakeEmbeddings) -> None:
        super().__init__(path, None, read_only=True)
        self.successor: FakeEmbeddings | None = successor

    def candidates(self, query: Query, vector: QueryVector | None, filters: Filters, size: int) -> Candidates:
        if self.successor:
            provider, self.successor = self.successor, None
            writer = EmbeddedEngine(self.path, provider)
            writer.replace(indexed(provider, record("note/b", "rain")))
            writer.close()
        return super().candidates(query, vector, filters, size)


def test_a_swap_in_the_middle_of_a_search_is_embedded_again_and_no_fallback(tmp_path: Path) -> None:
    old, new = FakeEmbeddings("1"), FakeEmbeddings("2")
    path = tmp_path / "index.sqlite"
    writer = EmbeddedEngine(path, old)
    writer.replace(indexed(old, record("note/a", "rain")))
    writer.close()

    found = SearchService(Swapped(path, new), [old, new]).search(SearchRequest("rain"))

    assert (refs(found), found.fallback) == (["note/b"], False)


def test_a_swap_to_a_model_without_provider_is_a_fallback(tmp_path: Path) -> None:
    old, new = FakeEmbeddings("1"), FakeEmbeddings("2")
    path = tmp_path / "index.sqlite"
    writer = EmbeddedEngine(path, old)
    writer.replace(indexed(old, record("note/a", "rain")))
    writer.close()

    found = SearchService(Swapped(path, new), old).search(SearchRequest("rain"))

    assert (refs(found), found.fallback) == (["note/b"], True)


def test_what_goes_between_ranking_and_showing_is_left_out(tmp_path: Path, provider: FakeEmbeddings) -> None:
    class Losing(EmbeddedEngine):
        def candidates(self, query: Query, vector: QueryVector | None, filters: Filters, size: int) -> Candidates:
            found = super().candidates(query, vector, filters, size)
            self.write((), [Tombstone(RecordId("note/n000"), 9)])
            return found

    engine = Losing(tmp_path / "index.sqlite", provider)
    fill(engine, provider, 3)

    found = SearchService(engine, provider, Order()).search(SearchRequest("tide", explain=True))

    assert refs(found) == ["note/n001", "note/n002"]
    assert found.explanation is not None
    assert [trace.id for trace in found.explanation.hits] == refs(found)
    engine.close()
