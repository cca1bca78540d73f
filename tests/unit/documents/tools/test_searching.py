"""`search_knowledge` and `search_with_documents`: what they ask for, what they say, and how they go on."""

import re
from dataclasses import replace
from typing import Any

import pytest

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.tools import search
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.search.filters import Filters
from commonplace.search.fitness import NOTHING_FITS
from commonplace.search.model import SearchRequest
from commonplace.web.mcp.budgets import DOCUMENT_TOKENS
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Answer
from commonplace.web.mcp.rendering import compact, cost
from commonplace.web.mcp.server import build_server
from tests.fakes.library import make
from tests.fakes.search import FakeSearch, hit
from tests.unit.documents.rest.told import GARDEN
from tests.unit.documents.tools.calling import ORIGIN, called, data
from tests.unit.documents.tools.worlds import World, finding, world
from tests.unit.web.mcp.talking import call

REFS = list(GARDEN)
STEWARDSHIP = "pattern/rotating-stewardship"
MANY = 15


def search_knowledge(at: World, query: str = "who carries what", **asked: Any) -> Answer:
    return called(search.tools(at.services()), "search_knowledge", query=query, **asked)


def whole(at: World, query: str = "who carries what", **asked: Any) -> Answer:
    return called(search.tools(at.services()), "search_with_documents", query=query, **asked)


def shown(answer: Answer) -> list[str]:
    return [f"{one['contentType']}/{one['id']}" for one in data(answer)["results"]]


def crowd() -> World:
    """Fifteen documents, all found."""
    made = world([make("file", f"n{number:02}", f"n{number:02}.md") for number in range(MANY)], graph=None)
    made.search = FakeSearch(*(hit("file", f"n{number:02}", score=1 - number / 100) for number in range(MANY)))
    return made


def test_a_hit_says_what_it_is_where_it_matched_and_what_to_cite() -> None:
    at = world()
    at.search.hits = (replace(hit(*STEWARDSHIP.split("/"), source_url="https://git.example/s.md"), date="2026-02-14"),)
    at.search.total = 1
    answer = search_knowledge(at)
    assert data(answer) == {
        "total": 1,
        "totalRelation": "candidates",
        "truncated": False,
        "results": [
            {
                "contentType": "pattern",
                "id": "rotating-stewardship",
                "title": "rotating-stewardship",
                "description": "How a circle passes its responsibilities on every season.",
                "heading": "Rotating stewardship › Seasons",
                "snippet": "Every season the circle asks who carries what.",
                "score": 0.75,
                "fit": "fair",
                "date": "2026-02-14",
                "author": ["Rosa Lind"],
                "path": "artifacts/patterns/rotating-stewardship.md",
                "documentUrl": f"{ORIGIN}/d/{STEWARDSHIP}",
            }
        ],
    }
    assert [(link.uri, link.name) for link in answer.links] == [
        (f"mcp://superbenefit/documents/{STEWARDSHIP}", STEWARDSHIP)
    ]


def test_the_text_says_the_same_as_the_data() -> None:
    at = finding(STEWARDSHIP, "tag/governance", total=20, suggestion="who carries that")
    answer = search_knowledge(at, filters={"limit": 1})
    (one,) = data(answer)["results"]
    for said in (one["title"], STEWARDSHIP, one["heading"], one["snippet"], one["documentUrl"]):
        assert said in answer.text
    assert "Result 1 of the 20 best candidates" in answer.text
    assert "who carries that" in answer.text
    assert data(answer)["nextCursor"] in answer.text


def test_what_matters_most_stands_in_the_first_kilobyte() -> None:
    at = finding(*REFS, total=20, suggestion="a garden")
    answer = search_knowledge(at, "x" * 900)
    start = answer.text.encode()[:1024].decode()
    for said in ("of the 20 best candidates", "more were not shown", data(answer)["nextCursor"], "a garden"):
        assert said in start


def test_a_document_is_cited_where_the_deployment_says_that_people_read_it() -> None:
    at = finding("tag/governance")
    using = at.services(addresses=DocumentAddresses("https://pages.example.org/{id}.{type}"))
    (one,) = data(called(search.tools(using), "search_knowledge", query="roles"))["results"]
    assert one["documentUrl"] == "https://pages.example.org/governance.tag"


