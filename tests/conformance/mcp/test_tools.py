"""The tools that a model is shown: a committed contract, complete, and small enough for every conversation."""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tokenizers import Tokenizer

from commonplace.documents.content.library import Library
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.governance.agent_tools import TOOLS
from commonplace.governance.toolset import governance_toolset
from commonplace.hive.tools.toolset import hive_toolset
from commonplace.memory.operations import MemoryServices
from commonplace.memory.tools.toolset import memory_toolset
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from commonplace.search.models.local import TOKENIZER, bundled
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Toolset
from commonplace.web.mcp.server import build_server
from tests.fakes.library import FakeLibrary
from tests.fakes.proposals import FakeProposals
from tests.fakes.search import FakeSearch
from tests.reference_files import helios
from tests.unit.reference.tools.desks import Scripted

SNAPSHOTS = {
    "knowledge": Path(__file__).with_name("tools.json"),
    "hive": Path(__file__).with_name("tools.hive.json"),
    "memory": Path(__file__).with_name("tools.memory.json"),
    "reference": Path(__file__).with_name("tools.reference.json"),
    "governance": Path(__file__).with_name("tools.governance.json"),
}
UPDATE = "UPDATE_SNAPSHOTS"
"""Set this variable to 1 to accept what the server says now."""
MODEL_TOKENS, LIST_TOKENS = 3_000, 7_500
"""Of what a client puts before a model (names, descriptions, input schemas), and of the whole list."""
WRITING = {
    "knowledge": {"save_link", "create_draft"},
    "hive": {"add_knowledge", "delete_knowledge", "publish_knowledge", "report_outcome"},
    "memory": {"kb_add", "kb_update", "kb_delete", "kb_bulk_import", "kb_rate", "kb_rebuild_embeddings"},
    "reference": {"report_gap"},
    "governance": {one.name for one in TOOLS},
}
COUNTING = {"report_gap", "send_message", "ask_clarification"}
"""A second call adds to what the first one did."""


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shown_to_models(tools: list[dict[str, Any]]) -> str:
    return compact([{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools])


def toolset_of(name: str) -> Toolset:
    nothing: Any = None
    if name == "hive":
        return hive_toolset(nothing)
    if name == "governance":
        return governance_toolset(nothing, "swarmrise")
    if name == "memory":
        return memory_toolset(MemoryServices(memory=nothing))
    if name == "reference":
        book: Any = Scripted([helios()])
        return reference_toolset(ReferenceServices(reference=book))
    return knowledge_toolset(
        KnowledgeServices(library=Library(FakeLibrary()), search=FakeSearch(), proposals=FakeProposals())
    )


@pytest.fixture(scope="module", params=list(SNAPSHOTS))
def toolset(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def listed(toolset: str) -> dict[str, Any]:
    """`tools/list` of a toolset, for somebody unknown: everything is shown."""
    server = build_server([toolset_of(toolset)], Surface(base_url="https://knowledge.example.org"))

    async def ask() -> dict[str, Any]:
        async with Client(server) as client:
            return (await client.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)

    return anyio.run(ask)


def test_tools_are_the_committed_ones(listed: dict[str, Any], toolset: str) -> None:
    snapshot = SNAPSHOTS[toolset]
    if os.environ.get(UPDATE) == "1":
        snapshot.write_text(json.dumps(listed["tools"], indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    committed = json.loads(snapshot.read_text(encoding="utf-8"))
    assert committed == listed["tools"], f"run with {UPDATE}=1 to accept the change"


def test_every_tool_says_what_it_is_what_it_may_do_and_what_it_answers(listed: dict[str, Any]) -> None:
    for tool in listed["tools"]:
        assert tool["title"]
        assert tool["description"].endswith("."), tool["name"]
        assert {"title", "readOnlyHint", "destructiveHint", "openWorldHint"} <= tool["annotations"].keys()
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["outputSchema"]["type"] == "object", tool["name"]
        assert len(tool["name"]) <= 40


def test_only_tools_that_propose_remember_contribute_or_report_write(listed: dict[str, Any], toolset: str) -> None:
    writing = {tool["name"]: tool["annotations"] for tool in listed["tools"] if not tool["annotations"]["readOnlyHint"]}
    assert writing.keys() == WRITING[toolset]
    assert all(told["idempotentHint"] is (name not in COUNTING) for name, told in writing.items())


def test_what_a_model_is_shown_fits_its_budget(listed: dict[str, Any]) -> None:
    assert estimate_tokens(shown_to_models(listed["tools"])) <= MODEL_TOKENS


def test_the_whole_list_fits_its_budget(listed: dict[str, Any]) -> None:
    assert estimate_tokens(compact(listed)) <= LIST_TOKENS


def test_a_real_tokenizer_counts_no_more_than_the_budgets(listed: dict[str, Any]) -> None:
    shipped = bundled() / TOKENIZER
    tokenizer = Tokenizer.from_str(shipped.read_text(encoding="utf-8"))
    for text, budget in ((shown_to_models(listed["tools"]), MODEL_TOKENS), (compact(listed), LIST_TOKENS)):
        counted = len(tokenizer.encode(text, add_special_tokens=False).ids)
        assert counted <= budget
        assert counted <= 1.1 * estimate_tokens(text)
