"""What is promised of look-ups on a large catalogue: names are found, mistakes are understood, nothing is made up."""

from functools import cache
from itertools import islice

import pytest

from commonplace.reference.lookup import Lookup
from commonplace.reference.model import Asked, Entry
from tests.examples import examples
from tests.reference_catalogue import catalogue
from tests.reference_files import helios, sample
from tests.reference_names import MadeUp, Random, with_one_edit
from tests.unit.reference.products import lookup_of

CATALOGUES = {"synthetic": catalogue, "helios": helios, "tidebook": sample}
MADE_UP = examples(100, soak=250)


@cache
def _lookup(name: str) -> Lookup:
    return lookup_of(CATALOGUES[name]())


def _entries(lookup: Lookup, *types: str) -> list[Entry]:
    return [kept.entry for kept in lookup.entries if kept.entry.type in types and lookup.current(kept) is kept]


def _found(lookup: Lookup, query: str) -> list[str]:
    """Ids of what a query names, as a search answers it before it compares words."""
    shaped = lookup.shaped(Asked(query))
    if shaped is None:
        exact = lookup.exact(Asked(query))
        return [exact.entry.id] if exact else []
    return [hit.entry.id for hit in shaped]


def test_the_large_catalogue_is_large() -> None:
    assert len(_lookup("synthetic").entries) >= 1000


@pytest.mark.parametrize("name", CATALOGUES)
def test_every_exact_name_finds_its_entry_first(name: str) -> None:
    lookup = _lookup(name)

    missed = [
        entry.called for entry in _entries(lookup, "command", "api") if _found(lookup, entry.called)[:1] != [entry.id]
    ]

    assert missed == []


@pytest.mark.parametrize("name", CATALOGUES)
def test_every_alias_finds_its_entry_first(name: str) -> None:
    lookup = _lookup(name)
    aliases = [(alias, entry.id) for entry in _entries(lookup, "command", "api") for alias in entry.aliases]

    assert aliases
    assert [alias for alias, id in aliases if _found(lookup, alias)[:1] != [id]] == []


def test_every_title_of_a_page_finds_it() -> None:
    lookup = _lookup("synthetic")
    pages = _entries(lookup, "guide", "feature", "troubleshooting", "setting")

    assert [page.title for page in pages if _found(lookup, page.title) != [page.id]] == []


def test_every_deprecated_name_finds_what_replaces_it() -> None:
    lookup = _lookup("synthetic")
    old = [kept for kept in lookup.entries if kept.entry.deprecated]

    assert len(old) >= 50
    for kept in old:
        hit = lookup.command(kept.entry.called).hit
        assert hit is not None
        assert (hit.entry.id, hit.instead_of) == (kept.entry.replaced_by, kept.entry)


@pytest.mark.parametrize("seed", range(1, 1 + examples(1, soak=10)))
@pytest.mark.parametrize("name", CATALOGUES)
def test_a_name_with_one_mistake_is_among_three_suggestions_in_95_of_100(name: str, seed: int) -> None:
    lookup, rng = _lookup(name), Random(seed)
    names = [entry.called for entry in _entries(lookup, "command", "api")]

    understood = [_understood(lookup, called, with_one_edit(called, rng)) for called in names]

    assert sum(understood) / len(names) >= 0.95


def _understood(lookup: Lookup, called: str, misspelt: str) -> bool:
    """A mistake may leave the beginning of the name, which finds it."""
    asked = Asked(misspelt)
    hits = [hit.entry.called for hit in lookup.shaped(asked) or ()]
    return called in (hits[:3] or lookup.suggest(misspelt, asked))


@pytest.mark.parametrize("name", CATALOGUES)
@pytest.mark.parametrize("kind", ["misspelt_commands", "recombined_commands", "plausible_commands", "endpoints"])
def test_what_does_not_exist_finds_nothing(kind: str, name: str) -> None:
    lookup = _lookup(name)
    made_up = list(islice(getattr(MadeUp(CATALOGUES[name]()), kind)(), MADE_UP))

    assert len(made_up) == MADE_UP
    assert [query for query in made_up if lookup.shaped(Asked(query)) != ()] == []
    assert [query for query in made_up if _answers(lookup, query, endpoint=kind == "endpoints")] == []


def _answers(lookup: Lookup, query: str, *, endpoint: bool) -> bool:
    if endpoint:
        return bool(lookup.endpoint(query).hits)
    answer = lookup.command(query)
    return answer.hit is not None or bool(answer.beginning)
