"""The toolset as a whole: beside the knowledge base, restricted to reading, with names as models write them."""

from dataclasses import replace
from typing import Any

import pytest

from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.memory.operations import MemoryServices
from commonplace.memory.tools.toolset import memory_toolset
from commonplace.web.mcp.offer import MAX_INSTRUCTION_WORDS, offer_of
from tests.unit.memory.tools.teams import Team
from tests.unit.web.mcp.talking import ask

NOTHING: Any = None
KNOWLEDGE = knowledge_toolset(KnowledgeServices(library=NOTHING, search=NOTHING))
MEMORY = memory_toolset(MemoryServices(memory=NOTHING))


def test_instructions_are_short_alone_and_beside_the_knowledge_base() -> None:
    assert offer_of([MEMORY]).instructions() == MEMORY.instructions
    both = offer_of([KNOWLEDGE, MEMORY], prefix_shared=True).instructions()
    assert len(both.split()) < MAX_INSTRUCTION_WORDS
    assert "Team memory: " in both


def test_no_name_is_shared_with_the_knowledge_base() -> None:
    both = offer_of([KNOWLEDGE, MEMORY], prefix_shared=True)
    assert len(both.tools) == len(KNOWLEDGE.tools) + len(MEMORY.tools)
    assert {tool.name for tool in MEMORY.tools} <= both.tools.keys()
    assert "phase-briefing" in both.prompts


def test_under_a_restriction_to_reading_nothing_can_be_remembered(here: Team) -> None:
    here.caller = replace(here.caller, read_only=True)
    listed = ask(here.server(), lambda client: client.list_tools()).tools
    assert {tool.name for tool in listed} == {tool.name for tool in MEMORY.tools if tool.read_only}
    assert len(listed) == 5


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("kb_search", {"q": "tides", "top_k": "3", "entryType": "Facts", "minConfidence": "0.1", "tags": "tide, moon"}),
        ("kb_search", {"question": "tides", "type": "fact", "roles": "DEV"}),
        ("kb_list", {"type": "fact", "tag": "tide", "sort": "updated_at", "direction": "asc"}),
    ],
)
def test_arguments_are_understood_as_models_write_them(here: Team, name: str, arguments: dict[str, Any]) -> None:
    id = here.add("Tides turn.", tags=["tide"])
    here.world.settle()
    assert [entry["id"] for entry in here.data(name, **arguments)["entries"]] == [id]


def test_an_id_is_understood_under_its_usual_names(here: Team) -> None:
    id = here.add("Tides turn.")
    assert here.data("kb_get", entry_id=id)["id"] == id
    assert here.data("kb_get", uuid=id)["id"] == id
    assert here.data("kb_get_related", id=id)["entries"] == []
    assert here.data("kb_update", entryId=id, confidence="0.5", expectedVersion=1)["version"] == 2


def test_a_text_may_be_called_text(here: Team) -> None:
    told = here.data("kb_add", text="Tides turn.", type="fact", role="dev", story="T-1", key="k-1")
    entry = here.data("kb_get", id=told["id"])
    assert (entry["content"], entry["roles"], entry["source_story"]) == ("Tides turn.", ["dev"], "T-1")
