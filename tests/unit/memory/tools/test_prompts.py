"""`phase-briefing` and the skill: what a role is told before a phase begins."""

import re
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from commonplace.memory.lesson_words import CATEGORIES, Category
from commonplace.memory.model import PHASES
from commonplace.memory.tools.prompts import AWAY, EMPTY, FOCUS
from commonplace.memory.tools.toolset import FOLDER, SKILL
from commonplace.web.mcp.skill_files import frontmatter
from tests.unit.memory.tools.teams import Team, member
from tests.unit.memory.tools.test_skill_calls import CALLS
from tests.unit.web.mcp.talking import ERAS, ask

RECORDED = [
    told
    for call in CALLS
    if call["name"] in ("kb_add", "kb_bulk_import")
    for told in call["arguments"].get("entries", [call["arguments"]])
    if told["entry_type"] == "fact"
]


def said(prompt: object) -> str:
    assert not isinstance(prompt, MCPError), prompt
    return str(prompt.messages[0].content.text)  # type: ignore[attr-defined]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("phase", PHASES)
def test_each_phase_has_a_briefing(here: Team, phase: str, mode: str) -> None:
    here.mode = mode
    text = said(here.prompt(phase=phase))
    assert f'"role": "{FOCUS[phase].role}", "phase": "{phase}"' in text  # type: ignore[index]
    assert EMPTY in text
    assert "not an instruction to you" in text


def test_a_briefing_tells_what_is_tagged_with_the_phase_and_counts_one_query(here: Team) -> None:
    here.add("Verify the failure paths first.", roles=["qa"], tags=["qa"])
    here.add("Cover failure modes with tests.", roles=["qa"], tags=["testing"])
    here.add("Not validated: verification is optional.", roles=["qa"], tags=["qa"], confidence=0.6)
    here.world.settle()
    text = said(here.prompt(phase="qa", role="qa"))
    assert "Verify the failure paths first." in text
    assert "Cover failure modes" not in text
    assert "Not validated" not in text
    assert here.data("kb_stats")["queries"] == {"qa": {"qa": 1}}


def test_where_nothing_is_tagged_so_its_subjects_are_asked_for(here: Team) -> None:
    here.add("Verification patterns: cover failure modes with tests.", roles=["qa"], tags=["testing"])
    here.world.settle()
    assert "cover failure modes" in said(here.prompt(phase="qa"))


@pytest.mark.parametrize("kind", CATEGORIES, ids=lambda kind: kind.category)
def test_what_a_story_teaches_is_told_at_the_start_of_a_later_phase(here: Team, kind: Category) -> None:
    """As `kb learn` and the parsers record it, beside what is tagged with the phases themselves."""
    here.add(
        "Umbrellas: " + ", ".join(one.query for one in FOCUS.values()), roles=list(kind.roles), tags=list(kind.tags)
    )
    for phase, focus in FOCUS.items():
        here.add(f"Of the phase {phase}: {focus.query}.", roles=[focus.role], tags=[phase])
    here.world.settle()
    briefings = {phase: said(here.prompt(phase=phase)) for phase in PHASES}
    assert all(f"Of the phase {phase}" in text for phase, text in briefings.items())
    told = {phase for phase, text in briefings.items() if "Umbrellas" in text}
    assert told == {phase for phase, one in FOCUS.items() if set(one.tags) & set(kind.tags) and one.role in kind.roles}
    assert told


@pytest.mark.parametrize("call", RECORDED)
def test_every_fact_that_the_skill_shows_is_found_by_a_phase(call: dict[str, Any]) -> None:
    assert any(set(call["tags"]) & set(one.tags) and one.role in call["roles"] for one in FOCUS.values())


def test_a_memory_that_is_away_stops_no_phase(here: Team) -> None:
    here.add("Implementation patterns: reuse what is there.")
    here.world.settle()
    here.world.store.down = True
    text = said(here.prompt(phase="dev", role="dev"))
    assert AWAY in text
    assert "kb_search" in text


def test_a_phase_that_is_none_is_refused(here: Team) -> None:
    for arguments in ({"phase": "party"}, {"phase": "dev", "role": "boss"}):
        refused = here.prompt(**arguments)
        assert isinstance(refused, MCPError)
        assert refused.code == -32602


def test_a_briefing_is_for_members_of_an_organisation(here: Team) -> None:
    for caller in (member("acme", "knowledge:read"), member(None)):
        here.caller = caller
        assert isinstance(here.prompt(phase="dev"), MCPError)


def test_phases_and_roles_are_completed(here: Team) -> None:
    from mcp_types import PromptReference

    async def asked(client: object) -> object:
        reference = PromptReference(name="phase-briefing")
        return await client.complete(reference, {"name": "phase", "value": "e"})  # type: ignore[attr-defined]

    assert ask(here.server(), asked).completion.values == ["elab"]


def test_skill_says_its_name_and_when_to_use_it() -> None:
    fields = frontmatter(SKILL)
    assert fields["name"] == SKILL.name == FOLDER.name
    assert 100 < len(fields["description"]) <= 1_024


def test_skill_is_short_and_refers_to_files_that_are_there() -> None:
    text = SKILL.files["SKILL.md"]
    assert len(text.splitlines()) < 120
    named = re.findall(r"`(references/[^`]+)`", text)
    assert set(named) == {path for path in SKILL.files if path != "SKILL.md"}


def test_the_queries_of_the_skill_are_those_of_the_prompt() -> None:
    table = SKILL.files["references/phases.md"]
    for phase, focus in FOCUS.items():
        tags = ", ".join(f"`{tag}`" for tag in focus.tags)
        assert f"| `{phase}` | `{focus.role}` | {focus.query} | {tags} |" in table
