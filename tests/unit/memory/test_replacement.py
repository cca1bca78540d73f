"""An edited seed file in the place of what it brought before."""

from collections.abc import Mapping
from typing import Any

import pytest

from commonplace.memory.client.client import MemoryClient
from commonplace.memory.client.learnings import Address
from commonplace.memory.client.replacement import compare
from tests.fakes.memory_server import FakeMemoryServer

FILE = "docs/LESSONS-LEARNED.md"


def entry(content: str, story: str = "STORY-1", **more: Any) -> dict[str, Any]:
    own = {"content": content, "entry_type": "fact", "roles": ["dev"], "tags": ["reuse"], "confidence": 1.0}
    return own | {"source_file": FILE, "source_story": story} | more


def summary(content: str, story: str = "STORY-1", **more: Any) -> dict[str, Any]:
    return entry(content, story, entry_type="summary", ref=story, **more)


BEFORE = [
    summary("STORY-1: the tally was slow."),
    entry("Write tests beside the tally, and not after it.", parent_ref="STORY-1"),
    entry("Specific routes come before routes with parameters.", parent_ref="STORY-1"),
    summary("STORY-2: the buckets were mended.", "STORY-2"),
    entry("A bucket with a label is found again by whoever lost it.", "STORY-2", parent_ref="STORY-2"),
]


@pytest.fixture
def server() -> FakeMemoryServer:
    return FakeMemoryServer()


@pytest.fixture
def memory(server: FakeMemoryServer) -> MemoryClient:
    client = MemoryClient(server, Address("http://127.0.0.1", "acme"), sleep=lambda _: None)
    client.replace(BEFORE, lambda _: None)
    return client


def ids(server: FakeMemoryServer) -> dict[str, str]:
    return {one["content"]: id for id, one in server.kept.items()}


def edited(place: int, **changes: Any) -> list[dict[str, Any]]:
    return [one | (changes if number == place else {}) for number, one in enumerate(BEFORE)]


def test_the_same_file_again_changes_nothing(server: FakeMemoryServer, memory: MemoryClient) -> None:
    calls = len(server.calls)
    done = memory.replace(BEFORE, lambda _: None)
    assert (done.imported, done.changed, done.unchanged, done.gone, done.errors) == (0, [], 5, (), {})
    assert {tool for tool, _ in server.calls[calls:]} == {"kb_list"}


@pytest.mark.parametrize(
    "text",
    [
        "Write the tests beside the tally, never after it.",
        "Write tests beside the tally, and not after it. A phase of fixes with 141 of them took two days.",
    ],
)
def test_an_edited_lesson_keeps_its_id(server: FakeMemoryServer, memory: MemoryClient, text: str) -> None:
    was = ids(server)[str(BEFORE[1]["content"])]
    done = memory.replace(edited(1, content=text), lambda _: None)
    assert (done.changed, done.imported, done.unchanged, done.gone) == ([was], 0, 4, ())
    assert server.kept[was]["content"] == text
    assert len(server.kept) == 5


def test_the_children_of_an_edited_summary_stay_below_it(server: FakeMemoryServer, memory: MemoryClient) -> None:
    was = ids(server)[str(BEFORE[0]["content"])]
    done = memory.replace(edited(0, content="Nothing of the former text is left."), lambda _: None)
    assert done.changed == [was]
    assert sum(one.get("parent_id") == was for one in server.kept.values()) == 2


def test_a_lesson_that_moved_to_another_story_moves_below_its_summary(
    server: FakeMemoryServer, memory: MemoryClient
) -> None:
    done = memory.replace(edited(2, source_story="STORY-2", parent_ref="STORY-2"), lambda _: None)
    moved = server.kept[done.changed[0]]
    assert (moved["source_story"], moved["parent_id"]) == ("STORY-2", ids(server)[str(BEFORE[3]["content"])])


def test_a_new_lesson_is_added_below_the_summary_that_is_there(server: FakeMemoryServer, memory: MemoryClient) -> None:
    done = memory.replace([*BEFORE, entry("Rinse nets at once.", parent_ref="STORY-1")], lambda _: None)
    assert (done.imported, done.changed, done.unchanged) == (1, [], 5)
    added = server.kept[ids(server)["Rinse nets at once."]]
    assert added["parent_id"] == ids(server)[str(BEFORE[0]["content"])]


def test_what_the_file_has_no_more_is_named_and_stays(server: FakeMemoryServer, memory: MemoryClient) -> None:
    done = memory.replace(BEFORE[:4], lambda _: None)
    assert [one["content"] for one in done.gone] == [BEFORE[4]["content"]]
    assert len(server.kept) == 5


def test_what_comes_from_elsewhere_is_left_alone(server: FakeMemoryServer, memory: MemoryClient) -> None:
    text = "Write tests beside the tally, and never after it."
    server.call("kb_bulk_import", {"entries": [entry(text, source_file="story.yaml")]})
    done = memory.replace(edited(1, content="Write a test beside the tally, and not after it."), lambda _: None)
    assert (len(done.changed), done.gone) == (1, ())
    assert server.kept[ids(server)[text]]["source_file"] == "story.yaml"


def test_what_was_learned_since_of_a_lesson_stays(server: FakeMemoryServer, memory: MemoryClient) -> None:
    id = ids(server)[str(BEFORE[1]["content"])]
    server.kept[id] |= {"confidence": 0.3, "metadata": {"gate_result": "FAIL"}}
    memory.replace(edited(1, tags=["tests"], metadata={"by": "ada"}), lambda _: None)
    one = server.kept[id]
    assert (one["confidence"], one["tags"]) == (0.3, ["tests"])
    assert one["metadata"] == {"gate_result": "FAIL", "by": "ada"}


def test_a_content_that_another_entry_has_is_reported_and_changes_nothing(
    server: FakeMemoryServer, memory: MemoryClient
) -> None:
    taken = "A label is found again on a bucket by whoever lost it."
    server.call("kb_bulk_import", {"entries": [entry(taken, source_file="story.yaml")]})
    done = memory.replace(edited(4, content=taken), lambda _: None)
    assert list(done.errors) == [4]
    assert str(BEFORE[4]["content"]) in ids(server)


def test_somebody_elses_change_meanwhile_is_left_to_him(server: FakeMemoryServer, memory: MemoryClient) -> None:
    id = ids(server)[str(BEFORE[1]["content"])]
    call = server.call

    def meanwhile(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if tool == "kb_update":
            server.kept[id]["version"] += 1
        return call(tool, arguments)

    server.call = meanwhile  # type: ignore[method-assign]
    done = memory.replace(edited(1, content="Write a test beside the tally, and not after it."), lambda _: None)
    assert list(done.errors) == [1]
    assert server.kept[id]["content"] == BEFORE[1]["content"]


def test_lessons_of_one_story_are_not_taken_for_each_other() -> None:
    kept = [entry("Specific routes come before routes with parameters.", id="a", version=1)]
    assert compare([entry("Clear foreign keys before a delete.")], kept).former == {}
    assert compare([entry("Specific routes come before all others.", "STORY-9")], kept).former == {}


def test_an_entry_that_names_no_file_is_compared_within_its_story() -> None:
    kept = [entry("Rinse nets at once after the count.", id="a", version=1, source_file=None)]
    found = compare([entry("Rinse the nets at once after a count.", source_file=None)], kept)
    assert found.former == {0: kept[0]}