def test_what_a_document_is_about_is_linked_beside_its_source() -> None:
    at = world()
    at.search.hits = (hit("link", "seed-atlas", url="https://example.org/atlas"),)
    answer = search_knowledge(at)
    assert data(answer)["results"][0]["link"] == "https://example.org/atlas"
    assert "<https://example.org/atlas>" in answer.text


def test_pages_follow_each_other_until_the_ranking_ends() -> None:
    at, told, cursor = crowd(), [], None
    for _ in range(MANY):
        answer = data(search_knowledge(at, cursor=cursor, filters={"limit": 4}))
        told.append([one["id"] for one in answer["results"]])
        cursor = answer.get("nextCursor")
        assert answer["truncated"] is (cursor is not None)
        if cursor is None:
            break
    assert [len(page) for page in told] == [4, 4, 4, 3]
    assert [name for page in told for name in page] == [f"n{number:02}" for number in range(MANY)]


def test_a_cursor_goes_on_with_another_limit() -> None:
    at = crowd()
    cursor = data(search_knowledge(at, filters={"limit": 2}))["nextCursor"]
    assert shown(search_knowledge(at, cursor=cursor, filters={"limit": 3})) == ["file/n02", "file/n03", "file/n04"]


@pytest.mark.parametrize("changed", [{"query": "y"}, {"filters": {"limit": 2, "tags": ["z"]}}, {"cursor": "AAAA"}])
def test_a_cursor_of_another_search_is_refused(changed: dict[str, Any]) -> None:
    at = crowd()
    cursor = data(search_knowledge(at, filters={"limit": 2}))["nextCursor"]
    with pytest.raises(InvalidInput, match="handle"):
        search_knowledge(at, **({"cursor": cursor, "filters": {"limit": 2}} | changed))


def test_what_is_no_longer_published_is_neither_shown_nor_counted() -> None:
    at = finding("file/gone", *REFS[:7], suggestion="gone")
    answer = search_knowledge(at)
    assert shown(answer) == REFS[:5]
    assert data(answer)["total"] == 7
    assert "suggestion" not in data(answer)


def test_pages_pass_over_what_is_no_longer_published() -> None:
    at = finding(*(f"file/gone-{number}" for number in range(5)), *REFS[:10])
    first = search_knowledge(at)
    second = search_knowledge(at, cursor=data(first)["nextCursor"])
    assert shown(first) + shown(second) == REFS[:10]
    assert (data(first)["truncated"], data(second)["truncated"]) == (True, False)
    assert "Results 6 to 10 of the 10 best candidates" in second.text


def test_a_search_asks_for_spares_and_never_for_more_than_the_ranking_holds() -> None:
    at = finding(*REFS)
    for limit in (1, 20):
        search_knowledge(at, filters={"limit": limit})
    assert [request.limit for request in at.search.asked] == [6, 20]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ({"contentType": ["pattern"]}, Filters(content_types=("pattern",))),
        ({"contentType": ["Patterns"]}, Filters(content_types=("pattern",))),
        ({"contentType": ["concept, link"]}, Filters(content_types=("tag", "link"))),
        ({"contentType": ["concept", "link"]}, Filters(content_types=("tag", "link"))),
        ({"contentType": [" ", ""]}, Filters()),
        ({"contentType": ["resource"]}, Filters(content_types=ONTOLOGY.expand("resource"))),
        ({"group": "seed-library"}, Filters(groups=("seed-library",))),
        ({"group": "Seed Library"}, Filters(groups=("seed-library",))),
        ({"group": "The kitchen"}, Filters(groups=("kitchen",))),
        ({"release": "First Harvest"}, Filters(releases=("first-harvest",))),
        ({"tags": ["#Governance", "roles"]}, Filters(tags_all=("governance", "roles"))),
        ({"group": "nobody"}, Filters(groups=("nobody",))),
        ({"status": "Paused"}, Filters(statuses=("paused",))),
        ({"author": "nobody"}, Filters(authors=("nobody",))),
        ({"dateFrom": "2025-03-21", "dateTo": "2025-03-22"}, Filters(date_from="2025-03-21", date_to="2025-03-22")),
        ({"dateFrom": "2024", "dateTo": "2024-02"}, Filters(date_from="2024-01-01", date_to="2024-02-29")),
        ({"dateFrom": "2025-3-1T10:00:00Z"}, Filters(date_from="2025-03-01")),
        ({"group": " ", "tags": [""], "dateTo": ""}, Filters()),
    ],
)
def test_conditions_are_understood_in_the_spelling_they_come_in(asked: dict[str, Any], meant: Filters) -> None:
    at = finding()
    search_knowledge(at, filters=asked)
    assert at.search.asked[0].filters == meant


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"contentType": ["patern"]}, "pattern"),
        ({"contentType": ["pattern,poem"]}, "known types"),
        ({"dateFrom": "last week"}, "YYYY-MM-DD"),
        ({"dateTo": "2025-02-30"}, "YYYY-MM-DD"),
    ],
)
def test_a_condition_that_cannot_be_met_says_what_can(asked: dict[str, Any], named: str) -> None:
    at = finding()
    with pytest.raises(InvalidInput) as refused:
        search_knowledge(at, filters=asked)
    assert named in (refused.value.hint or "")
    assert at.search.asked == []


