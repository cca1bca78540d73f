"""What every engine does, whatever it is made of: did you mean."""

import pytest

from commonplace.search.filters import Filters
from commonplace.search.model import Engine, RecordId, Tombstone
from commonplace.search.query import Query
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import indexed, record


@pytest.fixture
def shore(engine: Engine, provider: FakeEmbeddings) -> Engine:
    engine.write(
        indexed(
            provider,
            record("note/pools", "Crabs were governing the shallow pools.", title="Stewardship", group="shore"),
            record("note/deep", "Anglerfish glimmer in the abyss.", title="Trenches", aliases=["Hadalzone"]),
            record("link/secret", "Quokkaline gossip.", title="Whisperwind", group="inland", tags=["bathymetry"]),
        ),
        (),
    )
    return engine


def first(engine: Engine, query: str, filters: Filters | None = None) -> str | None:
    told = engine.candidates(Query.of(query), None, filters or Filters(), 10).suggestions
    return told[0] if told else None


@pytest.mark.parametrize(
    ("query", "suggestion"),
    [
        ("shalow", "shallow"),
        ("anglrefish", "anglerfish"),
        ("glimmre in the abyss", "glimmer in the abyss"),
        ("Shalow POLOS?", "Shallow POOLS?"),
        ("stewardhsip", "stewardship"),
        ("hadalzome", "hadalzone"),
        ("crabs in shalow pools", "crabs in shallow pools"),
    ],
)
def test_a_misspelt_word_is_corrected_in_the_form_it_was_typed(shore: Engine, query: str, suggestion: str) -> None:
    assert first(shore, query) == suggestion


@pytest.mark.parametrize(
    "query",
    ["shallow", "governs", "GOVERNING pools", "Stewardship", "trench", "the", "", "?", "xylophonist", "2026", "v2"],
)
def test_what_is_right_or_unlike_anything_is_left_alone(shore: Engine, query: str) -> None:
    assert first(shore, query) is None


def test_a_word_of_a_record_that_the_filters_leave_out_is_never_proposed(shore: Engine) -> None:
    misspelt = ("quokkalien", "whispervind", "gosip")

    assert [first(shore, word) for word in misspelt] == ["quokkaline", "whisperwind", "gossip"]
    for filters in (Filters(groups=("shore",)), Filters(content_types=("note",)), Filters(tags_all=("none",))):
        assert [first(shore, word, filters) for word in misspelt] == [None, None, None]


def test_a_word_of_a_removed_record_is_never_proposed(shore: Engine) -> None:
    shore.write((), [Tombstone(RecordId("link/secret"), 2)])

    assert [first(shore, word) for word in ("quokkalien", "whispervind", "gosip")] == [None, None, None]


def test_a_word_of_an_older_version_is_never_proposed(shore: Engine, provider: FakeEmbeddings) -> None:
    shore.write(indexed(provider, record("link/secret", "Nothing to see.", title="Plain", generation=2)), ())

    assert [first(shore, word) for word in ("quokkalien", "whispervind", "plian")] == [None, None, "plain"]


def test_every_proposal_finds_something_under_the_same_filters(shore: Engine) -> None:
    filters = Filters(groups=("shore",))

    for query in ("shalow glimer", "shalow", "pols"):
        told = shore.candidates(Query.of(query), None, filters, 10).suggestions
        assert query not in told
        assert all(shore.candidates(Query.of(text), None, filters, 10).total for text in told)
    assert first(shore, "shalow glimer", filters) == "shallow glimer"


def test_the_word_that_more_records_have_is_proposed_first(engine: Engine, provider: FakeEmbeddings) -> None:
    common = [record(f"note/n{number}", "the lantern") for number in range(3)]
    engine.write(indexed(provider, *common, record("note/rare", "the lanters")), ())

    told = engine.candidates(Query.of("lanterx"), None, Filters(), 10).suggestions

    assert told[0] == "lantern"


def test_the_first_page_of_a_ranking_by_words_proposes_too(shore: Engine) -> None:
    page = shore.page(Query.of("shalow crabs"), Filters(), 1)

    assert page.suggestions[:1] == ("shallow crabs",)
