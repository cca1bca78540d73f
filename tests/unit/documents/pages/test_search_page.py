"""The search page."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from commonplace.search.fitness import NOTHING_FITS
from commonplace.search.model import SearchRequest, SearchResults
from tests.fakes.search import FakeSearch, hit
from tests.unit.documents.pages.conftest import World

FOUND = (
    hit("pattern", "rotating-stewardship", snippet="Every season the <circle> asks.", marks=((6, 12),)),
    hit("practice", "seed-swap"),
)


class Corrected(FakeSearch):
    """Knows a better word."""

    def search(self, request: SearchRequest) -> SearchResults:
        return replace(super().search(request), suggestion="season")


@pytest.fixture
def found(world: World) -> World:
    return World(world.store, Corrected(*FOUND))


def test_results_show_the_passage_with_what_was_found_marked(found: World) -> None:
    page = found.client().get("/search?q=saeson").text
    assert "2 results" in page
    assert "Every <mark>season</mark> the &lt;circle&gt; asks." in page
    assert 'href="/d/pattern/rotating-stewardship">Rotating stewardship</a>' in page
    assert '<input id="q" type="search" name="q" value="saeson"' in page


def test_a_correction_is_a_link_that_keeps_the_filters(found: World) -> None:
    page = found.client().get("/search?q=saeson&group=seed-library").text
    assert 'Did you mean <a href="/search?q=season&amp;group=seed-library">season</a>?' in page


def test_what_results_have_in_common_narrows_them(found: World) -> None:
    client = found.client()
    page = client.get("/search?q=season").text
    assert 'href="/search?q=season&amp;type=pattern"' in page
    assert 'href="/search?q=season&amp;tag=roles"' in page
    assert 'href="/search?q=season&amp;release=first-harvest"' in page
    assert "tag=governance" not in page, "both bear it"


def test_filters_reach_the_search_and_can_be_taken_off(found: World) -> None:
    page = found.client().get("/search?q=season&type=resource&tag=roles&tag=governance&release=first-harvest").text
    asked = found.search.asked[-1].filters
    assert {"pattern", "practice"} <= set(asked.content_types)
    assert (asked.tags_all, asked.releases) == (("roles", "governance"), ("first-harvest",))
    wider = "/search?q=season&amp;type=resource&amp;release=first-harvest&amp;tag=governance"
    assert f'href="{wider}" aria-current="true">roles' in page


def test_values_are_read_as_rest_reads_them(found: World) -> None:
    page = found.client().get("/search?q=season&type=Patterns&group=Seed Library&author=rosa lind&tag=Roles").text
    asked = found.search.asked[-1].filters
    assert (asked.content_types, asked.groups, asked.authors) == (("pattern",), ("seed-library",), ("Rosa Lind",))
    assert asked.tags_all == ("roles",)
    assert '<input type="hidden" name="author" value="rosa lind">' in page


def test_a_value_that_no_document_has_is_named_with_the_nearest(client: TestClient) -> None:
    page = client.get("/search?tag=governence").text
    assert "0 documents" in page
    assert "No tag is called governence; did you mean governance?" in page


def test_authors_and_statuses_narrow_too(found: World, client: TestClient) -> None:
    assert 'href="/search?q=season&amp;author=Rosa+Lind">Rosa Lind' in found.client().get("/search?q=season").text
    page = client.get("/search?status=paused").text
    assert "1 document<" in page.replace("\n", "<")
    assert 'href="/d/project/old-orchard"' in page


def test_parameters_of_other_names_are_ignored_on_a_page(client: TestClient) -> None:
    assert client.get("/search?q=x&utm_source=newsletter").status_code == 200


def test_it_is_the_search_of_every_interface(found: World) -> None:
    found.client().get("/search?q=season")
    asked = found.search.asked[-1]
    assert (asked.query, asked.mode, asked.rerank, asked.collapse, asked.limit) == ("season", "hybrid", True, True, 20)


def test_more_results_are_on_the_next_page(world: World) -> None:
    hits = [hit("pattern", "rotating-stewardship") for _ in range(15)]
    client = World(world.store, FakeSearch(*hits)).client()
    assert 'rel="next" href="/search?q=x&amp;page=2"' in client.get("/search?q=x").text
    assert "Page 2 of 2" in client.get("/search?q=x&page=2").text
    assert client.get("/search?q=x&page=3").status_code == 404


def test_where_nothing_is_found_something_near_is_offered(client: TestClient) -> None:
    page = client.get("/search?q=rotating+stewardshp&type=pattern").text
    assert "No results for “rotating stewardshp”" in page
    assert 'href="/d/pattern/rotating-stewardship"' in page
    assert 'href="/search?q=rotating+stewardshp"' in page, "without filters"
    assert 'href="/t/governance"' in page


def test_weak_matches_stand_under_a_heading_below_the_sentence_that_nothing_fits(world: World) -> None:
    search = FakeSearch(hit("pattern", "rotating-stewardship", fit="weak"))
    search.hint = NOTHING_FITS
    page = World(world.store, search).client().get("/search?q=mortgage").text
    places = ["No results for “mortgage”", "Nothing here is about this", "Weak matches", 'class="cards"']
    assert [page.index(place) for place in places] == sorted(page.index(place) for place in places)
    assert 'href="/d/pattern/rotating-stewardship"' in page


def test_without_a_question_documents_are_browsed_and_counted(client: TestClient, world: World) -> None:
    page = client.get("/search?tag=governance").text
    assert "2 documents" in page
    assert 'href="/d/practice/seed-swap"' in page
    assert 'href="/search?type=pattern&amp;tag=governance"' in page
    assert world.search.asked == []


def test_without_anything_the_newest_documents_and_their_facets_are_shown(client: TestClient, world: World) -> None:
    page = client.get("/search").text
    assert "documents, newest first" in page
    assert 'href="/search?type=pattern"' in page
    assert page.index('href="/d/practice/seed-swap"') < page.index('href="/d/tag/governance"'), "2025 before 2024"
    assert world.search.asked == []


def test_a_question_for_a_list_is_answered_with_one_that_says_so(client: TestClient, world: World) -> None:
    page = client.get("/search?q=all+patterns").text
    assert "type pattern" in page
    assert 'href="/d/pattern/rotating-stewardship"' in page
    assert 'href="/d/practice/seed-swap"' not in page
    assert world.search.asked == []


def test_an_index_that_is_away_is_said_and_lists_go_on(world: World) -> None:
    world.search.unreachable = True
    client = world.client()
    page = client.get("/search?q=rotating")
    assert (page.status_code, page.headers["retry-after"], page.headers["cache-control"]) == (503, "7", "no-store")
    assert "Search is not available now" in page.text
    assert 'href="/types"' in page.text
    assert client.get("/search?type=pattern").status_code == 200


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"q": "x" * 1001}, "at most 1000"),
        ({"q": "x", "tag": "y" * 201}, "at most 200"),
        ({"q": "x", "tag": [f"t{number}" for number in range(21)]}, "At most 20 tags"),
        ({"q": "x", "type": "nonsense"}, "pattern"),
    ],
)
def test_input_beyond_its_bounds_is_told_what_is_valid(client: TestClient, query: dict[str, str], told: str) -> None:
    page = client.get("/search", params=query)
    assert page.status_code == 422
    assert told in page.text


def test_crawlers_are_kept_from_results(client: TestClient) -> None:
    assert '<meta name="robots" content="noindex">' in client.get("/search?q=x").text