@pytest.mark.parametrize("asked", [{}, {"query": ""}, {"query": " \n"}, {"query": None}, {"query": "newest documents"}])
def test_without_a_subject_the_newest_are_listed(asked: dict[str, Any]) -> None:
    at = finding(STEWARDSHIP)
    answer = called(search.tools(at.services()), "search_knowledge", **asked)
    dates = [one["date"] for one in data(answer)["results"] if "date" in one]
    assert dates == sorted(dates, reverse=True)
    assert data(answer)["total"] == len(REFS)
    assert data(answer)["totalRelation"] == "exact"
    assert "newest first" in data(answer)["hints"][0]
    assert f"Results 1 to 5 of {len(REFS)}" in answer.text
    assert at.search.asked == []


def test_a_list_goes_on_to_its_end_and_beyond_what_a_search_compares() -> None:
    at, told, cursor = world([make("file", f"n{number:02}", f"n{number:02}.md") for number in range(30)]), [], None
    for _ in range(30):
        answer = data(called(search.tools(at.services()), "search_knowledge", query="all documents", cursor=cursor))
        told += [one["id"] for one in answer["results"]]
        if (cursor := answer.get("nextCursor")) is None:
            break
    assert told == [f"n{number:02}" for number in range(30)]


def test_several_types_and_other_filters_narrow_a_list() -> None:
    answer = called(search.tools(world().services()), "search_knowledge", filters={"contentType": ["pattern", "tag"]})
    assert set(shown(answer)) == {ref for ref in REFS if ref.startswith(("pattern/", "tag/"))}
    answer = called(search.tools(world().services()), "search_knowledge", filters={"author": "nobody"})
    assert data(answer)["results"] == []
    assert any("No author is called `nobody`" in hint for hint in data(answer)["hints"])


def test_a_list_in_words_has_its_texts_where_those_are_asked_for() -> None:
    answer = whole(world(), "all patterns")
    assert [one["content"].strip() for one in data(answer)["results"]] == [
        GARDEN[DocumentRef(STEWARDSHIP)].content.strip()
    ]


def test_a_newcomer_gets_the_way_in_first_and_what_was_found_after_it() -> None:
    at = finding(STEWARDSHIP, "index/garden", total=2)
    assert shown(search_knowledge(at, "where do I start?")) == ["index/garden", STEWARDSHIP]
    assert data(search_knowledge(at, "where do I start?"))["total"] == 2
    at.search.hits = ()
    assert shown(search_knowledge(at, "how do I join")) == ["index/garden"]
    assert shown(search_knowledge(at, "how do I join", filters={"contentType": ["tag"]})) == []


def test_text_that_cannot_be_said_in_utf_8_is_answered_all_the_same() -> None:
    at = finding(suggestion=None)
    answer = search_knowledge(at, "\ud800 \x00 pool", filters={"group": "\udfff", "tags": ["\ud800"]})
    assert (answer.text + compact(data(answer))).encode()
    assert at.search.asked[0].query.encode()
    assert at.search.asked[0].filters.groups == ("?",)


def test_weak_matches_stand_marked_below_the_sentence_that_nothing_fits() -> None:
    at = finding(STEWARDSHIP)
    at.search.hits = tuple(replace(one, fit="weak") for one in at.search.hits)
    at.search.hint = NOTHING_FITS
    answer = search_knowledge(at, "mortgage rates")
    assert answer.text.startswith(f'No results, 1 weak match for "mortgage rates".\n{NOTHING_FITS}\n')
    assert "1. **rotating-stewardship** (weak match, `pattern/rotating-stewardship`" in answer.text
    assert data(answer)["hints"][0] == NOTHING_FITS
    assert [one["fit"] for one in data(answer)["results"]] == ["weak"]


