"""Contributed knowledge on a whole deployment: what was sent is nowhere, and of what is deleted no copy is left."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from commonplace.redaction.rampart import Rampart
from tests.canaries import Canaries
from tests.contracts.test_hive_secrecy import PERSONAL, PLANTED, REFUSED, ROUTES, SECRETS, recognised
from tests.hive_world import NAMES
from tests.integration.running_dev import EDIT_SECONDS, Dev, commonplace, wait

pytestmark = pytest.mark.laptop

HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
}
PATIENT = httpx.Timeout(60)


def minted(dev: Dev, organisation: str, path: str) -> dict[str, str]:
    words = ("--org", organisation, "--agent", "builder", "--scopes", "hive:admin", "--tier", "vibecoder")
    done = commonplace("tokens", "mint", *words, "--path", path, "--data", str(dev.data))
    assert done.returncode == 0, done.stderr
    return {"authorization": f"Bearer {done.stdout.strip()}"}


@pytest.fixture
def here(team: Dev) -> Iterator["Organisation"]:
    with closing(Organisation(team, "acme")) as here:
        yield here


class Organisation:
    """Its agents and reviewers, over MCP and REST."""

    def __init__(self, dev: Dev, name: str) -> None:
        self.mcp = httpx.Client(base_url=dev.url, headers=HEADERS | minted(dev, name, "/mcp/hive"), timeout=PATIENT)
        self.rest = httpx.Client(
            base_url=f"{dev.url}/api/v1/hive", headers=HEADERS | minted(dev, name, "/api"), timeout=PATIENT
        )

    def close(self) -> None:
        self.mcp.close()
        self.rest.close()

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        answer: dict[str, Any] = self.mcp.post("/mcp/hive", content=json.dumps(message).encode()).json()
        return answer

    def add(self, told: Mapping[str, Any]) -> str:
        result = self.tool("add_knowledge", **{"category": "general", **told})["result"]
        assert not result.get("isError"), result
        return str(result["structuredContent"]["contribution_id"])

    def approve(self, id: str, *, public: bool = False) -> None:
        answer = self.rest.post(f"/pending/{id}/approve", json={"public": public})
        assert answer.status_code == 200, answer.text

    def found(self, query: str) -> list[str]:
        results = self.tool("search_knowledge", query=query, limit=50)["result"]["structuredContent"]["results"]
        return [one["id"] for one in results]

    def finds(self, id: str, query: str) -> bool:
        wait(lambda: id in self.found(query), EDIT_SECONDS)
        return id in self.found(query)


def test_nothing_that_was_sent_is_anywhere_in_a_deployment(team: Dev, here: Organisation, rampart_folder: Path) -> None:
    canaries = Canaries({*PERSONAL.values(), *SECRETS.values(), *NAMES})
    answers = []
    # One place of each value, another one for each.
    for one in recognised(Rampart(rampart_folder), PLANTED[::7]):
        canaries.texts |= {text for text in one.told.values() if isinstance(text, str) and text != ROUTES}
        answers.append(json.dumps(here.tool("add_knowledge", category="general", **one.told)))
    for told in REFUSED:
        # What this answers may name a field that there is not: whoever sends one reads it, and nobody else.
        here.tool("add_knowledge", **{"category": "general", **told})
        here.rest.post("/contributions", content=json.dumps({"category": "general", **told}))
    assert len([one for one in answers if "queued" in one]) > 20

    waiting = here.rest.get("/pending", params={"limit": 100}).json()
    ids = [one["id"] for one in waiting["contributions"]]
    for place, id in enumerate(ids):
        if place % 3:
            here.approve(id, public=place % 2 == 0)
    assert here.finds(ids[1], "specific routes")
    answers += [json.dumps(here.tool("search_knowledge", id=ids[1])), json.dumps(here.tool("list_knowledge"))]

    assert canaries.in_text("\n".join(answers)) == set()
    assert canaries.in_text(team.output) == set()
    assert canaries.in_folder(team.data) == {}


def test_what_is_deleted_is_in_no_copy(team: Dev) -> None:
    word = "quetzalcoatlus"
    kept = Canaries({word})
    with closing(Organisation(team, "third")) as here, closing(Organisation(team, "elsewhere")) as other:
        id = here.add({"content": f"A {word} is the largest thing that ever flew, they say, and it walked as well."})
        here.approve(id, public=True)
        assert other.finds(id, f"largest {word}")
        assert other.tool("report_outcome", item_id=id, outcome="solved")["result"]["structuredContent"]
        assert kept.in_folder(team.data)

        assert not here.tool("delete_knowledge", id=id)["result"].get("isError")
        for organisation in (here, other):
            assert id not in organisation.found(f"largest {word}")
            assert organisation.tool("search_knowledge", id=id)["result"]["isError"]
    wait(lambda: not kept.in_folder(team.data), EDIT_SECONDS)
    assert kept.in_folder(team.data) == {}
