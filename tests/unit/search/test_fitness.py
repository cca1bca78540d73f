"""What a search answers where nothing fits, where a name is meant, and what it shows of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.search.candidates import Ranked
from commonplace.search.chunks import chunk_body, is_listing
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embed_records, model_fingerprint, with_tokens
from commonplace.search.filters import Filters
from commonplace.search.fitness import (
    COVERAGE,
    GATES,
    LARGE,
    MOST_WEAK,
    NOTHING_FITS,
    NOTHING_WITHIN,
    SMALL,
    Gate,
    fits,
    gate_of,
)
from commonplace.search.fusion import RELEVANCE_SHARE
from commonplace.search.model import Candidates, LegHit, QueryVector, RecordId, Reranked, SearchRequest, SearchResults
from commonplace.search.models.local import LocalEmbeddings
from commonplace.search.models.tokens import Likeness
from commonplace.search.near_duplicates import Collapsed
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
def test_what_nothing_answers_finds_at_most_a_few_weak_matches(service: SearchService, query: str) -> None:
    found = search(service, query)

    assert found.hint == NOTHING_FITS
    assert len(found.results) == found.total <= MOST_WEAK
    assert all(hit.fit == "weak" for hit in found.results)


def test_what_filters_leave_out_may_be_there_without_them(service: SearchService) -> None:
    found = service.search(SearchRequest("counting limpets", Filters(content_types=("tag",))))

    assert found.hint == NOTHING_WITHIN
    assert all(hit.fit == "weak" for hit in found.results)


@pytest.mark.parametrize("query", ["lipmets", "what is a limpte", "cuonting limpest"])
def test_a_query_of_which_no_word_is_known_is_searched_as_corrected(service: SearchService, query: str) -> None:
    assert [hit.id for hit in search(service, query).results][:1] == ["limpets"]


def test_a_query_that_a_correction_leaves_half_senseless_is_not_taken_for_it(service: SearchService) -> None:
    found = search(service, "florbin lipmets")

    assert (found.hint, found.suggestion) == (NOTHING_FITS, "florbin limpets")


def test_the_word_for_a_kind_counts_for_documents_of_that_kind() -> None:
    alike = dict.fromkeys(map(RecordId, ("note/a", "guide/b", "note/c")), Likeness(0.5, 0.5))
    ranking = [(RecordId("note/a"), 0.4), (RecordId("guide/b"), 0.39), (RecordId("note/c"), 0.2)]

    assert [record for record, _ in blend(Query.of("guides to tides"), ranking, alike)][:2] == ["guide/b", "note/a"]
    assert [record for record, _ in blend(Query.of("about tides"), ranking, alike)][:2] == ["note/a", "guide/b"]


def test_that_nothing_fits_is_said_where_some_words_are_there(service: SearchService) -> None:
    found = search(service, "mortgage interest rates of a sea bank in Prague")

    assert found.hint == NOTHING_FITS
    assert [hit.fit for hit in found.results] == ["weak"] * len(found.results)
    assert found.results


def test_without_a_model_coverage_alone_is_judged(service: SearchService) -> None:
    words = SearchService(service._engine, None)

    assert [hit.fit for hit in search(words, "animals of rock pools").results][:1] == ["strong"]
    assert search(words, "mortgage interest rates of a sea bank in Prague").hint == NOTHING_FITS
    assert {hit.fit for hit in words.search(SearchRequest("mortgage interest of the sea", mode="lexical")).results} == {
        "weak"
    }


def test_what_the_names_of_a_record_have_whole_fits_however_little_else_does(service: SearchService) -> None:
    likeness = {FAR: Likeness(tokens=0.05, coverage=0.05), NEAR: Likeness(0.05, 0.05, labelled=True)}

    assert fits(ranked(None, cosine=0.0), (FAR, NEAR), likeness) == {FAR: "weak", NEAR: "fair"}
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


@given(st.sampled_from([COVERAGE, *GATES.values()]), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_larger_base_asks_for_more_up_to_a_bound(gate: Gate, fewer: int, more: int) -> None:
    fewer, more = sorted((fewer, more))

    assert gate.least(0) == gate.least(SMALL) <= gate.least(fewer) <= gate.least(more) <= gate.least(LARGE)
    assert gate.least(LARGE) < gate.strong


NEAR, FAR, NAMED, UNKNOWN = map(RecordId, ("note/near", "note/far", "note/named", "note/unknown"))
LIKENESS = {NEAR: Likeness(0.3, 0.4), FAR: Likeness(0.3, 0.0), NAMED: Likeness()}


def ranked(model: str | None, cosine: float = 0.7) -> Ranked:
    legs = Candidates((), (LegHit(NEAR, cosine),), 3, named=(LegHit(NAMED, 1.0),), records=3)
    vector = QueryVector(model, ()) if model else None
    return Ranked(Query.of("tides"), vector, legs, [], Collapsed([], {}))


def test_a_name_is_strong_and_no_knowledge_is_no_reason_for_silence() -> None:
    model = model_fingerprint(LocalEmbeddings())
    grades = fits(ranked(model), (NEAR, FAR, NAMED, UNKNOWN), LIKENESS)

    assert grades == {NEAR: "fair", FAR: "weak", NAMED: "strong", UNKNOWN: "fair"}
    assert fits(ranked(model, cosine=0.0), [NEAR], LIKENESS) == {NEAR: "weak"}


@pytest.mark.parametrize("model", [None, "wordllama-l2-supercat@0.4/256", "nobody-measured@1/3"])
def test_a_model_or_a_revision_that_was_not_measured_is_judged_by_coverage_alone(model: str | None) -> None:
    assert gate_of(ranked(model)) is COVERAGE
    assert fits(ranked(model, cosine=0.0), [NEAR], LIKENESS) == fits(ranked(model), [NEAR], LIKENESS) == {NEAR: "fair"}


def test_nearer_tokens_change_the_order_and_a_record_without_them_stands_last() -> None:
    near = {RecordId(name): Likeness(tokens) for name, tokens in (("note/a", 0.3), ("note/b", 0.5), ("note/c", 0.6))}
    ranking = [(RecordId(f"note/{name}"), score) for name, score in (("a", 0.6), ("d", 0.5), ("c", 0.41), ("b", 0.4))]

    blended = blend(Query.of("tides"), ranking, near)

    assert [record for record, _ in blended] == ["note/c", "note/a", "note/b", "note/d"]
    assert all(0 <= score <= RELEVANCE_SHARE for _, score in blended)


def test_a_model_that_was_not_measured_has_nothing_cut_and_its_reranker_asked(service: SearchService) -> None:
    asked = []

    class Reranker:
        name = "test"

        def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
            asked.append(len(passages))
            return [Reranked(record, 1.0 - place / 10) for place, (record, _) in enumerate(passages)]

    words = SearchService(service._engine, None, Reranker())
    found = search(words, "mortgage interest rates of a sea bank in Prague")

    assert found.hint == NOTHING_FITS
    assert asked == [len(found.results)] == [found.total]
    assert found.reranked
