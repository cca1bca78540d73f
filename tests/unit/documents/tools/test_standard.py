"""`search` and `fetch`, in the shape that connectors expect."""

import json
from typing import Any

import pytest

from commonplace.documents.tools import connector, documents, pagination
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.web.mcp.budgets import DEFAULT_TOKENS
from commonplace.web.mcp.declaration import Answer
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
            {
                "id": STEWARDSHIP,
                "title": "rotating-stewardship",
                "url": f"https://garden.example.org/d/{STEWARDSHIP}",
            },
            {
                "id": "tag/governance",
                "title": "governance",
                "url": "https://garden.example.org/d/tag/governance",
            },
        ]
    }


def test_nothing_found_is_an_empty_list() -> None:
    assert data(asked(finding(), "search", query="zzz")) == {"results": []}


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
    for _ in range(100):
        answer = asked(at, "fetch", id=wanted)
        assert pagination.cost(answer) <= DEFAULT_TOKENS
        told += data(answer)["text"]
        assert data(answer)["metadata"]["truncated"] is ("next" in data(answer)["metadata"])
        if "next" not in data(answer)["metadata"]:
            break
        wanted = data(answer)["metadata"]["next"]
    (whole,) = at.services().library.documents(at.services().library.manifest().documents)
    assert whole is not None
    assert told == pagination.body_of(whole)


def test_get_document_goes_on_where_fetch_stopped() -> None:
    at = long()
    _, _, cursor = data(asked(at, "fetch", id="file/long"))["metadata"]["next"].partition("#")
    onward = called(documents.tools(at.services()), "get_document", id="file/long", cursor=cursor)
    assert data(onward)["content"]


@pytest.mark.parametrize("name", ["file/long#AAAA", "file/long#"])
def test_an_id_with_somebody_elses_handle_is_refused_and_one_without_a_handle_begins(name: str) -> None:
    if name.endswith("#"):
        assert data(asked(long(), "fetch", id=name))["text"].startswith("Paragraph 0")
        return
    with pytest.raises(InvalidInput):
        asked(long(), "fetch", id=name)


def test_a_miss_names_the_nearest() -> None:
    with pytest.raises(NotFound) as missed:
        asked(world(), "fetch", id="pattern/rotating-stewards")
    assert missed.value.hint == f"Did you mean {STEWARDSHIP}?"


def test_fetch_has_the_tier_of_full_text_and_search_is_for_everybody() -> None:
    search, fetch = connector.tools(world().services(full_text_tier="vibecoder"))
    assert (search.tier, search.cost) == ("public", "search")
    assert (fetch.tier, fetch.cost) == ("vibecoder", "read")
