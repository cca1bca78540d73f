"""What every engine does, whatever it is made of: pages, and where a record stands."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.search.filters import Filters
from commonplace.search.model import Engine, Page, Position, QueryVector, RecordId, Tombstone
from commonplace.search.query import NOTHING, Query
from tests.contracts.engines import Make
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings, asked
from tests.unit.search.records import indexed, record, versions

DAY = timedelta(days=1)


@pytest.fixture
def shore(engine: Engine, provider: FakeEmbeddings) -> Engine:
    """Thirty records about the tide: ten say it often, ten in passing, ten exactly alike."""
    often = [record(f"note/often{number}", "tide " * (number + 1), title="Sea") for number in range(10)]
    passing = [record(f"link/once{number}", "rain " * number + "and a tide", title="Rain") for number in range(10)]
    alike = [record(f"note/alike{number}", "the tide again", title="Again", tags=["alike"]) for number in range(10)]
    # Some with a fingerprint, as longer texts have one, and some without.
    often = [replace(one, fingerprint=f"{number:x}" * 16) for number, one in enumerate(often)]
    engine.write(indexed(provider, *often, *passing, *alike, record("note/other", "wind")), ())
    return engine


def pages(engine: Engine, text: str, filters: Filters, size: int) -> list[Page]:
    found = [engine.page(Query.of(text), filters, size)]
    while found[-1].after and len(found) < 100:
        found.append(engine.page(Query.of(text), filters, size, found[-1].after))
    return found


@pytest.mark.parametrize("size", [1, 3, 10, 29, 30, 31])
def test_pages_make_the_whole_ranking_without_gaps_or_doubles(shore: Engine, size: int) -> None:
    whole = shore.page(Query.of("tide"), Filters(), 100)

    told = pages(shore, "tide", Filters(), size)

    assert [hit.id for page in told for hit in page.hits] == [hit.id for hit in whole.hits]
    assert len({hit.id for hit in whole.hits}) == 30
    assert {page.total for page in told} == {30}
    assert all(len(page.hits) == size for page in told[:-1])
    assert told[-1].hits
    assert whole.after is None


def test_pages_go_from_the_best_down_and_by_id_where_scores_are_equal(shore: Engine) -> None:
    hits = [hit for page in pages(shore, "tide", Filters(), 7) for hit in page.hits]

    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.id))
    alike = [hit.id for hit in hits if "alike" in hit.id]
    assert alike == sorted(alike)


def test_pages_and_candidates_agree(shore: Engine) -> None:
    candidates = shore.candidates(Query.of("tide rain"), None, Filters(), 12)

    page = shore.page(Query.of("tide rain"), Filters(), 12)

    assert [hit.id for hit in page.hits] == [hit.id for hit in candidates.lexical]
    assert page.total == candidates.total


def test_pages_are_filtered_and_count_what_is_left(shore: Engine) -> None:
    filters = Filters(tags_all=("alike",))

    told = pages(shore, "tide", filters, 4)

    assert [len(page.hits) for page in told] == [4, 4, 2]
    assert {page.total for page in told} == {10}


def test_a_page_after_the_last_record_is_empty_and_still_counts(shore: Engine) -> None:
    last = shore.page(Query.of("tide"), Filters(), 100).hits[-1]

    beyond = shore.page(Query.of("tide"), Filters(), 5, Position(last.score, last.id))

    assert (beyond.hits, beyond.total, beyond.after) == ((), 30, None)


@pytest.mark.parametrize("text", ["", "quokka", "!?"])
def test_what_no_record_says_has_one_empty_page(shore: Engine, text: str) -> None:
    page = shore.page(Query.of(text), Filters(), 5)

    assert (page.hits, page.total, page.after) == ((), 0, None)


def test_an_index_that_was_never_written_has_no_pages_and_no_model(engine: Engine) -> None:
    page = engine.page(Query.of("tide"), Filters(), 5)

    assert (page.hits, page.total, page.after, engine.model()) == ((), 0, None, None)


def test_a_position_outlives_its_record(shore: Engine) -> None:
    first = shore.page(Query.of("tide"), Filters(), 5)
    rest = [hit.id for hit in shore.page(Query.of("tide"), Filters(), 100).hits[5:]]
    assert first.after is not None

    shore.write((), [Tombstone(first.hits[-1].id, 9)])

    # Scores move a little with the number of records, so only what was far from the cut is sure to be told.
    told = [hit.id for hit in shore.page(Query.of("tide"), Filters(), 100, first.after).hits]
    assert first.hits[-1].id not in told
    assert set(rest[5:]) <= set(told)


def test_an_engine_tells_the_model_of_the_index_that_answers(make: Make, provider: FakeEmbeddings) -> None:
    reader = make(None)
    make(provider).write(indexed(provider, record("note/a", "rain")), ())
    first = reader.model()
    other = FakeEmbeddings(revision="2")

    make(other).replace(indexed(other, record("note/a", "rain")))

    assert (first, reader.model()) == (asked(provider, "").model, asked(other, "").model)


def test_an_index_without_vectors_has_no_model_and_degrades_a_query_with_one(
    make: Make, provider: FakeEmbeddings
) -> None:
    engine = make(None)
    engine.write(indexed(None, record("note/a", "rain")), ())

    found = engine.candidates(Query.of("rain"), asked(provider, "rain"), Filters(), 5)

    assert (engine.model(), found.degraded, [hit.id for hit in found.lexical]) == (None, True, ["note/a"])


def test_a_vector_that_pretends_to_be_of_the_model_searches_words(make: Make, provider: FakeEmbeddings) -> None:
    engine = make(provider)
    engine.write(indexed(provider, record("note/a", "rain")), ())
    wrong = replace(asked(provider, "rain"), values=[1.0, 0.0])

    found = engine.candidates(Query.of("rain"), wrong, Filters(), 5)

    assert ([hit.id for hit in found.lexical], found.vector, found.degraded) == (["note/a"], (), True)


def standing_by_hand(hits: tuple[object, ...], wanted: str) -> int | None:
    ids = [hit.id for hit in hits]  # type: ignore[attr-defined]
    return ids.index(wanted) + 1 if wanted in ids else None


@pytest.mark.parametrize("wanted", ["note/often9", "note/alike7", "link/once0", "link/once9"])
def test_a_record_stands_where_the_legs_show_it(shore: Engine, provider: FakeEmbeddings, wanted: str) -> None:
    vector = asked(provider, "tide again")
    legs = shore.candidates(Query.of("tide again"), vector, Filters(), 100)

    standing = shore.ranks(RecordId(wanted), Query.of("tide again"), vector, Filters())

    assert standing.held == 1
    assert standing.admitted
    assert standing.lexical is not None
    assert standing.lexical[0] == standing_by_hand(legs.lexical, wanted)
    place = standing_by_hand(legs.vector, wanted)
    assert (standing.vector[0] if standing.vector else None) == place
    assert (standing.below_floor is None) == (place is not None)


def test_a_record_without_the_words_and_without_nearness_stands_nowhere(
    shore: Engine, provider: FakeEmbeddings
) -> None:
    standing = shore.ranks(RecordId("note/other"), Query.of("tide"), asked(provider, "tide"), Filters())

    assert (standing.lexical, standing.vector, standing.held, standing.admitted) == (None, None, 1, True)
    assert standing.below_floor is not None


def test_a_record_that_the_filters_leave_out_is_told_as_not_admitted(shore: Engine, provider: FakeEmbeddings) -> None:
    standing = shore.ranks(
        RecordId("note/often1"), Query.of("tide"), asked(provider, "tide"), Filters(content_types=("link",))
    )

    assert (standing.lexical, standing.vector, standing.held, standing.admitted) == (None, None, 1, False)
    assert shore.ranks(RecordId("note/often1"), NOTHING, None, Filters(content_types=("note",))).admitted


@pytest.mark.parametrize("vector", [None, QueryVector("another@1/2", [1.0, 0.0])])
def test_a_record_that_is_not_held_stands_nowhere(shore: Engine, vector: QueryVector | None) -> None:
    shore.write((), [Tombstone(RecordId("note/alike0"), 4)])

    for name in ("note/alike0", "note/never"):
        standing = shore.ranks(RecordId(name), Query.of("tide"), vector, Filters())
        assert (standing.lexical, standing.vector, standing.held, standing.admitted) == (None, None, None, False)


def test_sweeping_forgets_tombstones_that_are_old_and_nothing_else(engine: Engine, provider: FakeEmbeddings) -> None:
    gone = [Tombstone(RecordId("note/b"), 5), Tombstone(RecordId("note/c"), 5)]
    engine.write(indexed(provider, record("note/a", "rain")), gone)
    late = indexed(provider, record("note/b", "wind", generation=4))

    assert engine.sweep(datetime.now(UTC) - DAY) == 0
    engine.write(late, ())
    assert versions(engine) == {"note/a": 1}

    assert engine.sweep(datetime.now(UTC) + DAY) == 2
    assert engine.sweep(datetime.now(UTC) + DAY) == 0
    engine.write(indexed(provider, record("note/b", "wind", generation=6)), ())
    assert versions(engine) == {"note/a": 1, "note/b": 6}


def test_sweeping_an_index_that_was_never_written_forgets_nothing(engine: Engine) -> None:
    assert engine.sweep(datetime.now(UTC) + DAY) == 0


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["tide", "rain", "sea", "again"]), min_size=1, unique=True), st.integers(1, 12))
def test_whatever_is_asked_pages_are_the_ranking_cut_in_pieces(shore: Engine, said: list[str], size: int) -> None:
    text = " ".join(said)
    whole = [hit.id for hit in shore.page(Query.of(text), Filters(), 100).hits]

    told = pages(shore, text, Filters(), size)

    assert [hit.id for page in told for hit in page.hits] == whole
    assert {page.total for page in told} == {len(whole)}
