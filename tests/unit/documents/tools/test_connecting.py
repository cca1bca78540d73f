"""`get_related`: neighbours in the graph of links, and documents of the same tags."""

from typing import Any

import pytest

from commonplace.documents.content.document import Document
from commonplace.documents.tools import links
from commonplace.kernel.errors import NotFound
from commonplace.web.mcp.declaration import Answer
from tests.fakes.library import make, node
from tests.unit.documents.tools.calling import called, data
from tests.unit.documents.tools.worlds import World, world

STEWARDSHIP = "pattern/rotating-stewardship"


def related(at: World, name: str, **asked: Any) -> Answer:
    return called(links.tools(at.services()), "get_related", id=name, **asked)


def told(answer: Answer) -> list[tuple[str, str]]:
    return [(one["relation"], f"{one['contentType']}/{one['id']}") for one in data(answer)["related"]]


def test_links_in_both_directions_come_before_shared_tags() -> None:
    answer = related(world(), STEWARDSHIP)
    assert told(answer) == [("both", "practice/seed-swap"), ("out", "tag/governance"), ("tags", "project/old-orchard")]
    assert data(answer)["related"][2]["sharedTags"] == ["roles"]
    assert data(answer)["brokenLinks"] == 1
    assert (data(answer)["total"], data(answer)["truncated"]) == (3, False)


def test_what_links_to_a_document_is_told() -> None:
    assert ("back", "index/garden") in told(related(world(), "practice/seed-swap"))


def test_two_steps_reach_the_neighbours_of_neighbours() -> None:
    assert ("near", "practice/seed-swap") in told(related(world(), "tag/governance", depth=2))
    assert ("near", "practice/seed-swap") not in told(related(world(), "tag/governance"))


def test_the_text_says_the_same_as_the_data() -> None:
    answer = related(world(), STEWARDSHIP)
    for one in data(answer)["related"]:
        assert one["title"] in answer.text
        assert f"{one['contentType']}/{one['id']}" in answer.text
    assert "1 of its links lead nowhere" in answer.text
    assert [link.name for link in answer.links] == [ref for _, ref in told(answer)]


def test_a_limit_cuts_and_says_how_many_there_are() -> None:
    answer = related(world(), STEWARDSHIP, limit=1)
    assert told(answer) == [("both", "practice/seed-swap")]
    assert (data(answer)["total"], data(answer)["truncated"]) == (3, True)
    assert "higher limit" in answer.text


def test_rare_tags_count_for_more_than_common_ones() -> None:
    def tagged(name: str, *tags: str) -> Document:
        return make("file", name, f"{name}.md", tags=list(tags))

    crowd = [tagged(f"z{number}", "common") for number in range(30)]
    at = world([tagged("it", "common", "rare"), *crowd, tagged("zz", "rare")], graph=None)
    answer = related(at, "file/it")
    assert told(answer)[0] == ("tags", "file/zz")
    assert len(told(answer)) == links.MAX_BY_TAGS


def test_a_document_without_links_and_tags_has_no_related_ones() -> None:
    answer = related(world(), "file/rules-2")
    assert (told(answer), data(answer)["total"]) == ([], 0)


def test_what_the_graph_knows_and_nobody_publishes_is_left_out() -> None:
    documents = [make("file", "it", "it.md")]
    gone = make("file", "gone", "gone.md")
    nodes = [node(documents[0]), node(gone)]
    graph = {"nodes": nodes, "edges": [{"source": "file/it", "target": "file/gone"}], "broken": []}
    assert told(related(world(documents, graph=graph), "file/it")) == []


def test_a_former_name_answers() -> None:
    assert data(related(world(), "practice/swapping-seeds"))["id"] == "seed-swap"


def test_a_miss_names_the_nearest() -> None:
    with pytest.raises(NotFound) as missed:
        related(world(), "rotating-stewards", contentType="pattern")
    assert missed.value.hint == f"Did you mean {STEWARDSHIP}?"