def test_nothing_found_says_what_to_try() -> None:
    answer = search_knowledge(finding(suggestion="governance"), "governanse")
    assert answer.text.startswith('No results for "governanse".')
    assert 'Did you mean "governance"?' in answer.text
    assert "Terms of the lexicon like it: Governance." in data(answer)["hints"]
    for hint in data(answer)["hints"]:
        assert hint in answer.text


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ({"group": "sed-library"}, "No group is called `sed-library`; did you mean `seed-library`? There are: "),
        ({"release": "spring"}, "No release is called `spring`. There are: first-harvest."),
        ({"status": "pausd"}, "No status is called `pausd`; did you mean `paused`?"),
        ({"tags": ["role"]}, "No tag is called `role`; did you mean `roles`? There are: "),
    ],
)
def test_a_value_that_no_document_has_is_answered_with_those_that_some_have(asked: dict[str, Any], hint: str) -> None:
    (told, *_) = data(search_knowledge(finding(), filters=asked))["hints"]
    assert told.startswith(hint)


def test_a_search_by_words_alone_says_so_and_where_it_ends() -> None:
    answer = search_knowledge(finding(*REFS[:3], total=57, fallback=True), filters={"limit": 20})
    assert (data(answer)["total"], data(answer)["totalRelation"], data(answer)["truncated"]) == (57, "exact", True)
    assert len(data(answer)["hints"]) == 2


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"total": 57, "fallback": True}, "Results 1 to 3 of the 57 documents that have its words"),
        ({"total": 20}, "Results 1 to 3 of the 20 best candidates"),
        ({"total": 3}, "Results 1 to 3 of the 3 best candidates"),
    ],
)
def test_what_is_counted_is_said(told: dict[str, Any], said: str) -> None:
    assert search_knowledge(finding(*REFS[:3], **told)).text.startswith(said)


def test_one_candidate_is_no_count_of_what_there_is() -> None:
    assert search_knowledge(finding(REFS[0])).text.startswith("The only candidate for ")


def test_a_result_says_who_wrote_it_and_how_far_it_is() -> None:
    document = make("file", "it", "notes/it.md", author=["Ada", "Grace"], status="draft", description="D. " * 200)
    at = world([document], graph=None)
    at.search = FakeSearch(hit("file", "it", snippet=document.description, description=document.description))
    answer = search_knowledge(at, filters={"author": "ADA"})
    (one,) = data(answer)["results"]
    assert at.search.asked[0].filters == Filters(authors=("Ada",))
    assert (one["status"], one["author"], one["path"]) == ("draft", ["Ada", "Grace"], "notes/it.md")
    assert len(one["description"]) <= search.DESCRIPTION_CHARACTERS
    assert "snippet" not in one, "the description stood in for a passage"
    for said in ("draft", "by Ada, Grace", "notes/it.md", one["description"]):
        assert said in answer.text


def test_documents_of_nearly_the_same_text_are_named() -> None:
    at = world()
    at.search.hits = (hit(*STEWARDSHIP.split("/"), duplicates=("practice/seed-swap", "file/gone")),)
    answer = search_knowledge(at)
    assert data(answer)["results"][0]["duplicates"] == ["practice/seed-swap"]
    assert "practice/seed-swap" in answer.text


def test_an_index_that_does_not_answer_is_unavailable() -> None:
    at = finding()
    at.search.unreachable = True
    with pytest.raises(Unavailable):
        search_knowledge(at)


def test_small_documents_come_whole() -> None:
    answer = whole(finding("tag/governance", STEWARDSHIP))
    for one in data(answer)["results"]:
        document = GARDEN[f"{one['contentType']}/{one['id']}"]  # type: ignore[index]
        assert one["content"] == document.content
        assert "nextCursor" not in one
        assert document.content.strip() in answer.text


