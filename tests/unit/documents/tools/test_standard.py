"""`search` and `fetch`, in the shape that connectors expect."""

import json
from typing import Any

import pytest

from commonplace.documents.tools import connector
from commonplace.documents.tools.pagination import body_of
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.web.mcp.budgets import DOCUMENT_TOKENS
from commonplace.web.mcp.declaration import Answer
from commonplace.web.mcp.rendering import cost
from tests.fakes.library import make
from tests.unit.documents.rest.told import GARDEN
from tests.unit.documents.tools.calling import called, data
from tests.unit.documents.tools.worlds import World, finding, world

STEWARDSHIP = "pattern/rotating-stewardship"


def asked(at: World, name: str, **arguments: Any) -> Answer:
    return called(connector.tools(at.services()), name, **arguments)


def long() -> World:
    text = "\n\n".join(f"Paragraph {number} on seeds." for number in range(2_000))
    return world([make("file", "long", "docs/long.md", content=text)], graph=None)


def test_search_gives_ids_titles_and_urls_and_nothing_else() -> None:
    answer = asked(finding(STEWARDSHIP, "tag/governance"), "search", query="who carries what")
    assert data(answer) == {
        "results": [
            {"id": STEWARDSHIP, "title": "rotating-stewardship", "url": f"https://garden.example.org/d/{STEWARDSHIP}"},
            {"id": "tag/governance", "title": "governance", "url": "https://garden.example.org/d/tag/governance"},
        ]
    }


def test_nothing_found_is_an_empty_list() -> None:
    assert data(asked(finding(), "search", query="zzz")) == {"results": []}
    weak = finding(STEWARDSHIP)
    weak.search.hint = "Nothing fits."
    assert data(asked(weak, "search", query="zzz")) == {"results": []}


@pytest.mark.parametrize(("name", "arguments"), [("search", {"query": "x"}), ("fetch", {"id": STEWARDSHIP})])
def test_the_text_is_the_data(name: str, arguments: dict[str, str]) -> None:
    answer = asked(finding(*GARDEN), name, **arguments)
    assert json.loads(answer.text) == data(answer)
    assert answer.links == ()
    assert all(tool.verbatim for tool in connector.tools(world().services()))


def test_fetch_gives_the_document_that_search_named() -> None:
    at = finding(*GARDEN)
    for one in data(asked(at, "search", query="x"))["results"]:
        told = data(asked(at, "fetch", id=one["id"]))
        document = GARDEN[one["id"]]
        assert (told["id"], told["title"], told["text"]) == (one["id"], document.title, document.content)
        assert set(told) == {"id", "title", "text", "url", "metadata"}
        assert told["metadata"]["contentType"] == document.content_type
        assert told["metadata"]["truncated"] is False


def test_a_long_document_is_fetched_in_parts_by_the_ids_it_names() -> None:
    at, wanted, told = long(), "file/long", ""
    for number in range(1, 100):
        answer = asked(at, "fetch", id=wanted)
        assert cost(answer) <= DOCUMENT_TOKENS
        text, onward = data(answer)["text"], data(answer)["metadata"].get("next")
        first, _, rest = text.partition("\n\n")
        body, _, last = rest.rpartition("\n\n")
        told += body
        pages = data(answer)["metadata"]["pages"]
        assert first.startswith(f"[Page {number} of {pages}; ")
        assert last.startswith(f"[End of page {number} of {pages}; ")
        assert all((f'"{onward}"' if onward else "the last") in note for note in (first, last))
        assert onward is None or cost(answer) >= 0.9 * DOCUMENT_TOKENS
        assert data(answer)["metadata"]["truncated"] is ("next" in data(answer)["metadata"])
        if "next" not in data(answer)["metadata"]:
            break
        wanted = data(answer)["metadata"]["next"]
    (whole,) = at.services().library.documents(at.services().library.manifest().documents)
    assert whole is not None
    assert told == body_of(whole)


@pytest.mark.parametrize("name", ["file/long", "file/long#", "file/long#1", " file/long "])
def test_an_id_without_the_number_of_a_page_is_the_first(name: str) -> None:
    assert "\n\nParagraph 0" in data(asked(long(), "fetch", id=name))["text"]


@pytest.mark.parametrize(
    ("name", "refused"), [("file/long#99", InvalidInput), ("file/long#0", InvalidInput), ("file/long#AAAA", NotFound)]
)
def test_a_page_that_is_not_there_is_refused(name: str, refused: type[Exception]) -> None:
    with pytest.raises(refused, match="There is no"):
        asked(long(), "fetch", id=name)


def test_a_document_of_one_page_says_nothing_of_pages() -> None:
    told = data(asked(world(), "fetch", id=STEWARDSHIP))
    assert "[" not in told["text"][:1]
    assert told["metadata"].keys().isdisjoint({"page", "pages", "next"})


def test_a_miss_names_the_nearest() -> None:
    with pytest.raises(NotFound) as missed:
        asked(world(), "fetch", id="pattern/rotating-stewards")
    assert missed.value.hint == f"Did you mean {STEWARDSHIP}?"


def test_fetch_has_the_tier_of_full_text_and_search_is_for_everybody() -> None:
    search, fetch = connector.tools(world().services(full_text_tier="vibecoder"))
    assert (search.tier, search.cost) == ("public", "search")
    assert (fetch.tier, fetch.cost) == ("vibecoder", "read")
