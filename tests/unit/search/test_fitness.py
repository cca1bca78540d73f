"""What a search answers where nothing fits, where a name is meant, and what it shows of it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.search.chunks import chunk_body, is_listing
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embed_records, with_tokens
from commonplace.search.filters import Filters
from commonplace.search.fitness import LARGE, NOTHING_FITS, NOTHING_WITHIN, SMALL, best_fit, fit, least_fit
from commonplace.search.fusion import RELEVANCE_SHARE
from commonplace.search.model import LegHit, RecordId, SearchRequest, SearchResults
from commonplace.search.models.local import LocalEmbeddings
from commonplace.search.models.tokens import Likeness
from commonplace.search.query import Query
from commonplace.search.rerank import blend
from commonplace.search.service import SearchService
from tests.unit.search.records import record

TIDES = (
    record(
        "tag/neap-tide",
        title="Neap tides",
        description="A weak tide, a week after the strong one.",
        body="# Neap tides\n\nSun and moon pull at right angles.\n\n## Related concepts\n\n"
        "- [Spring tide](a.md)\n- [Moon](b.md)\n- [Shore](c.md)\n",
    ),
    record(
        "guide/limpets",
        author=["Amara Quill"],
        tags=["sea-floor"],
        aliases=["The long tally"],
        title="Counting limpets",
        body="Kneel, lay the frame down and count every limpet in it.",
    ),
    record("guide/cooperation", title="Rock pools", body="Pools hold animals that wait for the sea to come back."),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchService]:
    provider = LocalEmbeddings()
    engine = EmbeddedEngine(Path(tmp_path_factory.mktemp("index")) / "index.sqlite", provider)
    engine.write(with_tokens(embed_records(TIDES, provider)), ())
    yield SearchService(engine, provider)
    engine.close()


def search(service: SearchService, query: str) -> SearchResults:
    return service.search(SearchRequest(query, limit=3))


@pytest.mark.parametrize("query", ["xyzzy blorb", "mortgage interest rates", "Kaffeemaschine entkalken"])
def test_what_nothing_answers_finds_nothing(service: SearchService, query: str) -> None:
    found = search(service, query)

    assert (found.results, found.total, found.hint) == ((), 0, NOTHING_FITS)


def test_what_filters_leave_out_may_be_there_without_them(service: SearchService) -> None:
    found = service.search(SearchRequest("counting limpets", Filters(content_types=("tag",))))

    assert (found.results, found.hint) == ((), NOTHING_WITHIN)


@pytest.mark.parametrize("query", ["lipmets", "what is a limpte", "cuonting limpest"])
def test_a_query_of_which_no_word_is_known_is_searched_as_corrected(service: SearchService, query: str) -> None:
    assert [hit.id for hit in search(service, query).results][:1] == ["limpets"]


def test_a_query_that_a_correction_leaves_half_senseless_is_not_taken_for_it(service: SearchService) -> None:
    found = search(service, "florbin lipmets")

    assert (found.results, found.suggestion) == ((), "florbin limpets")


def test_the_word_for_a_kind_counts_for_documents_of_that_kind() -> None:
    alike = dict.fromkeys(map(RecordId, ("note/a", "guide/b", "note/c")), Likeness(0.5, 0.5))
    ranking = [(RecordId("note/a"), 0.4), (RecordId("guide/b"), 0.39), (RecordId("note/c"), 0.2)]

    assert [record for record, _ in blend(Query.of("guides to tides"), ranking, alike)][:2] == ["guide/b", "note/a"]
    assert [record for record, _ in blend(Query.of("about tides"), ranking, alike)][:2] == ["note/a", "guide/b"]


def test_that_nothing_fits_is_said_where_some_words_are_there(service: SearchService) -> None:
    found = search(service, "mortgage interest rates of a sea bank in Prague")

    assert found.results == ()
    assert found.hint is not None
    assert "Nothing here is about this" in found.hint


def test_what_the_names_of_a_record_have_whole_fits_however_little_else_does(service: SearchService) -> None:
    likeness = Likeness(tokens=0.05, coverage=0.05)

    assert fit(likeness, 0.0) < least_fit(LARGE) < fit(replace(likeness, labelled=True), 0.0)
    for query, first in (("Quill", "limpets"), ("sea-floor Tally", "limpets"), ("concepts", "neap-tide")):
        assert [hit.id for hit in search(service, query).results][:1] == [first]


@pytest.mark.parametrize(
    "query", ["neap tides", "What is a neap tide?", "neaptide", "Was ist eine neap tide?", "neap tdies", "nepa tides"]
)
def test_a_name_is_found_first_in_a_question_in_another_form_and_misspelt(service: SearchService, query: str) -> None:
    first = search(service, query).results[0]

    assert first.id == "neap-tide"
    assert first.score > 0.8


def test_a_record_that_is_named_shows_its_description(service: SearchService) -> None:
    first = search(service, "What is a neap tide?").results[0]

    assert (first.snippet, first.heading) == ("A weak tide, a week after the strong one.", None)


@pytest.mark.parametrize(
    ("body", "listing"),
    [
        ("# References\n\nSomebody, somewhere.", True),
        ("- [One](1.md)\n- [Two](2.md)\n- [[Three]]", True),
        ("A [pool](1.md) holds [water](2.md) that stays behind when the [tide](3.md) goes out to sea.", False),
        ("# A reference\n\nA text.", False),
    ],
)
def test_lists_of_links_are_recognised(body: str, listing: bool) -> None:
    assert [is_listing(chunk) for chunk in chunk_body(body)] == [listing]


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_larger_base_asks_for_more_up_to_a_bound(fewer: int, more: int) -> None:
    fewer, more = sorted((fewer, more))

    assert least_fit(0) == least_fit(SMALL) <= least_fit(fewer) <= least_fit(more) <= least_fit(LARGE)


def test_the_best_of_a_ranking_counts_and_what_is_unknown_is_no_reason_for_silence() -> None:
    near, far = RecordId("note/near"), RecordId("note/far")
    likeness = {near: Likeness(0.8, 1.0), far: Likeness(0.1, 0.0)}
    leg = [LegHit(near, 0.5)]

    assert best_fit([far, near], likeness, leg) == pytest.approx(fit(likeness[near], 0.5))
    assert best_fit([far], likeness, leg) == pytest.approx(fit(likeness[far], 0.0))
    assert best_fit([RecordId("note/unknown")], likeness, leg) is None
    assert best_fit([], likeness, leg) == 0.0


def test_tokens_that_lie_close_together_change_the_order_and_a_record_without_them_stands_last() -> None:
    near = {RecordId(name): Likeness(tokens) for name, tokens in (("note/a", 0.50), ("note/b", 0.52), ("note/c", 0.53))}
    ranking = [(RecordId(f"note/{name}"), score) for name, score in (("a", 0.6), ("d", 0.5), ("c", 0.41), ("b", 0.4))]

    blended = blend(Query.of("tides"), ranking, near)

    assert [record for record, _ in blended] == ["note/c", "note/a", "note/b", "note/d"]
    assert all(0 <= score <= RELEVANCE_SHARE for _, score in blended)
