"""What may be asked of a search and what it answers: pages, highlights, whole documents, corrections, errors."""

import json
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace.search.filters import Filters
from commonplace.search.model import RecordId
from commonplace.web.representations import MAX_ANSWER_BYTES
from commonplace.web.rest.app import CACHEABLE
from tests.fakes.library import FakeLibrary, garden, make
from tests.fakes.search import hit
from tests.unit.documents.rest.conftest import World
from tests.unit.documents.rest.told import GARDEN, ToldSearch

SEARCH = "/api/v1/search"
REFS = list(GARDEN)


def told(*refs: str, **members: Any) -> World:
    """The garden, whose search finds these documents."""
    hits = [hit(*ref.split("/", 1), score=1 - number / 100) for number, ref in enumerate(refs)]
    return World(FakeLibrary(garden()), ToldSearch(*hits, **members))


def shown(answer: dict[str, Any]) -> list[str]:
    return [f"{one['contentType']}/{one['id']}" for one in answer["results"]]


def test_parameters_reach_the_search_as_they_were_meant() -> None:
    world = told(*REFS)
    client = world.client()
    client.get(SEARCH, params={"q": "x"})
    client.get(SEARCH, params={"q": "x", "rerank": "false", "collapse": "false", "include": "documents"})
    client.get(SEARCH, params={"q": "x", "mode": "lexical", "limit": 100})
    plain, other, words = world.search.asked
    assert (plain.mode, plain.rerank, plain.collapse, plain.documents, plain.explain) == (
        *("hybrid", True, True, False, False),
    )
    assert (other.rerank, other.collapse, other.documents) == (False, False, True)
    assert (words.mode, words.limit, words.after) == ("lexical", 100, None)


def test_a_search_asks_for_spares_and_never_for_more_candidates_than_there_are() -> None:
    world = told(*REFS)
    client = world.client()
    for limit in (1, 20):
        client.get(SEARCH, params={"q": "x", "limit": limit})
    assert [request.limit for request in world.search.asked] == [6, 20]


def test_pages_of_a_search_by_words_hold_every_document_once() -> None:
    client = told(*REFS).client()
    pages, link = [], f"{SEARCH}?q=a%20garden&tags=x&tags=y&mode=lexical&limit=4"
    while link:
        answer = client.get(link)
        pages.append(shown(answer.json()))
        assert (answer.json()["total"], answer.json()["totalRelation"]) == (len(REFS), "exact")
        link = answer.links["next"]["url"] if answer.json()["nextCursor"] else ""
    assert [len(page) for page in pages] == [4, 4, 3]
    assert [ref for page in pages for ref in page] == REFS


def test_the_last_page_has_no_next_one() -> None:
    answer = told(*REFS).client().get(SEARCH, params={"q": "x", "mode": "lexical", "limit": 20})
    assert answer.json()["nextCursor"] is None
    assert "link" not in answer.headers


def test_a_cursor_goes_on_with_another_limit_and_with_highlights() -> None:
    client = told(*REFS).client()
    first = client.get(SEARCH, params={"q": "x", "mode": "lexical", "limit": 2}).json()
    more = {"q": "x", "mode": "lexical", "limit": 3, "highlight": "true", "cursor": first["nextCursor"]}
    assert shown(client.get(SEARCH, params=more).json()) == REFS[2:5]


