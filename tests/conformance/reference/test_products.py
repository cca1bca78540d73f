"""What real products are like, over MCP as served: many files, large bodies, lines with arguments, several products."""

import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from commonplace.web.mcp.budgets import estimate_tokens
from commonplace_local import cli
from tests.conformance.memory.worlds import embedded
from tests.conformance.reference import products
from tests.conformance.reference.conftest import organisation, served_by_moto
from tests.conformance.reference.worlds import Guest, World, calling
from tests.unit.reference.tools.desks import tokens
from tests.unit.web.mcp.talking import ERAS, text_of

BOOK = {"path": "/berths", "method": "POST", "catalogue": "desk"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("products")
    products.written(found)
    return found


@pytest.fixture(scope="module")
def harbour(model: Any, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One deployment that has them all."""
    catalogues = [products.made(folder, name) for name in products.CATALOGUES]
    index = embedded(tmp_path_factory.mktemp("index"), model)
    with served_by_moto() as client:
        here = World(client, index, model, catalogues[0], names=tuple(products.CATALOGUES))
        for one in catalogues[1:]:
            here.publish(one)
        yield here


@pytest.fixture(params=ERAS)
def caller(request: pytest.FixtureRequest, harbour: World) -> Iterator[Guest]:
    with calling(harbour, request.param, organisation()) as guest:
        yield guest


def pages_of(caller: Guest, tool: str, **asked: Any) -> Iterator[str]:
    """The text of every page, each within its budget."""
    most = asked.get("maxTokens", 1_000)
    for page in count(1):
        result = caller.result(tool, page=page, **asked)
        assert not result.is_error, text_of(result)
        assert tokens(result) <= most
        yield text_of(result)
        data = result.structured_content
        if "nextPage" not in data.get("endpoints", [data])[0]:
            return


def test_a_body_of_many_fields_has_the_required_ones_on_page_1_and_every_other_on_a_later_one(caller: Guest) -> None:
    first, *others = pages_of(caller, "get_api_endpoint", **BOOK)
    assert "POST /api/v2/berths" in first
    assert "X-Desk-Key" in first
    assert "curl" in first
    for field in products.REQUIRED:
        assert f"`{field}`" in first
    assert len(others) > 1
    for field in (*products.OPTIONAL, "boat.colour", "crew[].given_name"):
        assert f"`{field}`" in "\n".join([first, *others])


def test_a_caller_who_takes_more_tokens_gets_fewer_pages(caller: Guest) -> None:
    few = list(pages_of(caller, "get_api_endpoint", **BOOK, maxTokens=8_000))
    many = list(pages_of(caller, "get_api_endpoint", **BOOK, maxTokens=600))
    assert len(few) < len(many)
    assert all(f"`{field}`" in few[0] for field in products.REQUIRED)


def test_parameters_that_stand_in_other_files_are_told(caller: Guest) -> None:
    (one,) = caller.data("get_api_endpoint", path="/berths", method="GET", catalogue="desk")["endpoints"]
    assert one["pathTemplate"] == "/api/v2/berths"
    assert "Which quay" in json.dumps(one["required"])
    assert caller.data("get_api_endpoint", path="GET /berths/14")["endpoints"][0]["pathTemplate"] == (
        "/api/v2/berths/{berth}"
    )


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("quay add notes.md", "quay add"),
        ("quay add -n notes.md books.md", "quay add"),
        ("quay switch main", "quay switch"),
        ("quay switch -c winter", "quay switch"),
        ("quay apply -f booking.json", "quay apply"),
        ("quay apply edit-last 14", "quay apply edit-last"),
        ("tide add rock", "tide add"),
    ],
)
def test_a_line_with_arguments_is_a_use_of_its_command(caller: Guest, typed: str, name: str) -> None:
    assert caller.data("get_command", command=typed)["name"] == name


@pytest.mark.parametrize("typed", ["quay undo", "quay apply drop-last", "quay remove notes.md", "tide remove rock"])
def test_a_command_that_does_not_exist_is_refused(caller: Guest, typed: str) -> None:
    code, _ = caller.error("get_command", command=typed)
    assert code == "NOT_FOUND"
    assert caller.search(typed) == []


def test_an_option_that_does_not_exist_is_said_with_the_nearest_one(caller: Guest) -> None:
    said = text_of(caller.result("get_command", command="quay sync --frozn"))
    assert "There is no option `--frozn` of `quay sync`; nearest: `--frozen`." in said
    assert "no option" not in text_of(caller.result("get_command", command="quay sync --frozen --offline"))
    assert "no option" not in text_of(caller.result("get_command", command="quay add --chmod 644 notes.md"))


def test_a_group_that_is_a_command_too_is_answered_with_its_own_syntax(caller: Guest) -> None:
    found = caller.data("get_command", command="quay apply")
    assert (found["name"], found["syntax"]) == ("quay apply", "quay apply -f <file>")
    assert found["title"].startswith("Enters what a file says")
    assert any("quay apply -f booking.json" in one["code"] for one in found["examples"])


def test_nothing_is_made_of_a_numbered_list_or_of_what_a_program_warns_of(caller: Guest) -> None:
    commands = {
        name: said
        for group in caller.data("list_commands", catalogue="quay")["groups"]
        for name, said in group["commands"].items()
    }
    assert commands["quay config"] == "Sets how quay works."
    assert commands.keys() == {"tide add", "quay", *(f"quay {words}" for words in products.PAGES if words)}
    assert not [name for name, said in commands.items() if "warning" in said]


def test_a_description_behind_a_tab_belongs_to_its_option(caller: Guest) -> None:
    behind = (("sync", "--frozen", "Changes no entry that is there"), ("add", "--chmod", "With these rights"))
    for name, option, said in behind:
        pages = "\n".join(pages_of(caller, "get_command", command=f"quay {name}"))
        assert re.search(rf"{option}\b[^\n]*{said}", pages)


def test_two_programs_of_a_catalogue_have_commands_of_one_word(caller: Guest) -> None:
    ids = {caller.data("get_command", command=name)["id"] for name in ("quay add", "tide add")}
    assert len(ids) == 2


def test_a_product_and_its_version_are_filters(caller: Guest) -> None:
    path = {"path": "/berths", "method": "GET"}
    assert caller.data("get_api_endpoint", **path, catalogue="ferry")["endpoints"][0]["catalogue"] == "ferry"
    assert caller.data("get_api_endpoint", **path, version="2.1")["endpoints"][0]["catalogue"] == "desk"
    for found in caller.data("search_knowledge", query="list berths", catalogue="ferry")["results"]:
        assert found["catalogue"] == "ferry"
    code, said = caller.error("get_command", command="quay add", catalogue="pier")
    assert code == "NOT_FOUND"
    assert "quay" in said


def test_a_full_url_is_answered_by_the_product_it_belongs_to(caller: Guest) -> None:
    for url, name in (
        ("https://desk.harbour.example/api/v2/berths", "desk"),
        ("https://api.ferry.example/v1/berths", "ferry"),
    ):
        (one,) = caller.data("get_api_endpoint", path=url, method="GET")["endpoints"]
        assert one["catalogue"] == name


def test_a_guide_is_read_page_by_page_to_its_end(caller: Guest) -> None:
    pages = list(pages_of(caller, "get_guide", guide="opening"))
    assert len(pages) > 2
    for number in range(80):
        assert any(f"At step {number} the warden" in page for page in pages)


def test_an_operation_that_comes_out_empty_is_not_generated(folder: Path) -> None:
    empty = folder / "empty"
    (empty / "sources").mkdir(parents=True)
    (empty / "catalogue.yaml").write_text("generate: [{kind: openapi, source: sources/api.json, into: api.json}]")
    (empty / "sources" / "api.json").write_text(json.dumps(products.FERRY | {"paths": {"/berths": {"get": {}}}}))
    done = CliRunner().invoke(cli.app, ["reference", "generate", str(empty)])
    assert done.exit_code == 1
    assert "GET /v1/berths" in done.output


def test_tools_and_prompt_are_small(caller: Guest) -> None:
    tools = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in caller.ask("list_tools").tools]
    shown = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    assert estimate_tokens(json.dumps(shown, separators=(",", ":"))) <= 1_500
    prompt = caller.ask("read_resource", "reference://prompts/system").contents[0].text
    assert estimate_tokens(prompt) <= 200
