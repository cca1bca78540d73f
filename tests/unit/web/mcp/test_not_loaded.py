"""Before its first sync a toolset says that it is not loaded, never that something does not exist."""

from dataclasses import replace
from typing import Any

import pytest

from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.reference.library import CatalogueLibrary
from commonplace.reference.service import Reference
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from tests.fakes.catalogues import publish
from tests.fakes.library import FakeLibrary, garden
from tests.fakes.store import FakeObjectStore
from tests.reference_files import helios
from tests.unit.documents.tools.calling import serving
from tests.unit.web.mcp.test_invisible import served
from tests.unit.web.mcp.world import body_of, call, legacy, modern

KNOWLEDGE = {
    "search_knowledge": {"query": "seeds"},
    "define_term": {"term": "commons"},
    "search_lexicon": {"keyword": "commons"},
    "list_groups": {},
    "list_releases": {},
    "get_document": {"id": "seed-swap"},
    "search_with_documents": {"query": "seeds"},
    "get_related": {"id": "seed-swap"},
    "search": {"query": "seeds"},
    "fetch": {"id": "practice/seed-swap"},
}
REFERENCE = {
    "search_knowledge": {"query": "users list"},
    "get_command": {"command": "helios gw users nothing"},
    "get_api_endpoint": {"path": "/nothing"},
    "get_guide": {"guide": "nothing"},
    "list_commands": {"category": "nothing"},
}
READS = {
    "knowledge": [
        "mcp://superbenefit/data/groups",
        "mcp://superbenefit/documents/practice/seed-swap",
        "mcp://superbenefit/raw/a.md",
    ],
    "reference": ["reference://commands/all", "reference://entries/helios/nothing"],
}
COMPLETIONS = {
    "knowledge": {
        "ref": {"type": "ref/resource", "uri": "mcp://superbenefit/documents/{contentType}/{id}"},
        "argument": {"name": "id", "value": "seed"},
    },
    "reference": {
        "ref": {"type": "ref/resource", "uri": "reference://commands/{category}"},
        "argument": {"name": "category", "value": "a"},
    },
}


def knowledge(store: FakeLibrary) -> Any:
    return served(knowledge_toolset(replace(serving(store), full_text_tier="public")))


def reference(store: FakeObjectStore, *names: str) -> Any:
    using = ReferenceServices(reference=Reference(CatalogueLibrary(store, names, lambda: 0.0)))
    return served(reference_toolset(using))


def asked(ask: Any, name: str, arguments: dict[str, Any], era: Any) -> dict[str, Any]:
    result: dict[str, Any] = body_of(ask(era("tools/call", call(name, **arguments))))["result"]
    return result


@pytest.mark.parametrize("era", [modern, legacy])
@pytest.mark.parametrize(
    ("name", "calls"), [("knowledge", KNOWLEDGE), ("reference", REFERENCE)], ids=["knowledge", "reference"]
)
def test_no_tool_says_that_something_does_not_exist_before_the_first_sync(
    name: str, calls: dict[str, dict[str, Any]], era: Any
) -> None:
    ask = knowledge(FakeLibrary()) if name == "knowledge" else reference(FakeObjectStore(), "helios")
    for tool, arguments in calls.items():
        result = asked(ask, tool, arguments, era)
        assert result["_meta"]["commonplace/error"] == {"code": "UNAVAILABLE", "retryAfterSeconds": 5}, tool
        assert "is not loaded yet. Try again in 5 seconds. Hint: " in result["content"][0]["text"]
    for uri in READS[name]:
        error = body_of(ask(era("resources/read", {"uri": uri})))["error"]
        assert error["data"] == {"code": "UNAVAILABLE", "retryAfterSeconds": 5}, uri
    completed = body_of(ask(era("completion/complete", COMPLETIONS[name])))
    assert completed["error"]["data"] == {"code": "UNAVAILABLE", "retryAfterSeconds": 5}
    assert "result" in body_of(ask(era("tools/list")))
    assert "result" in body_of(ask(era("resources/list")))


def test_a_synced_library_without_the_document_says_that_there_is_none() -> None:
    result = asked(knowledge(FakeLibrary(garden())), "get_document", {"id": "no-such-thing"}, legacy)
    assert result["_meta"]["commonplace/error"]["code"] == "NOT_FOUND"


def test_what_one_catalogue_has_not_may_stand_in_another_that_is_not_loaded() -> None:
    store = FakeObjectStore()
    publish(store, helios())
    ask = reference(store, "helios", "selene")
    assert "isError" not in asked(ask, "get_command", {"command": "helios gw users list"}, legacy)
    for tool, arguments in REFERENCE.items():
        if tool != "search_knowledge":
            assert asked(ask, tool, arguments, legacy)["_meta"]["commonplace/error"]["code"] == "UNAVAILABLE", tool
    complete = reference(store, "helios")
    missed = asked(complete, "get_command", REFERENCE["get_command"], legacy)
    assert missed["_meta"]["commonplace/error"]["code"] == "NOT_FOUND"