def large(characters: int, count: int = 5) -> World:
    text = "Every season the circle asks who carries what. " * (characters // 47)
    told = [make("file", f"n{number}", f"n{number}.md", content=text) for number in range(count)]
    small = make("file", "small", "small.md", content="Little to say.")
    made = world([*told, small], graph=None)
    made.search = FakeSearch(*(hit("file", one.id, document=one) for one in (*told, small)))
    return made


def test_large_documents_share_the_room_and_the_small_ones_are_whole() -> None:
    answer = whole(large(9_000, count=4))
    assert cost(answer) <= DOCUMENT_TOKENS
    first, *others, small = data(answer)["results"]
    assert (small["content"], small["truncated"]) == ("Little to say.", False)
    assert all(one["truncated"] and len(one["content"]) > 1_000 for one in (first, *others))
    assert f" of {first['characters']:,} characters, what matches first" in answer.text
    assert search.NOT_ALL in answer.text


def test_the_sections_that_match_come_before_all_others_and_in_the_documents_order() -> None:
    told = [f"## Part {number}\n\n{'Nothing of the kind is said here. ' * 30}" for number in range(30)]
    told[7] = "## Seasons\n\nEvery season the circle asks who carries what."
    told[21] = "## Carrying\n\nWho carries the keys carries the door."
    body = "\n\n".join(told)
    document = make("file", "long", "long.md", content=body)
    at = world([document], graph=None)
    at.search = FakeSearch(hit("file", "long", document=document))
    answer = whole(at, "who carries what", maxTokens=900)
    (one,) = data(answer)["results"]
    assert one["content"].index("asks who carries what") < one["content"].index("carries the door")
    assert body.index(told[7]) > 5_000, "what matches stands behind a good deal that does not"
    assert one["content"].count("characters left out …]") >= 3
    assert (one["truncated"], one["characters"]) == (True, len(body))
    left_out = sum(int(found.replace(",", "")) for found in re.findall(r"\[… ([\d,]+) characters", one["content"]))
    assert f"{len(body) - left_out:,} of {len(body):,} characters" in answer.text


def test_what_is_left_makes_the_best_document_whole() -> None:
    at = large(9_000, count=3)
    at.search.hits = tuple(replace(one, snippet="Nothing of theirs.") for one in at.search.hits)
    first, *_ = data(whole(at, "nothing of theirs", maxTokens=4_000))["results"]
    assert first["truncated"] is False


@pytest.mark.parametrize("tokens", [2_000, 5_000, 12_000, 20_000])
def test_an_answer_with_documents_is_as_large_as_it_may_be(tokens: int) -> None:
    answer = whole(large(40_000, count=3), maxTokens=tokens)
    assert 0.9 * tokens <= cost(answer) <= tokens


def test_where_there_is_no_room_for_texts_the_passages_are_told_and_that_there_is_more() -> None:
    answer = whole(large(9_000), maxTokens=500)
    assert len(shown(answer)) == 5
    assert not any("content" in one for one in data(answer)["results"])
    assert data(answer)["hints"] == [search.NOT_ALL]
    assert search.NOT_ALL in answer.text


def test_whole_documents_are_no_pages_of_a_ranking() -> None:
    answer = whole(crowd())
    assert data(answer)["truncated"]
    assert "nextCursor" not in data(answer)
    assert "More: cursor" not in answer.text


def test_a_document_that_cannot_be_read_is_still_found() -> None:
    at = world()
    at.search = FakeSearch(hit("file", "rules", document=None))
    answer = whole(at)
    assert shown(answer) == ["file/rules"]
    assert "content" not in data(answer)["results"][0]


def test_whole_documents_need_the_tier_of_full_text() -> None:
    knowledge, whole_ones = search.tools(world().services(full_text_tier="vibecoder"))
    assert (knowledge.tier, whole_ones.tier) == ("public", "vibecoder")
    assert (knowledge.cost, whole_ones.cost) == ("search", "search")


@pytest.mark.parametrize(
    "raw",
    [
        {"query": "seeds", "filters": {"contentType": "pattern", "tags": ["roles"], "limit": 3}},
        {"q": "seeds", "content_type": "pattern", "tag": "roles", "top_k": "3"},
        {"text": "seeds", "filter": '{"type": "pattern", "tags": "roles", "limit": 3.0}'},
        {"query": "seeds", "filters": {"types": ["pattern"], "tags": "roles", "max_results": 3}, "cursor": None},
    ],
)
def test_arguments_mean_the_same_however_a_model_sends_them(raw: dict[str, Any]) -> None:
    at = finding(STEWARDSHIP)
    result = call(build_server([knowledge_toolset(at.services())], Surface()), "search_knowledge", raw)
    assert not result.is_error
    assert at.search.asked == [
        SearchRequest("seeds", Filters(content_types=("pattern",), tags_all=("roles",)), limit=8, shown=3)
    ]
