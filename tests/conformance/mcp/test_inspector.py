"""The Inspector's command line against `commonplace dev`, in both eras of the protocol."""

import json
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.conformance.mcp.clients import Clients
from tests.examples import examples
from tests.integration.running_dev import Dev

PROGRAM = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
ERAS = ("legacy", "modern")
TOOL_ERROR = 5

pytestmark = [pytest.mark.node, pytest.mark.laptop]


class Inspector:
    def __init__(self, clients: Clients, url: str, era: str) -> None:
        self._clients, self._common = clients, ("--cli", url, "--transport", "http", "--protocol-era", era)

    def run(self, method: str, *options: str) -> CompletedProcess[str]:
        return self._clients.run(PROGRAM, *self._common, "--method", method, *options)

    def told(self, method: str, *options: str) -> dict[str, Any]:
        done = self.run(method, *options)
        assert done.returncode == 0, done.stdout + done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


@pytest.fixture(params=ERAS)
def inspector(request: pytest.FixtureRequest, clients: Clients, dev: Dev) -> Inspector:
    return Inspector(clients, f"{dev.url}/mcp", request.param)


def test_lists_tools_whose_schemas_every_client_understands(inspector: Inspector) -> None:
    tools = inspector.told("tools/list", "--strict")["tools"]
    assert {"search_knowledge", "define_term", "get_document", "search", "fetch"} <= {tool["name"] for tool in tools}


def test_calls_a_tool_and_sees_text_and_data(inspector: Inspector) -> None:
    answer = inspector.told("tools/call", "--tool-name", "search_knowledge", "--tool-arg", "query=share work")
    assert answer["content"][0]["text"]
    assert answer["structuredContent"]["results"]


def test_a_failed_call_ends_with_the_code_for_it(inspector: Inspector) -> None:
    done = inspector.run("tools/call", "--tool-name", "get_document", "--tool-arg", "id=no-such-document")
    assert done.returncode == TOOL_ERROR, done.stdout + done.stderr


def test_lists_and_reads_resources(inspector: Inspector) -> None:
    resources = inspector.told("resources/list")["resources"]
    assert len(resources) >= 4
    for resource in resources[: examples(1, 4)]:
        (contents,) = inspector.told("resources/read", "--uri", resource["uri"])["contents"]
        assert contents["uri"] == resource["uri"]
        assert contents["text"]


def test_lists_resource_templates(inspector: Inspector) -> None:
    templates = inspector.told("resources/templates/list")["resourceTemplates"]
    uris = {template["uriTemplate"].removeprefix("mcp://").partition("/")[2] for template in templates}
    assert uris >= {"documents/{contentType}/{id}", "raw/{+path}"}


def test_gets_every_prompt(inspector: Inspector) -> None:
    prompts = inspector.told("prompts/list")["prompts"]
    assert len(prompts) == 3
    for prompt in prompts:
        given = [f"{argument['name']}=governance" for argument in prompt["arguments"] if argument["required"]]
        options = ("--prompt-args", *given) if given else ()
        assert inspector.told("prompts/get", "--prompt-name", prompt["name"], *options)["messages"]


def test_verifies_the_files_of_every_skill(clients: Clients, dev: Dev) -> None:
    assert Inspector(clients, f"{dev.url}/mcp", "modern").told("skills/list", "--verify")
