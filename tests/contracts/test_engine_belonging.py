"""What every engine does with records that belong to an organisation, are for a role, and are more or less sure."""

from dataclasses import replace

import pytest

from commonplace.search.filters import Filters
from commonplace.search.model import Engine, QueryVector, Record, RecordId
from commonplace.search.query import Query
from tests.fakes.embeddings import FakeEmbeddings, asked
from tests.unit.search.records import indexed, record

TEXT = "Routes with parameters go after the literal ones."


def kept(id: str, text: str = TEXT, *, organisation: str = "acme", **told: object) -> Record:
    """A record without a title, as the memory has them."""
    made = replace(record(f"fact/{id}", text), id=RecordId(f"{organisation}/{id}"), title="", organisation=organisation)
    return replace(made, **{"roles": ("dev",), "confidence": 1.0, **told})  # type: ignore[arg-type]


def found(engine: Engine, provider: FakeEmbeddings, filters: Filters, text: str = TEXT) -> tuple[set[str], set[str]]:
    """By words and by meaning."""
    answer = engine.candidates(Query.of(text), asked(provider, text), filters, 50)
    assert answer.total == len(answer.lexical)
    return {hit.id for hit in answer.lexical}, {hit.id for hit in answer.vector}


@pytest.fixture
def filled(engine: Engine, provider: FakeEmbeddings) -> Engine:
    records = [
        kept("1"),
        kept("2", roles=("all",), confidence=0.5),
        kept("3", roles=("pm", "qa"), confidence=0.49999, tags=("routing",)),
        kept("1", organisation="globex", tags=("routing",)),
        replace(record("note/document", TEXT), title="A document of everybody"),
    ]
    engine.write(indexed(provider, *records), ())
    return engine


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (Filters(organisation="acme"), {"acme/1", "acme/2", "acme/3"}),
        (Filters(organisation="globex"), {"globex/1"}),
        (Filters(organisation="acm"), set()),
        (Filters(organisation=""), set()),
        (Filters(organisation="acme", roles_any=("dev", "all")), {"acme/1", "acme/2"}),
        (Filters(organisation="acme", roles_any=("qa",)), {"acme/3"}),
        (Filters(organisation="acme", min_confidence=0.5), {"acme/1", "acme/2"}),
        (Filters(organisation="acme", min_confidence=0), {"acme/1", "acme/2", "acme/3"}),
        (Filters(organisation="acme", tags_any=("routing", "other"), min_confidence=0.4), {"acme/3"}),
        (Filters(min_confidence=0), {"acme/1", "acme/2", "acme/3", "globex/1"}),
    ],
)
def test_both_legs_find_what_passes_and_nothing_else(
    filled: Engine, provider: FakeEmbeddings, filters: Filters, wanted: set[str]
) -> None:
    assert found(filled, provider, filters) == (wanted, wanted)


def test_what_is_shown_says_whose_it_is(filled: Engine) -> None:
    shown = filled.fetch([(RecordId("acme/3"), None), (RecordId("note/document"), None)], Query.of("routes"))

    third, document = (shown[RecordId(id)].record for id in ("acme/3", "note/document"))
    assert (third.organisation, third.roles, third.confidence, third.title) == ("acme", ("pm", "qa"), 0.49999, "")
    assert (document.organisation, document.roles, document.confidence) == (None, (), None)


def test_a_change_of_belonging_is_searched_for_at_once(filled: Engine, provider: FakeEmbeddings) -> None:
    filled.write(indexed(provider, kept("1", roles=("qa",), confidence=0.2, version=2)), ())

    assert found(filled, provider, Filters(organisation="acme", roles_any=("dev",))) == (set(), set())
    both = Filters(organisation="acme", roles_any=("qa",), min_confidence=0.2)
    assert found(filled, provider, both) == ({"acme/1", "acme/3"}, {"acme/1", "acme/3"})


def test_a_record_without_a_title_is_named_by_nothing(filled: Engine) -> None:
    for query in ("", " ", "???", "fact"):
        assert filled.candidates(Query.of(query), None, Filters(organisation="acme"), 10).named == ()


def test_a_record_of_another_organisation_is_not_admitted(filled: Engine) -> None:
    record = RecordId("globex/1")

    assert filled.ranks(record, Query.of(TEXT), None, Filters(organisation="globex")).admitted
    assert not filled.ranks(record, Query.of(TEXT), None, Filters(organisation="acme")).admitted


def test_no_correction_tells_a_word_that_only_others_have(engine: Engine, provider: FakeEmbeddings) -> None:
    engine.write(indexed(provider, kept("1"), kept("1", "Project Nightingale", organisation="globex")), ())

    suggested = engine.candidates(Query.of("nightingle"), None, Filters(organisation="acme"), 5).suggestions
    own = engine.candidates(Query.of("nightingle"), None, Filters(organisation="globex"), 5).suggestions

    assert (suggested, own) == ((), ("nightingale",))


def test_equal_texts_of_two_organisations_have_vectors_of_their_own(engine: Engine, provider: FakeEmbeddings) -> None:
    mine, theirs = indexed(provider, kept("1"), kept("1", organisation="globex"))
    other = provider.embed(["wind and rain"])[0]
    engine.write([mine, replace(theirs, vectors=(other,))], ())

    vector = QueryVector(asked(provider, TEXT).model, mine.vectors[0])
    best = engine.candidates(Query.of(TEXT), vector, Filters(organisation="acme"), 5).vector[0]

    assert best.score == pytest.approx(1.0, abs=1e-3)


def test_vectors_made_anew_take_the_place_of_those_before(engine: Engine, provider: FakeEmbeddings) -> None:
    (damaged,) = indexed(provider, kept("1"))
    engine.write([replace(damaged, vectors=tuple(provider.embed(["wind and rain"])))], ())
    engine.write(indexed(provider, kept("1", version=2)), ())

    best = engine.candidates(Query.of(TEXT), asked(provider, TEXT), Filters(organisation="acme"), 5).vector[0]

    assert best.score == pytest.approx(1.0, abs=1e-3)
