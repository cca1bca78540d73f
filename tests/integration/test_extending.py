"""The capability of docs/inside/extending.md is served once it is listed."""

import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from commonplace_local.dev import laptop as laptops
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import clone
from tests.extended import extended
from tests.integration.running_dev import garden

pytestmark = pytest.mark.laptop

RECORD = b'{"id": "hedge-trimmer", "name": "Hedge trimmer", "place": "Shed, left wall", "lentTo": "Rosa"}'
LOG_SECONDS = 60
"""A line that a function has written is read a moment later."""
ADDRESS = "/api/v1/things"
"""Of a thing, when its id follows."""


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    """A laptop cloud over the project with the room of things; there is a record of one thing, and a broken one."""
    folder = tmp_path_factory.mktemp("extended")
    project = extended(folder / "project")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(laptops, "PROJECT", project)
        with Laptop(clone(garden(folder / "clone").folder), folder / "data") as laptop:
            laptop.store.put("things/hedge-trimmer.json", RECORD)
            laptop.store.put("things/broken.json", b"{")
            yield laptop


def call(laptop: Laptop, tool: str, **arguments: Any) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    accepted = {"accept": "application/json, text/event-stream"}
    return httpx.post(f"{laptop.mcp_url}/things", json=body, headers=accepted, timeout=60, trust_env=False)


def test_programs_find_a_thing(laptop: Laptop) -> None:
    answer = laptop.get(f"{ADDRESS}/hedge-trimmer")
    assert answer.json() == {
        "id": "hedge-trimmer",
        "name": "Hedge trimmer",
        "place": "Shed, left wall",
        "lentTo": "Rosa",
    }
    assert answer.headers["etag"]
    assert laptop.get(f"{ADDRESS}/nothing").json()["error"]["message"] == "There is no such thing."
    assert laptop.get(f"{ADDRESS}/NO").status_code == 422


def test_it_is_described_where_it_is_served(laptop: Laptop) -> None:
    described = laptop.get("/openapi.json").json()
    assert f"{ADDRESS}/{{id}}" in described["paths"]
    assert "Things" in {tag["name"] for tag in described["tags"]}


def test_agents_find_a_thing(laptop: Laptop) -> None:
    answer = call(laptop, "find_thing", id="hedge-trimmer")
    result = answer.json()["result"]
    thing = {"id": "hedge-trimmer", "name": "Hedge trimmer", "place": "Shed, left wall", "lent_to": "Rosa"}
    assert result["structuredContent"] == thing
    assert result["content"][0]["text"] == "Hedge trimmer is with Rosa."
    assert "There is no such thing" in call(laptop, "find_thing", id="nothing").json()["result"]["content"][0]["text"]


def session_of(laptop: Laptop, account: str) -> str:
    """The cookie of a browser that has signed in as this account of the laptop."""
    page = httpx.get(f"{laptop.url}/account", trust_env=False, timeout=60)
    (csrf,) = re.findall(r'name="csrf" value="([0-9a-f]+)"', page.text)
    sent = {"csrf": csrf, "account": account, "stateId": "", "prompt": "", "next": "/console"}
    cookie = page.headers["set-cookie"].partition(";")[0]
    answer = httpx.post(
        f"{laptop.url}/account/local", data=sent, headers={"cookie": cookie}, trust_env=False, timeout=60
    )
    assert answer.headers["location"] == "/console"
    return answer.headers["set-cookie"].partition(";")[0]


def test_members_find_a_thing_in_the_console(laptop: Laptop) -> None:
    def get(path: str) -> httpx.Response:
        return httpx.get(f"{laptop.url}{path}", headers={"cookie": cookie}, trust_env=False, timeout=60)

    cookie = session_of(laptop, "ada")
    assert '<a href="/console/things"' in get("/console").text
    answer = get("/console/things?id=hedge-trimmer")
    assert "Hedge trimmer is with Rosa." in answer.text
    assert "There is no such thing." in get("/console/things?id=../nothing").text


def test_a_broken_record_is_counted_for_the_alarm(laptop: Laptop) -> None:
    assert laptop.get(f"{ADDRESS}/broken").status_code == 404
    told = '"UnreadableThings":[1.0]'
    deadline = time.monotonic() + LOG_SECONDS
    while told not in laptop.logs() and time.monotonic() < deadline:
        threading.Event().wait(0.05)
    assert told in laptop.logs()
