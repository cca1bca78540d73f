"""A whole search gives the same kind of answer, whatever the engine is made of."""

import pytest

from commonplace.search.filters import Filters
from commonplace.search.fusion import Fusion
from commonplace.search.model import Engine, Expectation, Position, RecordId, SearchRequest, SearchResults
from commonplace.search.service import SearchService
from tests.contracts.engines import Make
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import indexed, record

POEM = " ".join(f"verse{number} about lanterns" for number in range(30))


@pytest.fixture
def filled(engine: Engine, provider: FakeEmbeddings) -> Engine:
    pools = "# Shore\n\n## Pools\n\n" + "wind " * 300 + "Two crabs governed the café. " + "wind " * 100
    records = [
        record("concept/tide", "The sea rises and falls.", title="Tide", aliases=["Ebb and flow"], group="shore"),
        record("note/tides", "tide tide tide tide", title="All about every tide and more tide"),
        record("note/pools", pools, title="Walk", tags=["walk"]),
        *(record(f"link/poem{at}", f"{POEM} and ending{at}", title="Lanterns") for at in range(3)),
        *(record(f"note/n{at:02}", "herring in shoals", title="Fish") for at in range(60)),
    ]
    engine.write(indexed(provider, *records), ())
    return engine


@pytest.fixture
def service(filled: Engine, provider: FakeEmbeddings) -> SearchService:
    return SearchService(filled, provider)


def refs(found: SearchResults) -> list[str]:
    return [f"{hit.content_type}/{hit.id}" for hit in found.results]


@pytest.mark.parametrize("fusion", ["min-max", "rrf", "min-max:1,0", "min-max:0,1"])
@pytest.mark.parametrize("name", ["Tide", "tide", "ebb and flow", "#Tide"])
def test_what_the_query_names_comes_first(filled: Engine, provider: FakeEmbeddings, fusion: str, name: str) -> None:
    found = SearchService(filled, provider, fusion=Fusion.parse(fusion)).search(SearchRequest(name))

    assert refs(found)[0] == "concept/tide"
    assert found.results[0].score > 0.8
    assert found.fallback is False


def test_a_hit_shows_the_passage_and_marks_the_words(service: SearchService) -> None:
    hit = service.search(SearchRequest("who governs crabs at a cafe?")).results[0]

    assert (hit.title, hit.heading) == ("Walk", "Shore › Pools")
    assert "Two crabs governed the café." in hit.snippet
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["crabs", "governed", "café"]


def test_near_duplicates_are_shown_once(service: SearchService) -> None:
    found = service.search(SearchRequest("verse about lanterns", limit=10, filters=Filters(content_types=("link",))))

    assert len(found.results) == 1
    assert set(refs(found)) | set(found.results[0].duplicates) == {"link/poem0", "link/poem1", "link/poem2"}


def test_a_ranking_ends_at_its_candidates_and_words_alone_do_not(service: SearchService) -> None:
    fused = service.search(SearchRequest("herring", limit=3))
    worded = service.search(SearchRequest("herring", limit=3, mode="lexical"))

    assert (fused.total, len(fused.results), fused.after) == (50, 3, None)
    assert (worded.total, len(worded.results)) == (60, 3)
    assert worded.after is not None


@pytest.mark.parametrize("limit", [7, 30])
def test_words_alone_can_be_paged_through_to_the_end(service: SearchService, limit: int) -> None:
    told: list[str] = []
    after: Position | None = None
    for _ in range(10):
        found = service.search(SearchRequest("herring", limit=limit, mode="lexical", after=after))
        told += refs(found)
        assert found.total == 60
        after = found.after
        if after is None:
            break

    assert told == [f"note/n{at:02}" for at in range(60)]


def test_a_misspelt_query_is_told_what_may_be_meant(service: SearchService) -> None:
    assert service.search(SearchRequest("Herrnig?")).suggestion == "Herring?"
    assert service.search(SearchRequest("Herrnig?", Filters(groups=("shore",)))).suggestion is None


def test_a_failing_model_leaves_words(service: SearchService, provider: FakeEmbeddings) -> None:
    provider.failing = True

    found = service.search(SearchRequest("herring", limit=3))

    assert (found.fallback, found.total, len(found.results)) == (True, 60, 3)


def test_the_other_provider_takes_over_with_the_other_index(make: Make, provider: FakeEmbeddings) -> None:
    other = FakeEmbeddings(revision="2")
    make(provider).write(indexed(provider, record("note/a", "rain")), ())
    service = SearchService(make(provider), [provider, other])
    first = service.search(SearchRequest("rain"))

    make(other).replace(indexed(other, record("note/a", "rain"), record("note/b", "rain")))
    second = service.search(SearchRequest("rain"))

    assert ([len(found.results) for found in (first, second)], first.fallback, second.fallback) == (
        [1, 2],
        False,
        False,
    )


def verdict(service: SearchService, query: str, expect: str, **told: object) -> Expectation:
    request = SearchRequest(query, explain=True, expect=RecordId(expect), **told)  # type: ignore[arg-type]
    explanation = service.search(request).explanation
    assert explanation is not None
    assert explanation.expectation is not None
    return explanation.expectation


@pytest.mark.parametrize(
    ("query", "expect", "told", "expected"),
    [
        ("tide", "concept/tide", {}, "shown"),
        ("herring", "note/n05", {"limit": 3}, "below-limit"),
        ("herring", "note/n55", {"limit": 3}, "below-candidates"),
        ("herring", "note/n55", {"limit": 3, "mode": "lexical"}, "below-limit"),
        ("herring", "note/pools", {}, "not-matched"),
        ("tide", "concept/tide", {"filters": Filters(tags_all=("walk",), groups=("shore",))}, "filtered-out"),
        ("tide", "concept/none", {}, "not-indexed"),
    ],
)
def test_what_is_expected_is_accounted_for(
    service: SearchService, query: str, expect: str, told: dict[str, object], expected: str
) -> None:
    found = verdict(service, query, expect, **told)

    assert found.verdict == expected
    if expected == "filtered-out":
        assert found.sentence == "It does not match tags = walk."


def test_a_collapsed_record_names_what_stands_for_it(service: SearchService) -> None:
    best = service.search(SearchRequest("verse about lanterns", Filters(content_types=("link",)))).results[0]

    found = verdict(service, "verse about lanterns", best.duplicates[0], filters=Filters(content_types=("link",)))

    assert found.verdict == "collapsed"
    assert f"link/{best.id}, result 1" in found.sentence
