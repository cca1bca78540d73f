"""The toolset as a whole: beside the others, restricted to reading; its prompts and its skill."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.hive.model import CATEGORIES
from commonplace.hive.operations import NOTICE
from commonplace.hive.tools.prompts import AWAY
from commonplace.hive.tools.toolset import SKILL, hive_toolset
from commonplace.memory.operations import MemoryServices
from commonplace.memory.tools.toolset import memory_toolset
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from commonplace.web.mcp.offer import MAX_INSTRUCTION_WORDS, offer_of
from tests.unit.hive.tools.agents import Agent
from tests.unit.web.mcp.talking import ask

NOTHING: Any = None
HIVE = hive_toolset(NOTHING)
OTHERS = (
    knowledge_toolset(KnowledgeServices(library=NOTHING, search=NOTHING)),
    memory_toolset(MemoryServices(memory=NOTHING)),
    reference_toolset(ReferenceServices(reference=NOTHING)),
)
CALLS = [
    json.loads(line)
    for text in SKILL.files.values()
    for line in re.findall(r'^\s*(\{"name": ".*_.*\})$', text, re.MULTILINE)
]


def test_instructions_are_short_alone_and_beside_all_others() -> None:
    assert offer_of([HIVE]).instructions() == HIVE.instructions
    every = offer_of([*OTHERS, HIVE], prefix_shared=True).instructions()
    assert len(every.split()) < MAX_INSTRUCTION_WORDS
    assert every.endswith("of your organisation and others.")


def test_beside_all_others_only_the_shared_name_is_prefixed() -> None:
    every = offer_of([*OTHERS, HIVE], prefix_shared=True)
    own = {name for name, offered in every.tools.items() if offered.toolset is HIVE}
    assert own == {
        *("hive_search_knowledge", "add_knowledge", "list_knowledge", "delete_knowledge"),
        *("publish_knowledge", "report_outcome"),
    }


def test_under_a_restriction_to_reading_nothing_can_be_contributed(here: Agent) -> None:
    here.caller = replace(here.caller, read_only=True)
    listed = ask(here.server(), lambda client: client.list_tools()).tools
    assert {tool.name for tool in listed} == {"search_knowledge", "list_knowledge"}


def test_arguments_are_understood_as_models_write_them(here: Agent) -> None:
    id = here.item("Lock rows in one order.", category="bug-fix")
    for name in ("q", "text", "question"):
        assert here.data("search_knowledge", **{name: "lock", "top_k": "3"})["results"][0]["id"] == id
    assert here.data("report_outcome", id=id, outcome="Solved")["outcome"] == "solved"


def test_the_prompt_for_contributing_names_every_category(here: Agent) -> None:
    (message,) = here.prompt("contribute-what-you-learned", task="Fix ```the``` build").messages
    assert all(category in message.content.text for category in CATEGORIES)
    assert "````text\nFix ```the``` build\n````" in message.content.text


def test_the_prompt_for_searching_shows_what_is_known_as_data(here: Agent) -> None:
    id = here.item("Lock rows in one order.")
    (message,) = here.prompt("search-before-you-solve", problem="lock timeout").messages
    assert id in message.content.text
    assert NOTICE in message.content.text
    here.world.search.failing = True
    (message,) = here.prompt("search-before-you-solve", problem="lock timeout").messages
    assert message.content.text == AWAY


def test_the_skill_shows_calls() -> None:
    names = {"search_knowledge", "add_knowledge", "report_outcome", "list_knowledge", "delete_knowledge"}
    assert {call["name"] for call in CALLS} == names


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call["name"])
def test_a_call_of_the_skill_works(here: Agent, call: dict[str, Any]) -> None:
    id = here.item("What was there before, a lambda.")
    arguments = {
        name: id if isinstance(value, str) and value.startswith("ID-") else value
        for name, value in call["arguments"].items()
    }
    here.data(call["name"], **arguments)
