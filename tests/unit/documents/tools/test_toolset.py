"""The toolset as a whole: what it says of itself, and that it speaks of nobody else."""

import json
import re

import pytest

from commonplace.documents.tools.toolset import INSTRUCTIONS, knowledge_toolset
from commonplace.web.mcp.offer import MAX_INSTRUCTION_WORDS, offer_of
from tests.fakes.proposals import FakeProposals
from tests.unit.documents.tools.worlds import world

SOMEBODYS = re.compile(r"\bcells?\b|\bcreative releases?\b|superbenefit", re.IGNORECASE)
"""Words of one organisation."""


def told(**named: str) -> str:
    return offer_of([knowledge_toolset(world().services(**named))]).instructions()


def test_the_instructions_name_this_knowledge_base() -> None:
    said = told(site_name="The garden", site_description="What our circles learned of seeds.")
    assert said.startswith('This is the knowledge base "The garden": What our circles learned of seeds. Search it ')
    assert said.endswith(INSTRUCTIONS)


@pytest.mark.parametrize("description", ["", "seed " * 60])
@pytest.mark.parametrize("name", ["Commonplace", "A very long name of a garden and of all who ever worked in it"])
def test_the_instructions_are_short_however_much_is_configured(name: str, description: str) -> None:
    said = told(site_name=name, site_description=description)
    assert len(said.split()) < MAX_INSTRUCTION_WORDS
    assert said.endswith(INSTRUCTIONS)


def test_a_quotation_mark_in_the_name_ends_no_quotation() -> None:
    assert told(site_name='The "best"\ngarden').startswith("This is the knowledge base \"The 'best' garden\": ")


def test_the_search_says_what_it_searches() -> None:
    tools = knowledge_toolset(world().services(site_name="The garden", site_description="On seeds.")).tools
    (search,) = (tool for tool in tools if tool.name == "search_knowledge")
    assert search.description.startswith('Searches "The garden" (On seeds) by words and meaning. ')


def test_no_text_has_words_of_another_organisation() -> None:
    toolset = knowledge_toolset(world().services(proposals=FakeProposals(), uri_host="garden"))
    texts = [toolset.instructions, toolset.title]
    texts += [f"{one.title} {one.description}" for one in toolset.tools]
    texts += [f"{one.title} {one.description}" for one in toolset.prompts]
    texts += [f"{one.title} {one.description}" for one in toolset.resources]
    texts += [f"{one.title} {one.description}" for one in toolset.templates]
    texts += [json.dumps(one.arguments.model_json_schema()) for one in toolset.tools]
    texts += [json.dumps(one.output.model_json_schema()) for one in toolset.tools if one.output]
    texts += [text for skill in toolset.skills for text in skill.files.values()]
    assert [text for text in texts if SOMEBODYS.search(text)] == []
