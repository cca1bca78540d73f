"""The toolset as a whole: as the seed declares it, and beside the other toolsets."""

from typing import Any

import pytest

from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.memory.operations import MemoryServices
from commonplace.memory.tools.toolset import memory_toolset
from commonplace.reference.model import ENTRY_TYPES, METHODS, Catalogue, EndpointAnswer
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.lists import input_schema
from commonplace.web.mcp.offer import MAX_INSTRUCTION_WORDS, offer_of
from commonplace.web.mcp.rendering import compact
from tests.fakes.catalogues import catalogue, entry
from tests.unit.reference.tools.desks import Desk, desk

NOTHING: Any = None
KNOWLEDGE = knowledge_toolset(KnowledgeServices(library=NOTHING, search=NOTHING))
MEMORY = memory_toolset(MemoryServices(memory=NOTHING))
REFERENCE = reference_toolset(ReferenceServices(reference=NOTHING))
PRODUCT, PAGED = ("catalogue", "version"), ("page", "maxTokens")
LIST_TOKENS = 1_500
SCHEMAS = {tool.name: input_schema(tool) for tool in REFERENCE.tools}


def test_the_seeds_tools_take_what_the_seed_says_and_little_more() -> None:
    taken = {name: (set(schema["properties"]), schema.get("required", [])) for name, schema in SCHEMAS.items()}
    assert taken == {
        "search_knowledge": ({"query", "type", "category", "module", "limit", *PRODUCT}, ["query"]),
        "get_command": ({"command", *PRODUCT, *PAGED}, ["command"]),
        "get_api_endpoint": ({"method", "path", *PRODUCT, *PAGED}, ["path"]),
        "get_guide": ({"guide", *PRODUCT, *PAGED}, ["guide"]),
        "list_commands": ({"category", "module", "cursor", *PRODUCT}, []),
        "report_gap": ({"query", "type", "note"}, ["query"]),
    }
    search = SCHEMAS["search_knowledge"]["properties"]
    assert search["type"]["enum"] == ["all", *ENTRY_TYPES]
    assert (search["limit"]["type"], search["limit"]["default"]) == ("integer", 5)
    most = SCHEMAS["get_command"]["properties"]["maxTokens"]
    assert (most["minimum"], most["default"], most["maximum"]) == (200, 1_000, 8_000)
    methods = SCHEMAS["get_api_endpoint"]["properties"]["method"]["enum"]
    assert methods == list(METHODS)
    assert {"GET", "POST", "PUT", "PATCH", "DELETE"} <= set(methods)


def test_looking_up_is_everybodys() -> None:
    for tool in REFERENCE.tools:
        need = REFERENCE.need_of(tool)
        assert need.open is (tool.name != "report_gap"), tool.name
        assert need.kind == "commands"
    assert {tool.name: tool.cost for tool in REFERENCE.tools} == {
        "search_knowledge": "search",
        "get_command": "read",
        "get_api_endpoint": "read",
        "get_guide": "read",
        "list_commands": "read",
        "report_gap": "write",
    }


def test_instructions_are_short_alone_and_beside_others() -> None:
    assert offer_of([REFERENCE]).instructions() == REFERENCE.instructions
    for name in ("search_knowledge", "get_command", "get_api_endpoint", "get_guide", "list_commands"):
        assert name in REFERENCE.instructions
    every = offer_of([KNOWLEDGE, MEMORY, REFERENCE], prefix_shared=True).instructions()
    assert len(every.split()) < MAX_INSTRUCTION_WORDS
    assert "Product reference: The product's own commands" in every


def test_a_name_that_two_share_is_prefixed_and_no_other() -> None:
    every = offer_of([KNOWLEDGE, MEMORY, REFERENCE], prefix_shared=True)
    assert {"knowledge_search_knowledge", "reference_search_knowledge"} <= every.tools.keys()
    assert {"get_command", "list_commands", "get_api_endpoint", "report_gap"} <= every.tools.keys()
    assert len(every.tools) == len(KNOWLEDGE.tools) + len(MEMORY.tools) + len(REFERENCE.tools)


@pytest.mark.parametrize("name", ["command", "name", "cmd", "query", "q", "commandName"])
def test_a_command_is_understood_under_its_usual_names(here: Desk, name: str) -> None:
    here.call("get_command", **{name: "helios gw users list"})
    assert here.reference.asked == ["helios gw users list"]


@pytest.mark.parametrize("name", ["path", "endpoint", "url", "route", "path_template"])
def test_a_path_is_understood_under_its_usual_names(here: Desk, name: str) -> None:
    here.reference.paths = EndpointAnswer((), ("GET",))
    here.call("get_api_endpoint", **{name: "/api/v1/users"})
    assert here.reference.asked == [("/api/v1/users", None)]


def test_what_is_left_out_is_said(here: Desk) -> None:
    data = here.data("list_commands", category="google-workspace", verbose=True)
    assert "verbose" in data["notes"][0]


@pytest.mark.parametrize("products", [1, 13])
def test_the_list_of_tools_is_short_however_many_products_there_are(helios: Catalogue, products: int) -> None:
    others = [
        catalogue(
            f"product-{number}",
            *(
                entry(f"a-{part}", category=f"category-{number}-{part}", module=f"module-{number}")
                for part in range(20)
            ),
            version=f"{number}.{number}.{number}",
        )
        for number in range(1, products)
    ]
    listed = desk(helios, *others).ask(lambda client: client.list_tools())
    tools = listed.model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
    shown = [{key: tool[key] for key in ("name", "description", "inputSchema", "outputSchema")} for tool in tools]
    assert estimate_tokens(compact(shown)) <= LIST_TOKENS
