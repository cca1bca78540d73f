"""What every engine does with records that others may find, and with those that hold for a time only."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.search.filters import Filters
from commonplace.search.model import Engine, QueryVector, Record, RecordId, Tombstone
from commonplace.search.query import Query
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings, asked
from tests.unit.search.records import indexed, record, versions

TEXT = "Retry with jitter when the gateway throttles."
TITLE = "Gateway throttling"
DAYS = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z"]
FIRST, SECOND, THIRD = DAYS
MINE_OR_PUBLIC = Filters(organisation="acme", or_public=True)


def kept(id: str, text: str = TEXT, **told: object) -> Record:
    """A record of the organisation that its id begins with."""
    made = replace(record(f"fact/{id.replace('/', '-')}", text, title=TITLE), id=RecordId(id))
    return replace(made, **{"organisation": id.partition("/")[0], **told})  # type: ignore[arg-type]


def admits(filters: Filters, one: Record) -> bool:
    """The rule itself, as `Filters` states it."""
    owned = filters.organisation is None or one.organisation == filters.organisation
    if filters.or_public:
        owned = one.public or (filters.organisation is not None and owned)
    now = filters.valid_at
    begun = now is None or one.valid_from is None or one.valid_from <= now
    return owned and begun and (now is None or one.valid_until is None or now < one.valid_until)


def found(engine: Engine, vector: QueryVector, filters: Filters, wanted: Iterable[RecordId]) -> list[set[RecordId]]:
    """By words, by meaning, by name, by page, and by standing: five ways to the same records."""
    query = Query.of(TEXT)
    answer = engine.candidates(query, vector, filters, 50)
    named = engine.candidates(Query.of(TITLE), None, filters, 50).named
    page = engine.page(query, filters, 50)
    standing = {record for record in wanted if engine.ranks(record, query, vector, filters).admitted}
    assert answer.total == len(answer.lexical) == page.total
    return [{hit.id for hit in leg} for leg in (answer.lexical, answer.vector, named, page.hits)] + [standing]


@pytest.fixture
def filled(engine: Engine, provider: FakeEmbeddings) -> Engine:
    records = [
        kept("acme/1"),
        kept("acme/2", public=True, valid_from=SECOND),
        kept("globex/1", "Retry with jitter at the Nightingale gateway."),
        kept("globex/2", "Retry with jitter at the Kingfisher gateway.", public=True, valid_until=SECOND),
        replace(record("note/document", TEXT, title=TITLE)),
    ]
    engine.write(indexed(provider, *records), ())
    return engine


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (Filters(organisation="acme"), {"acme/1", "acme/2"}),
        (MINE_OR_PUBLIC, {"acme/1", "acme/2", "globex/2"}),
        (Filters(organisation="initech", or_public=True), {"acme/2", "globex/2"}),
        (Filters(organisation="", or_public=True), {"acme/2", "globex/2"}),
        (Filters(or_public=True), {"acme/2", "globex/2"}),
        (replace(MINE_OR_PUBLIC, valid_at=FIRST), {"acme/1", "globex/2"}),
        (replace(MINE_OR_PUBLIC, valid_at=SECOND), {"acme/1", "acme/2"}),
        (Filters(organisation="globex", valid_at=THIRD), {"globex/1"}),
        (Filters(valid_at=SECOND), {"acme/1", "acme/2", "globex/1", "note/document"}),
    ],
)
def test_every_way_finds_what_passes_and_nothing_else(
    filled: Engine, provider: FakeEmbeddings, filters: Filters, wanted: set[str]
) -> None:
    assert found(filled, asked(provider, TEXT), filters, versions(filled)) == [wanted] * 5


def test_public_records_of_others_narrow_with_every_other_filter(filled: Engine) -> None:
    query = Query.of(TEXT)
    for narrower in ({"content_types": ("bug_fix",)}, {"tags_all": ("none",)}, {"min_confidence": 0.5}):
        answer = filled.candidates(query, None, replace(MINE_OR_PUBLIC, **narrower), 50)
        assert (answer.lexical, answer.total) == ((), 0)


def test_what_is_shown_says_whether_it_is_public_and_when_it_holds(filled: Engine) -> None:
    wanted = [(RecordId(id), None) for id in ("acme/2", "globex/2", "note/document")]
    shown = filled.fetch(wanted, Query.of(TEXT))

    told = {id: (one.record.public, one.record.valid_from, one.record.valid_until) for id, one in shown.items()}
    assert told == {
        "acme/2": (True, SECOND, None),
        "globex/2": (True, None, SECOND),
        "note/document": (False, None, None),
    }


def test_what_is_withdrawn_is_found_by_its_own_organisation_alone(filled: Engine, provider: FakeEmbeddings) -> None:
    query, theirs = Query.of("kingfisher"), Filters(organisation="globex", or_public=True)
    assert filled.candidates(query, None, MINE_OR_PUBLIC, 5).total == 1

    filled.write(indexed(provider, kept("globex/2", "The Kingfisher gateway.", version=2)), ())

    assert filled.candidates(query, None, MINE_OR_PUBLIC, 5).total == 0
    assert filled.candidates(query, None, theirs, 5).total == 1


def test_what_is_deleted_is_public_no_more(filled: Engine, provider: FakeEmbeddings) -> None:
    filled.write((), [Tombstone(RecordId("globex/2"), 2)])

    found_now = found(filled, asked(provider, TEXT), MINE_OR_PUBLIC, [RecordId("globex/2")])
    assert all("globex/2" not in way for way in found_now)


def test_corrections_are_of_ones_own_words_and_of_public_ones_alone(filled: Engine) -> None:
    def first(word: str, filters: Filters) -> tuple[str, ...]:
        return filled.candidates(Query.of(word), None, filters, 5).suggestions

    theirs = Filters(organisation="globex", or_public=True)
    assert [first("nightingle", filters) for filters in (MINE_OR_PUBLIC, theirs)] == [(), ("nightingale",)]
    assert first("kingfishre", MINE_OR_PUBLIC) == ("kingfisher",)
    assert first("kingfishre", replace(MINE_OR_PUBLIC, valid_at=SECOND)) == ()


ORGANISATIONS = ["acme", "globex"]
BOUNDS = st.none() | st.sampled_from(DAYS)
RECORDS = st.lists(st.tuples(st.sampled_from(ORGANISATIONS), st.booleans(), BOUNDS, BOUNDS), min_size=1, max_size=6)
FILTERS = st.builds(
    lambda owner, or_public, valid_at: Filters(organisation=owner, or_public=or_public, valid_at=valid_at),
    st.none() | st.sampled_from([*ORGANISATIONS, "nobody"]),
    st.booleans(),
    BOUNDS,
)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS, st.lists(FILTERS, min_size=1, max_size=4))
def test_every_way_agrees_with_the_rule(
    engine: Engine,
    provider: FakeEmbeddings,
    made: list[tuple[str, bool, str | None, str | None]],
    wanted: list[Filters],
) -> None:
    records = [
        kept(f"{owner}/{number}", public=public, valid_from=valid_from, valid_until=valid_until)
        for number, (owner, public, valid_from, valid_until) in enumerate(made)
    ]
    engine.replace(indexed(provider, *records))

    for filters in wanted:
        passing = {one.id for one in records if admits(filters, one)}
        assert found(engine, asked(provider, TEXT), filters, [one.id for one in records]) == [passing] * 5
