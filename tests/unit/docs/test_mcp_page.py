"""docs/agents/mcp.md and the declarations name the same tools, resources, prompts, limits and paths."""

import json
import re
from typing import Any

import pytest

from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.hive.tools.toolset import hive_toolset
from commonplace.identity.principals import TIERS
from commonplace.memory.operations import MemoryServices
from commonplace.memory.tools.toolset import memory_toolset
from commonplace.reference.model import GAP_SECONDS, MAX_GAPS
from commonplace.reference.tools.answers import ANSWER_TOKENS
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from commonplace.web.mcp.budgets import DEFAULT_TOKENS, DOCUMENT_TOKENS, MAX_TOKENS
from commonplace.web.mcp.declaration import Tool, Toolset
from commonplace.web.mcp.guard import READ_ONLY_HEADER
from commonplace.web.mcp.settings import DEFAULT_RATE_LIMITS
from infra.configuration import Configuration
from tests.unit.docs.pages import ROOT, first_cells, rows, section

PAGE = ROOT / "docs" / "agents" / "mcp.md"
MEMORY_PAGE = ROOT / "docs" / "agents" / "memory.md"
HIVE_PAGE = ROOT / "docs" / "agents" / "hive.md"
REFERENCE_PAGE = ROOT / "docs" / "agents" / "reference.md"


def declared() -> Toolset:
    nothing: Any = None
    return knowledge_toolset(KnowledgeServices(library=nothing, search=nothing))


def remembering() -> Toolset:
    nothing: Any = None
    return memory_toolset(MemoryServices(memory=nothing))


def referring() -> Toolset:
    nothing: Any = None
    return reference_toolset(ReferenceServices(reference=nothing))


def contributing() -> Toolset:
    nothing: Any = None
    return hive_toolset(nothing)


MEMORY_TABLE = {row[0].strip("`"): row[1:] for row in rows(section(MEMORY_PAGE, "Tools")) if row[0].startswith("`kb_")}
TABLE = {row[0].strip("`"): row[1:] for row in rows(section(PAGE, "Tools")) if row[0].startswith("`")}


def test_the_page_lists_every_tool_and_no_other() -> None:
    assert list(TABLE) and set(TABLE) == {tool.name for tool in declared().tools}


@pytest.mark.parametrize("tool", declared().tools, ids=lambda tool: tool.name)
def test_tier_and_class_of_a_tool_are_as_declared(tool: Tool) -> None:
    _, tier, cost = TABLE[tool.name]
    assert cost == tool.cost
    assert tier == ("full text" if tool.tier == "member" and tool.level == "read" else tool.tier)


def test_the_page_of_the_memory_lists_its_tools_with_scope_and_class() -> None:
    told = {name: (scope.strip("`"), cost) for name, (_, scope, cost) in MEMORY_TABLE.items()}
    assert told == {tool.name: (f"memory:{tool.level}", tool.cost) for tool in remembering().tools}
    assert {tool.tier for tool in remembering().tools} == {"member"}


def test_the_page_of_the_hive_lists_its_tools_with_scope_and_class() -> None:
    told = {name.strip("`"): (scope.strip("`"), cost) for name, _, scope, cost in rows(section(HIVE_PAGE, "Tools"))}
    assert told == {tool.name: (f"hive:{tool.level}", tool.cost) for tool in contributing().tools}
    assert {tool.name for tool in contributing().tools if tool.tier == "vibecoder"} == {"publish_knowledge"}


def test_the_page_of_the_reference_lists_its_tools_with_scope_and_class() -> None:
    table = rows(section(REFERENCE_PAGE, "Tools"))
    told = {name.strip("`"): (scope.strip("`"), cost) for name, _, scope, cost in table}
    assert told == {tool.name: (f"reference:{tool.level}", tool.cost) for tool in referring().tools}
    text = REFERENCE_PAGE.read_text(encoding="utf-8").replace("\n", " ")
    assert f"at most {ANSWER_TOKENS:,} tokens" in text
    assert f"{MAX_GAPS:,} reports of an organisation are stored, each for {GAP_SECONDS // 86_400} days" in text


def test_full_text_is_the_one_tier_that_is_configured() -> None:
    nothing: Any = None
    opened = knowledge_toolset(KnowledgeServices(library=nothing, search=nothing, full_text_tier="public"))
    freed = {one.name for one, other in zip(opened.tools, declared().tools, strict=True) if one.tier != other.tier}
    assert freed == {name for name, row in TABLE.items() if row[1] == "full text"}
    assert {template.tier for template in opened.templates} == {"public"}


def test_every_tier_is_named() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{tier}`" in text for tier in TIERS)


def test_the_page_lists_every_resource_and_prompt() -> None:
    text, known = PAGE.read_text(encoding="utf-8"), set[str]()
    for toolset in (declared(), remembering(), referring(), contributing()):
        known |= {f"skill://{skill.name}/SKILL.md" for skill in toolset.skills}
        known |= {each.uri for each in toolset.resources} | {each.uri_template for each in toolset.templates}
        assert all(f"`{prompt.name}`" in text for prompt in toolset.prompts)
    assert set(first_cells(PAGE, "Resources")) == known


def test_the_limits_are_the_defaults() -> None:
    defaults = Configuration()
    told = {row[0]: (int(row[1]), row[2].strip("`")) for row in rows(section(PAGE, "Limits"))}
    assert told == {
        "reads": (defaults.rate_limit_mcp_reads, "rateLimitMcpReads"),
        "writes": (defaults.rate_limit_mcp_writes, "rateLimitMcpWrites"),
        "searches": (defaults.rate_limit_mcp_searches, "rateLimitMcpSearches"),
    }


def test_the_limits_of_the_memory_are_the_defaults() -> None:
    classes = json.loads(DEFAULT_RATE_LIMITS)["memory"]
    told = f"{classes['read']} reads, {classes['search']} searches and {classes['write']} writes a minute"
    assert told in PAGE.read_text(encoding="utf-8").replace("\n", " ")


def test_the_sizes_of_answers_are_the_real_ones() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"(\d+,\d{3}) tokens", text)[:1] == [f"{DEFAULT_TOKENS:,}"]
    assert f"stay below {DOCUMENT_TOKENS:,}" in text
    assert f"up to {MAX_TOKENS:,}" in text


def test_the_header_that_narrows_is_the_real_one() -> None:
    assert READ_ONLY_HEADER in PAGE.read_text(encoding="utf-8").lower()
