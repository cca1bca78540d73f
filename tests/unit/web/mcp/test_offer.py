"""What a path offers, and under which names."""

from dataclasses import replace

import pytest

from commonplace.web.mcp.declaration import Resource, Skill, Toolset
from commonplace.web.mcp.offer import MAX_INSTRUCTION_WORDS, offer_of
from tests.fakes.toolsets import harbour, tides


def test_a_tool_keeps_its_toolset_and_scope_under_another_name() -> None:
    offer = offer_of([tides(), harbour()], prefix_shared=True)
    assert offer.tools["write_log"].need.scope == "tides:write"
    assert offer.tools["harbour_search_pools"].need.scope == "harbour:read"


def test_instructions_of_several_toolsets_stay_under_a_hundred_words() -> None:
    talkative = [replace(one, instructions=f"Say {one.name} first. " + "word " * 60) for one in (tides(), harbour())]
    told = offer_of(talkative, prefix_shared=True).instructions()
    assert told == "Tides: Say tides first.\nHarbour: Say harbour first."
    assert len(told.split()) < MAX_INSTRUCTION_WORDS


def test_short_instructions_are_told_whole() -> None:
    told = offer_of([tides(), harbour()], prefix_shared=True).instructions()
    assert told == "Pools and their tides. Search first.\n\nShips. Ask before you sail."


def test_one_address_is_one_resource() -> None:
    about = Resource(uri="x://a", name="a", title="A", description="A.", mime_type="text/plain", read=lambda call: "a")
    one = Toolset(name="one", title="One", instructions="One.", resources=(about,))
    with pytest.raises(ValueError, match="x://a"):
        offer_of([one, replace(one, name="two")], prefix_shared=True)


def test_files_of_a_skill_are_resources() -> None:
    text = "---\nname: wading\ndescription: How to wade.\n---\nSlowly.\n"
    offer = offer_of([replace(tides(), skills=(Skill(name="wading", files={"SKILL.md": text}),))])
    assert "skill://wading/SKILL.md" in offer.resources
