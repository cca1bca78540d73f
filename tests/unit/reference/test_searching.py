"""Searching the reference: by name what is shaped like one, by words and meaning the rest."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.reference.index_source import record_of
from commonplace.reference.model import MAX_QUERY_CHARACTERS, SUGGESTIONS, Asked, Catalogue, Entry, SearchAnswer
from commonplace.reference.ports import Edition, Meaning, Near
from commonplace.reference.search import VectorMeaning
from commonplace.reference.service import Reference
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embed_records, model_fingerprint
from commonplace.search.filters import Filters
from commonplace.search.model import Candidates, Engine, QueryVector
from commonplace.search.query import Query
from tests.fakes.catalogues import catalogue, entry
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.gaps import MemoryGaps
from tests.fakes.identity_stores import Clock
from tests.reference_catalogue import catalogue as large_catalogue
from tests.reference_files import helios
from tests.reference_names import MadeUp


@dataclass
class Standing:
    """A shelf whose catalogues a test exchanges."""

    catalogues: tuple[Catalogue, ...]
    version: str = "1"
    asked: int = 0

    def edition(self) -> Edition:
        self.asked += 1
        return Edition(self.catalogues, self.version)


@dataclass
class Hinting:
    """A meaning that names what it is told to; None is one without a model."""

    near_by: Sequence[Near] | None
    away: bool = False
    asked: list[Asked] = field(default_factory=list)

    def near(self, asked: Asked, size: int) -> Sequence[Near] | None:
        self.asked.append(asked)
        if self.away:
            raise Unavailable("The index does not answer.")
        return self.near_by if self.near_by is None else self.near_by[:size]


def command(id: str, name: str, **told: Any) -> Entry:
    facts: dict[str, Any] = {"type": "command", "name": name, "syntax": name, "title": name, "summary": name}
    return entry(id, **(facts | told))


def boats() -> Catalogue:
    return catalogue(
        "harbour",
        command("list", "tide boats list", summary="List all boats.", category="fleet", aliases=["every boat"]),
        command("moor", "tide boats moor", summary="Tie a boat to a pontoon.", category="fleet"),
        command("old", "tide boats tie", summary="Tie a boat.", category="fleet", deprecated=True, replaced_by="moor"),
        command("gone", "tide boats scuttle", summary="Sink a boat.", category="fleet", deprecated=True),
        entry(
            "api-list", type="api", title="List boats", method="GET", path_template="/boats", summary="List all boats."
        ),
        entry("weather", title="Storm warnings", summary="What to do before a gale.", module="weather"),
    )


def search(asked: Asked | str, meaning: Meaning | None = None, *catalogues: Catalogue) -> SearchAnswer:
    reference = Reference(Standing(catalogues or (boats(),)), meaning)
    return reference.search(Asked(asked) if isinstance(asked, str) else asked)


def ids(answer: SearchAnswer) -> list[str]:
    return [hit.entry.id for hit in answer.hits]


def test_words_find_and_say_that_meaning_was_not_compared() -> None:
    answer = search("tie a boat to a pontoon")
    assert ids(answer)[0] == "moor"
    assert (answer.fallback, answer.shaped) == (True, False)
    assert answer.hits[0].matched_by == "words"


def test_meaning_finds_what_no_word_finds() -> None:
    answer = search("hurricane", Hinting([Near("harbour", "weather", 0.8)]))
    assert ids(answer) == ["weather"]
    assert not answer.fallback


@pytest.mark.parametrize("meaning", [Hinting(None), Hinting([], away=True)], ids=["no model", "index away"])
def test_meaning_that_cannot_be_compared_leaves_words(meaning: Hinting) -> None:
    answer = search("storm warnings", meaning)
    assert ids(answer) == ["weather"]
    assert answer.fallback


def test_what_the_index_names_and_the_edition_has_not_is_left_out() -> None:
    lagging = [Near("harbour", "removed", 0.9), Near("other", "weather", 0.9), Near("harbour", "weather", 0.8)]
    assert ids(search("hurricane", Hinting(lagging))) == ["weather"]


def test_nothing_is_found_for_what_is_about_something_else() -> None:
    far = Hinting([Near("harbour", "weather", 0.2), Near("harbour", "list", 0.16)])
    answer = search("bake a chocolate cake", far)
    assert answer.hits == ()
    assert not answer.shaped


def test_conditions_are_judged_by_what_is_published_whatever_the_index_says() -> None:
    near = Hinting([Near("harbour", "weather", 0.9), Near("harbour", "list", 0.8)])
    assert ids(search(Asked("boats in a storm", category="fleet"), near))[0] == "list"
    assert "weather" not in ids(search(Asked("boats in a storm", category="fleet"), near))
    assert ids(search(Asked("boats in a storm", module="weather"), near)) == ["weather"]
    assert ids(search(Asked("boats in a storm", type="guide"), near)) == ["weather"]
    assert ids(search(Asked("boats in a storm", category="ALL"), near))


def test_the_index_is_asked_for_what_was_cleaned() -> None:
    meaning = Hinting([])
    search(Asked("  boats\x00 \n at  sea " + "x" * MAX_QUERY_CHARACTERS, category=" Fleet "), meaning)
    assert meaning.asked[0].query.startswith("boats at sea x")
    assert len(meaning.asked[0].query) <= MAX_QUERY_CHARACTERS
    assert meaning.asked[0].category == "fleet"


@pytest.mark.parametrize("query", ["", "   ", "\x00"])
def test_nothing_asked_is_nothing_found(query: str) -> None:
    assert search(query) == SearchAnswer(())


def test_a_deprecated_entry_gives_its_place_to_what_replaces_it_and_is_named() -> None:
    near = Hinting([Near("harbour", "old", 0.9)])
    answer = search("lash the vessel", near)
    assert ids(answer) == ["moor"]
    assert answer.hits[0].instead_of is not None
    assert answer.hits[0].instead_of.id == "old"


def test_a_deprecated_entry_that_nothing_replaces_comes_last() -> None:
    assert ids(search("sink or moor a boat")) == ["moor", "gone"]
    assert ids(search("scuttle")) == ["gone"]


def test_each_entry_is_shown_once() -> None:
    found = ids(search(Asked("tie a boat", limit=20)))
    assert len(found) == len(set(found))
    assert "old" not in found


def test_people_who_do_not_speak_of_an_api_get_the_command_first() -> None:
    assert ids(search("all boats please"))[:2] == ["list", "api-list"]
    assert ids(search("api for all boats"))[0] == "api-list"
    assert ids(search(Asked("all boats please", type="api")))[0] == "api-list"


def test_an_exact_alias_comes_first_and_once() -> None:
    answer = search("every boat", Hinting([Near("harbour", "moor", 0.9), Near("harbour", "list", 0.5)]))
    assert ids(answer)[0] == "list"
    assert answer.hits[0].matched_by == "alias"
    assert ids(answer).count("list") == 1


def test_a_query_shaped_like_a_command_is_answered_by_its_name_or_not_at_all() -> None:
    meaning = Hinting([Near("harbour", "list", 0.99)])
    answer = search("tide boats lst", meaning)
    assert answer.hits == ()
    assert answer.shaped
    assert "tide boats list" in answer.suggestions
    assert meaning.asked == []
    assert ids(search("tide boats list", meaning)) == ["list"]


@pytest.mark.parametrize("kind", ["misspelt_commands", "recombined_commands", "plausible_commands", "endpoints"])
def test_names_that_do_not_exist_find_nothing_even_where_everything_is_near(kind: str) -> None:
    large = large_catalogue()
    near = Hinting([Near(large.name, placed.entry.id, 0.99) for placed in large.entries[::10]])
    reference = Reference(Standing((large,)), near)
    for name in islice(getattr(MadeUp(large), kind)(), 150):
        answer = reference.search(Asked(name))
        assert (answer.hits, answer.shaped) == ((), True), name
        assert len(answer.suggestions) <= SUGGESTIONS


def test_what_is_far_behind_the_best_is_left_out() -> None:
    near = Hinting([Near("harbour", "weather", 0.9), Near("harbour", "moor", 0.4), Near("harbour", "gone", 0.399)])
    assert ids(search("hurricane", near)) == ["weather"]


def test_no_more_than_asked_for_are_shown() -> None:
    assert len(search(Asked("boat", limit=2)).hits) == 2


def test_two_catalogues_are_searched_together_and_may_use_the_same_ids() -> None:
    other = catalogue("lighthouse", entry("weather", title="Fog horn", summary="How to sound it in fog."))
    answer = search("fog horn", Hinting([Near("lighthouse", "weather", 0.9)]), boats(), other)
    assert (answer.hits[0].catalogue.name, answer.hits[0].entry.id) == ("lighthouse", "weather")


def test_the_product_that_is_named_comes_first_where_several_are_served() -> None:
    one, two = (
        catalogue(name, command("list", f"{name} ls", title="List moorings", summary="List moorings."))
        for name in ("pier", "quay")
    )
    assert search("list moorings in quay", None, one, two).hits[0].catalogue.name == "quay"
    assert search("list moorings with pier", None, one, two).hits[0].catalogue.name == "pier"


def test_nearness_and_words_make_up_for_each_other() -> None:
    query = "sink an old bicycle"
    assert search(query, Hinting([Near("harbour", "gone", 0.2)])).hits == ()
    assert ids(search(query, Hinting([Near("harbour", "gone", 0.6)]))) == ["gone"]


def test_synonyms_of_a_catalogue_are_known() -> None:
    slang = boats().model_copy(update={"synonyms": {"moor": ["berth"]}})
    assert search("berth").hits == ()
    assert ids(search("berth", None, slang)) == ["moor"]


def test_another_edition_is_searched_as_soon_as_it_is_there() -> None:
    shelf = Standing((boats(),))
    reference = Reference(shelf)
    assert reference.search(Asked("fog horn")).hits == ()
    shelf.catalogues = (catalogue("harbour", entry("fog", title="Fog horn")),)
    assert reference.search(Asked("fog horn")).hits == ()
    shelf.version = "2"
    assert ids(reference.search(Asked("fog horn"))) == ["fog"]
    assert reference.version == "2"


def test_entries_are_read_by_catalogue_and_id() -> None:
    reference = Reference(Standing((boats(),)))
    found = reference.entry("harbour", "moor")
    assert found is not None
    assert found.entry.name == "tide boats moor"
    assert reference.entry("harbour", "none") is None
    assert reference.entry("other", "moor") is None


def test_a_gap_is_masked_before_it_is_kept() -> None:
    store = MemoryGaps(Clock())
    reference = Reference(Standing((boats(),)), None, store)
    reported = reference.report_gap("acme", "  boats of\n ann@example.com  ", note="token=abcdef123456")
    assert reported.count == 1
    assert "ann@" not in reported.query
    (gap,) = reference.gaps("acme")
    assert "ann@" not in gap.query
    assert "abcdef" not in str(gap.note)
    assert reference.gaps("other") == []


def test_without_a_list_of_gaps_none_is_kept() -> None:
    reference = Reference(Standing((boats(),)))
    assert reference.report_gap("acme", "boats").count is None
    assert list(reference.gaps("acme")) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("get all users", "cmd-gw-users-list"),
        ("list all users", "cmd-gw-users-list"),
        ("show all users", "cmd-gw-users-list"),
        ("display users", "cmd-gw-users-list"),
        ("list google users", "cmd-gw-users-list"),
        ("helios gw users list", "cmd-gw-users-list"),
        ("create group API", "api-post-groups"),
        ("remove a member from a group", "cmd-gw-groups-remove-member"),
    ],
)
def test_what_the_seed_asks_is_answered_by_words_alone(query: str, expected: str) -> None:
    assert ids(search(query, None, helios()))[0] == expected


# --- meaning through an engine


@dataclass
class Indexed:
    engine: EmbeddedEngine
    model: FakeEmbeddings
    meaning: VectorMeaning


@pytest.fixture
def indexed(tmp_path: Path) -> Iterator[Indexed]:
    model, whole = FakeEmbeddings(), boats()
    engine = EmbeddedEngine(tmp_path / "reference.sqlite", model)
    engine.replace(embed_records([record_of(whole, placed) for placed in whole.entries], model))
    yield Indexed(engine, model, VectorMeaning(engine, [model]))
    engine.close()


def test_the_index_names_what_is_near(indexed: Indexed) -> None:
    near = indexed.meaning.near(Asked("storm warnings before a gale"), 3)
    assert near is not None
    assert (near[0].catalogue, near[0].id) == ("harbour", "weather")
    assert list(near) == sorted(near, key=lambda one: -one.score)


def test_the_index_is_asked_under_the_same_conditions(indexed: Indexed) -> None:
    cases = {
        Asked("boats", category="fleet"): {"list", "moor", "old", "gone"},
        Asked("boats", type="api"): {"api-list"},
        Asked("boats", module="weather"): {"weather"},
    }
    for asked, admitted in cases.items():
        near = indexed.meaning.near(asked, 10)
        assert near is not None
        assert {one.id for one in near} <= admitted


def test_a_model_that_fails_is_no_error(indexed: Indexed) -> None:
    indexed.model.failing = True
    assert indexed.meaning.near(Asked("boats"), 3) is None
    assert ids(search("storm warnings", indexed.meaning)) == ["weather"]


def test_without_a_model_meaning_is_not_compared(indexed: Indexed) -> None:
    assert VectorMeaning(indexed.engine, []).near(Asked("boats"), 3) is None


def test_an_index_of_another_model_is_not_compared(indexed: Indexed) -> None:
    assert VectorMeaning(indexed.engine, [FakeEmbeddings("2")]).near(Asked("boats"), 3) is None


@pytest.mark.parametrize("asked_for", ["candidates", "model"])
def test_an_index_that_does_not_answer_is_no_error(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch, asked_for: str
) -> None:
    def away(*_: object) -> None:
        raise Unavailable("The index does not answer.")

    monkeypatch.setattr(EmbeddedEngine, asked_for, away)
    answer = search("storm warnings", indexed.meaning)
    assert ids(answer) == ["weather"]
    assert answer.fallback


def test_an_index_that_takes_the_place_of_another_while_it_is_asked_is_asked_again(tmp_path: Path) -> None:
    old, new, whole = FakeEmbeddings("1"), FakeEmbeddings("2"), boats()
    engine = EmbeddedEngine(tmp_path / "reference.sqlite", new)
    engine.replace(embed_records([record_of(whole, placed) for placed in whole.entries], new))
    told = iter([model_fingerprint(old)])
    changing = Changing(engine, lambda: next(told, model_fingerprint(new)))
    near = VectorMeaning(cast(Engine, changing), [new, old]).near(Asked("storm warnings"), 3)
    engine.close()
    assert near is not None
    assert near[0].id == "weather"


@dataclass
class Changing:
    """An engine that tells another model than it has at first."""

    inner: EmbeddedEngine
    model: Callable[[], str]

    def candidates(self, query: Query, vector: QueryVector | None, filters: Filters, size: int) -> Candidates:
        return self.inner.candidates(query, vector, filters, size)