@pytest.mark.parametrize(
    "changed", [{"q": "y"}, {"tags": "roles"}, {"contentType": "tag"}, {"dateTo": "2026-01-01"}, {"cursor": "AAAA"}]
)
def test_a_cursor_of_another_search_is_400_and_says_what_to_do(changed: dict[str, str]) -> None:
    world = told(*REFS)
    client = world.client()
    first = client.get(SEARCH, params={"q": "x", "mode": "lexical", "limit": 2}).json()
    asked = {"q": "x", "mode": "lexical", "cursor": first["nextCursor"]} | changed
    answer = client.get(SEARCH, params=asked)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "BAD_REQUEST")
    assert answer.json()["error"]["details"]["field"] == "cursor"
    assert "start again" in answer.json()["error"]["details"]["hint"]
    assert len(world.search.asked) == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=21", "limit"),
        ("limit=101&mode=lexical", "limit"),
        ("limit=21&mode=lexical&include=documents", "limit"),
        ("mode=semantic", "mode"),
        ("cursor=AAAA", "cursor"),
        ("cursor=AAAA&mode=hybrid", "cursor"),
        ("mode=lexical&cursor=", "cursor"),
        ("mode=lexical&cursor=" + "A" * 1001, "cursor"),
        ("include=everything", "include.0"),
        ("highlight=perhaps", "highlight"),
        ("rerank=perhaps", "rerank"),
        ("expect=tag/governance", "expect"),
        ("explain=true&expect=governance", "expect"),
    ],
)
def test_what_does_not_fit_is_422_and_names_the_parameter(query: str, field: str) -> None:
    world = told(*REFS)
    answer = world.client().get(f"{SEARCH}?q=x&{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "INVALID_INPUT")
    (named,) = answer.json()["error"]["details"]["fields"]
    assert (named["in"], named["field"]) == ("query", field)
    assert named["message"]
    assert world.search.asked == []


def test_total_counts_candidates_or_with_words_alone_every_match() -> None:
    hybrid = told("tag/governance", total=20).client().get(SEARCH, params={"q": "x"}).json()
    words = told("tag/governance", total=57, fallback=True).client().get(SEARCH, params={"q": "x"}).json()
    assert (hybrid["total"], hybrid["totalRelation"]) == (20, "candidates")
    assert (words["total"], words["totalRelation"]) == (57, "exact")


def test_highlights_are_html_and_come_on_request_only() -> None:
    world = told()
    world.search.hits = (hit("tag", "governance", snippet="Who <decides> & how", marks=((5, 12),)),)
    client = world.client()
    (plain,) = client.get(SEARCH, params={"q": "decides"}).json()["results"]
    (marked,) = client.get(SEARCH, params={"q": "decides", "highlight": "true"}).json()["results"]
    assert "highlight" not in plain
    assert marked["highlight"] == "Who &lt;<mark>decides</mark>&gt; &amp; how"
    assert marked["snippet"] == plain["snippet"] == "Who <decides> & how"


def test_whole_documents_are_those_of_their_own_address() -> None:
    client = told("tag/governance", "pattern/rotating-stewardship").client()
    answer = client.get(SEARCH, params={"q": "x", "include": "documents"}).json()
    for one in answer["results"]:
        assert one["document"] == client.get(f"/api/v1/entries/{one['contentType']}/{one['id']}").json()
    assert answer["documentsLeftOut"] == []


def test_documents_come_on_request_only() -> None:
    answer = told("tag/governance").client().get(SEARCH, params={"q": "x"}).json()
    assert "document" not in answer["results"][0]
    assert "documentsLeftOut" not in answer


def test_a_document_that_has_gone_leaves_its_place_empty() -> None:
    world = told("tag/governance", "practice/seed-swap")
    world.search.hits = (hit("file", "gone-missing"), *world.search.hits)
    world.store.publish([*garden(), make("file", "gone-missing", "gone.md")])
    answer = world.client().get(SEARCH, params={"q": "x", "include": "documents"}).json()
    assert [one["document"] and one["document"]["id"] for one in answer["results"]] == [
        *(None, "governance", "seed-swap")
    ]
    assert answer["documentsLeftOut"] == []


def test_documents_that_do_not_fit_are_named_and_smaller_ones_after_them_are_there() -> None:
    tomes = [make("file", f"tome-{number}", f"tome-{number}.md", content="é" * 900_000) for number in range(3)]
    small = make("file", "leaflet", "leaflet.md")
    hits = [hit("file", document.id, document=document) for document in (*tomes, small)]
    world = World(FakeLibrary([*tomes, small]), ToldSearch(*hits))
    answer = world.client().get(SEARCH, params={"q": "x", "include": "documents"})
    assert (answer.status_code, len(answer.content) < MAX_ANSWER_BYTES) == (200, True)
    assert answer.json()["documentsLeftOut"] == ["file/tome-2"]
    documents = [one["document"] and one["document"]["id"] for one in answer.json()["results"]]
    assert documents == ["tome-0", "tome-1", None, "leaflet"]


def test_an_answer_full_of_documents_uses_the_room_there_is_and_no_more() -> None:
    documents = [make("file", f"n-{number:02}", f"n-{number}.md", content="x" * 210_000) for number in range(20)]
    hits = [hit("file", document.id, document=document, snippet="y" * 300) for document in documents]
    world = World(FakeLibrary(documents), ToldSearch(*hits))
    answer = world.client().get(SEARCH, params={"q": "x", "include": "documents", "limit": 20, "highlight": "true"})
    assert 3_700_000 < len(answer.content) <= 4_000_000
    assert len(answer.json()["documentsLeftOut"]) == sum(one["document"] is None for one in answer.json()["results"])


def test_a_correction_is_offered_as_the_search_gave_it() -> None:
    answer = told(suggestion="governance").client().get(SEARCH, params={"q": "governence"}).json()
    assert answer["suggestion"] == "governance"


def test_a_document_that_the_index_knows_before_the_manifest_at_hand_is_shown() -> None:
    world = told("tag/governance", "tag/brand-new")
    client = world.client()
    assert shown(client.get(SEARCH, params={"q": "x"}).json()) == ["tag/governance"]
    world.store.publish([*garden(), make("tag", "brand-new", "tags/brand-new.md")])
    assert shown(client.get(SEARCH, params={"q": "y"}).json()) == ["tag/governance", "tag/brand-new"]


def test_no_correction_comes_from_an_index_that_is_behind_the_store() -> None:
    world = told("tag/governance", suggestion="withdrawn words")
    world.search.hits = (hit("file", "withdrawn"), *world.search.hits)
    answer = world.client().get(SEARCH, params={"q": "x"}).json()
    assert (answer["suggestion"], shown(answer)) == (None, ["tag/governance"])


def test_duplicates_are_named_as_far_as_they_are_published() -> None:
    world = told("tag/governance")
    near = (RecordId("practice/seed-swap"), RecordId("file/withdrawn"))
    world.search.hits = tuple(replace(one, duplicates=near) for one in world.search.hits)
    (one,) = world.client().get(SEARCH, params={"q": "x"}).json()["results"]
    assert one["duplicates"] == ["practice/seed-swap"]


def test_a_result_says_which_file_it_is_of() -> None:
    world = told("tag/governance")
    world.search.hits = tuple(replace(one, source_url="https://example.org/x.md") for one in world.search.hits)
    (one,) = world.client().get(SEARCH, params={"q": "x"}).json()["results"]
    assert one["sourceUrl"] == "https://example.org/x.md"


def test_a_search_may_be_cached_like_any_answer(client: TestClient) -> None:
    headers = client.get(SEARCH, params={"q": "x", "highlight": "true"}).headers
    assert headers["cache-control"] == CACHEABLE
    assert headers["vary"] == "Accept-Encoding"


def test_an_answer_without_meaning_is_cached_no_longer_than_half_a_minute() -> None:
    headers = told("tag/governance", fallback=True).client().get(SEARCH, params={"q": "x"}).headers
    assert headers["cache-control"] == "public, max-age=30"


def test_filters_of_a_search_by_words_are_those_of_any_search() -> None:
    world = told(*REFS)
    world.client().get(f"{SEARCH}?q=x&mode=lexical&contentType=tag&pathPrefix=docs")
    assert world.search.asked[0].filters == Filters(content_types=("tag",), path_prefix="docs/")


def test_a_text_that_utf_8_cannot_carry_is_answered_all_the_same() -> None:
    world = told()
    world.search.hits = (hit("tag", "governance", snippet="\udc80 <", marks=((0, 1),)),)
    answer = world.client().get(SEARCH, params={"q": "x", "highlight": "true"})
    assert json.loads(answer.content)["results"][0]["highlight"] == "<mark>\udc80</mark> &lt;"


def test_without_a_query_the_documents_of_the_filters_are_listed_newest_first() -> None:
    world = told("pattern/rotating-stewardship")
    answer = world.client().get(SEARCH, params={"limit": 100}).json()
    assert len(answer["results"]) == answer["total"] == len(REFS)
    dates = [one["date"] or "" for one in answer["results"]]
    assert dates == sorted(dates, reverse=True)
    assert (answer["totalRelation"], answer["nextCursor"], {one["score"] for one in answer["results"]}) == (
        "exact",
        None,
        {1},
    )
    only = world.client().get(SEARCH, params={"contentType": "pattern,tag"}).json()
    assert {one["contentType"] for one in only["results"]} == {"pattern", "tag"}
    assert world.search.asked == []


@pytest.mark.parametrize("q", ["", "all documents"])
def test_a_list_is_paged_by_a_cursor_and_a_link(q: str) -> None:
    client, found, link = told("pattern/rotating-stewardship").client(), [], f"{SEARCH}?limit=3&q={q}"
    while link:
        answer = client.get(link)
        found += shown(answer.json())
        link = answer.links.get("next", {}).get("url", "")
    assert sorted(found) == sorted(REFS)


def test_a_question_for_a_list_is_a_list_and_says_so_but_pages_of_words_are_a_search() -> None:
    world = told("pattern/rotating-stewardship")
    answer = world.client().get(SEARCH, params={"q": "all patterns"}).json()
    assert {one["contentType"] for one in answer["results"]} == {"pattern"}
    assert "type pattern" in answer["hints"][0]
    assert world.search.asked == []
    world.client().get(SEARCH, params={"q": "all patterns", "mode": "lexical"})
    assert len(world.search.asked) == 1


def test_the_texts_of_a_list_are_given_where_they_are_asked_for() -> None:
    answer = told().client().get(SEARCH, params={"q": "all patterns", "include": "documents"}).json()
    assert answer["results"]
    assert all(one["document"]["content"] for one in answer["results"])
