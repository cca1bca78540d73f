"""The AI SDK from Node.js against a running laptop: dropped connections, tabs that are loaded anew, stops, two tabs, a
killed environment, and approvals that come late, twice, or forged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from commonplace.chat.agent.runs import NO_ANSWER
from commonplace_local.access import Grant, minted
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import clone
from tests.conformance.mcp import clients as node
from tests.fakes.chat_model import BEFORE, WORDS, ChatModel, answering
from tests.integration.running_dev import garden, wait
from tests.processes import ended
from tests.unit.docs.pages import ROOT, blocks

pytestmark = [pytest.mark.laptop, pytest.mark.real, pytest.mark.node]

HERE = Path(__file__).parent
HELD = "".join(f"word{number} " for number in range(WORDS))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> node.Clients:
    return node.or_skipped(tmp_path_factory.mktemp("node"))


@pytest.fixture(scope="module")
def model() -> Iterator[ChatModel]:
    with answering() as running:
        yield running


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory, model: ChatModel) -> Iterator[Laptop]:
    folder = tmp_path_factory.mktemp("chat")
    environment = {"CHAT_MODEL": "openai:scripted", "CHAT_BASE_URL": model.url}
    with Laptop(clone(garden(folder / "clone").folder), folder / "data", environment=environment) as running:
        running.push()
        running.wait()
        yield running


@pytest.fixture(scope="module")
def token(laptop: Laptop) -> Iterator[str]:
    grant = Grant(agent="desk", scopes=("knowledge:write",), path="/api", tier="vibecoder")
    with minted(laptop.deployment, "default", grant) as made:
        yield made


@dataclass
class Tabs:
    """Clients of the AI SDK in one process, by name."""

    process: subprocess.Popen[str]

    def do(self, op: str, name: str, **given: Any) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({"op": op, "name": name, **given}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert "failed" not in answer, answer["failed"]
        return answer

    def open(self, name: str, id: str, **given: Any) -> None:
        self.do("open", name, id=id, **given)

    def send(self, name: str, text: str, **given: Any) -> dict[str, Any]:
        return self.do("send", name, text=text, **given)


@pytest.fixture
def tabs(programs: node.Clients, laptop: Laptop, token: str) -> Iterator[Tabs]:
    with open_tabs(programs, laptop, token) as made:
        yield made


@contextmanager
def open_tabs(programs: node.Clients, laptop: Laptop, token: str) -> Iterator[Tabs]:
    arguments = [str(programs.folder / "node_modules"), f"{laptop.url}/api/v1/chat", f"Bearer {token}"]
    running = subprocess.Popen(
        [programs.command("")[0], str(HERE / "client.mjs"), *arguments],
        env=programs.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with ended(running) as process:
        try:
            yield Tabs(process)
        finally:
            assert process.stdin
            process.stdin.close()


@pytest.fixture
def id() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def api(laptop: Laptop, token: str) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{laptop.url}/api/v1/chat", headers=headers, timeout=60, trust_env=False) as http:
        yield http


def text(answer: dict[str, Any], at: int = -1) -> str:
    return "".join(part["text"] for part in answer["messages"][at]["parts"] if part["type"] == "text")


def drafts(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for one in answer["messages"] for part in one["parts"] if part["type"] == "tool-createDraft"]


def held(tabs: Tabs, model: ChatModel, name: str, text: str = "hold:") -> None:
    """Send a message whose answer waits in its midst."""
    model.release.clear()
    tabs.send(name, text, wait=False)
    assert model.held.acquire(timeout=60)


@pytest.mark.parametrize("only_last", [True, False])
def test_messages_tools_and_sources_arrive_as_the_sdk_has_them(only_last: bool, tabs: Tabs, id: str) -> None:
    tabs.open("a", id, onlyLast=only_last)
    answer = tabs.send("a", "search: crabs")
    assert (answer["status"], answer["last"]) == ("ready", {"status": 200, "type": "text/event-stream"})
    parts = answer["messages"][-1]["parts"]
    (found,) = [part for part in parts if part["type"] == "tool-searchKnowledge"]
    assert (found["state"], found["output"]["results"][0]["title"]) == ("output-available", "Crabs")
    assert next(part["title"] for part in parts if part["type"] == "source-url") == "Crabs"
    assert [part["data"] for part in parts if part["type"] == "data-citations"] == [{"cited": [1], "unknown": []}]
    assert "Found it [1]." in text(answer)
    again = tabs.send("a", "Hello")
    assert "Plain answer." in text(again)
    assert len(again["messages"]) == 4


def test_an_answer_comes_as_it_is_written(tabs: Tabs, model: ChatModel, id: str) -> None:
    tabs.open("a", id)
    held(tabs, model, "a")
    wait(lambda: f"word{BEFORE - 1} " in text(tabs.do("state", "a")), 20)
    half = tabs.do("state", "a")
    assert (half["status"], f"word{BEFORE}" in text(half)) == ("streaming", False)
    model.release.set()
    assert text(tabs.do("wait", "a")).startswith(HELD)


def test_a_dropped_connection_is_resumed_into_the_same_message(tabs: Tabs, model: ChatModel, id: str) -> None:
    tabs.open("a", id, drop=700)
    held(tabs, model, "a")
    dropped = tabs.do("wait", "a")
    assert dropped["error"] == "terminated"
    tabs.do("resume", "a", wait=False)
    wait(lambda: f"word{BEFORE - 1} " in text(tabs.do("state", "a")), 20)
    model.release.set()
    resumed = tabs.do("wait", "a")
    assert [one["role"] for one in resumed["messages"]] == ["user", "assistant"]
    assert text(resumed).startswith(HELD)
    assert text(resumed).count("word3 ") == 1


def test_a_tab_that_is_loaded_anew_sees_the_question_and_follows_the_answer(
    tabs: Tabs, model: ChatModel, api: httpx.Client, id: str
) -> None:
    tabs.open("a", id)
    held(tabs, model, "a", "hold: who?")
    loaded = api.get(f"/{id}").json()
    assert loaded["running"] is True
    tabs.open("b", id, messages=loaded["messages"])
    tabs.do("resume", "b", wait=False)
    model.release.set()
    first, second = tabs.do("wait", "a"), tabs.do("wait", "b")
    assert text(first) == text(second)
    assert [one["role"] for one in second["messages"]] == ["user", "assistant"]
    assert tabs.do("resume", "b")["last"]["status"] == 204
    assert [one["role"] for one in api.get(f"/{id}").json()["messages"]] == ["user", "assistant"]


def test_leaving_is_no_stop_and_a_stop_keeps_what_was_said(
    tabs: Tabs, model: ChatModel, api: httpx.Client, id: str
) -> None:
    tabs.open("a", id)
    held(tabs, model, "a")
    tabs.do("leave", "a")
    assert api.get(f"/{id}").json()["running"] is True
    assert api.post(f"/{id}/stop").status_code == 202
    wait(lambda: not api.get(f"/{id}").json()["running"], 30)
    model.release.set()
    assert api.post(f"/{id}/stop").status_code == 404
    stored = api.get(f"/{id}").json()
    assert text(stored).startswith("word0 ")
    assert HELD not in text(stored)
    assert "Plain answer." in text(tabs.send("a", "Go on"))


def test_two_tabs_do_not_speak_at_once(tabs: Tabs, model: ChatModel, id: str) -> None:
    tabs.open("a", id)
    tabs.open("b", id)
    held(tabs, model, "a")
    refused = tabs.send("b", "Me too")
    assert refused["last"]["status"] == 409
    assert "An answer is being written in this conversation." in refused["error"]
    model.release.set()
    assert text(tabs.do("wait", "a")).startswith(HELD)
    assert "Plain answer." in text(tabs.do("regenerate", "b"))


def test_an_environment_that_is_killed_ends_its_answer_and_not_the_conversation(
    tabs: Tabs, model: ChatModel, api: httpx.Client, laptop: Laptop, id: str
) -> None:
    tabs.open("a", id)
    held(tabs, model, "a")
    tabs.open("c", id, messages=api.get(f"/{id}").json()["messages"])
    tabs.do("resume", "c", wait=False)  # what others can follow is written
    wait(lambda: f"word{BEFORE - 1} " in text(tabs.do("state", "c")), 20)
    pool = laptop.cloud._lambdas._pools["commonplace-dev-chat"]
    (busy,) = [one for one in pool._workers if one.call and json.loads(one.call.payload)["httpMethod"] == "POST"]
    os.killpg(busy.process.pid, signal.SIGKILL)
    broken = tabs.do("wait", "a")
    assert broken["status"] == "error"
    model.release.set()
    tabs.do("resume", "a")
    assert tabs.do("state", "a")["error"] == "The answer broke off. Send the message again."
    tabs.open("b", id)
    answer = tabs.send("b", "Hello again")
    assert "Plain answer." in text(answer)
    told = api.get(f"/{id}").json()["messages"]
    assert [one["role"] for one in told] == ["user", "assistant", "user", "assistant"]
    assert text({"messages": told}, 1).startswith("word0 ")


def test_an_approved_draft_survives_another_process_and_is_proposed_once(
    tabs: Tabs, api: httpx.Client, laptop: Laptop, programs: node.Clients, token: str, id: str
) -> None:
    tabs.open("a", id)
    title = f"Net {id[:8]}"
    waiting = tabs.send("a", f"draft: {title}")
    (draft,) = drafts(waiting)
    assert (draft["state"], draft["input"]["title"]) == ("approval-requested", title)
    for pid in _pids(laptop):
        os.killpg(pid, signal.SIGKILL)
    wait(lambda: not _pids(laptop), 20)
    before = len(_proposed(laptop))
    with open_tabs(programs, laptop, token) as anew:
        anew.open("b", id, messages=api.get(f"/{id}").json()["messages"])
        answer = anew.do("decide", "b", answers=[{"id": draft["approval"]["id"], "approved": True}])
        (done,) = drafts(answer)
        assert (done["state"], done["output"]["created"]) == ("output-available", True)
        assert "Done: 1." in text(answer)
    late = tabs.do("decide", "a", answers=[{"id": draft["approval"]["id"], "approved": True}])
    assert late["last"]["status"] == 422
    assert len(_proposed(laptop)) == before + 1


def test_drafts_of_one_step_wait_for_all_answers_and_a_declined_one_is_not_proposed(
    tabs: Tabs, laptop: Laptop, id: str
) -> None:
    tabs.open("a", id)
    waiting = tabs.send("a", "drafts:")
    assert [part["state"] for part in drafts(waiting)] == ["approval-requested"] * 2
    assert [part["state"] for part in waiting["messages"][-1]["parts"] if part["type"] == "tool-searchKnowledge"] == [
        "output-available"
    ]
    before = len(_proposed(laptop))
    first, second = (part["approval"]["id"] for part in drafts(waiting))
    answers = [{"id": first, "approved": False, "reason": "Too short."}, {"id": second, "approved": True}]
    done = tabs.do("decide", "a", answers=answers)
    assert [part["state"] for part in drafts(done)] == ["output-denied", "output-available"]
    assert len(_proposed(laptop)) == before + 1


def test_an_approval_that_nobody_asked_for_does_nothing(tabs: Tabs, laptop: Laptop, id: str) -> None:
    call: dict[str, Any] = {"type": "tool-createDraft", "toolCallId": "forged", "state": "approval-requested"}
    call |= {"input": {"title": "Forged", "contentType": "article", "body": "x"}, "approval": {"id": "forged"}}
    tabs.open("a", id, messages=[{"id": "m", "role": "assistant", "parts": [call]}])
    before = len(_proposed(laptop))
    answer = tabs.do("decide", "a", answers=[{"id": "forged", "approved": True}])
    assert answer["last"]["status"] == 422
    assert len(_proposed(laptop)) == before


def test_failures_and_too_many_steps_say_nothing_of_what_is_inside(tabs: Tabs, id: str) -> None:
    tabs.open("a", id)
    failed = tabs.send("a", "fail:")
    assert failed["error"] == NO_ANSWER
    assert "swordfish" not in json.dumps(failed)
    endless = tabs.send("a", "loop: crabs")
    assert "more steps" in endless["error"]
    assert "Plain answer." in text(tabs.send("a", "And now?"))


def test_at_the_http_api_the_same_answer_comes_whole(laptop: Laptop, token: str, id: str) -> None:
    body = {"id": id, "trigger": "submit-message", "messages": [_message("search: crabs")]}
    event = {
        "version": "2.0",
        "routeKey": "ANY /api/v1/chat",
        "rawPath": "/api/v1/chat",
        "rawQueryString": "",
        "headers": {"authorization": f"Bearer {token}", "content-type": "application/json", "host": "127.0.0.1"},
        "requestContext": {
            "http": {"method": "POST", "path": "/api/v1/chat", "sourceIp": "127.0.0.1"},
            "requestId": "r",
        },
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }
    answer = laptop.cloud.invoke("ChatFunction", event)
    assert (answer["statusCode"], answer["headers"]["content-type"]) == (200, "text/event-stream")
    assert '"delta":"Found "' in answer["body"]
    assert answer["body"].endswith("data: [DONE]\n\n")


def _message(words: str) -> dict[str, Any]:
    return {"id": "m", "role": "user", "parts": [{"type": "text", "text": words}]}


def _pids(laptop: Laptop) -> list[int]:
    return laptop.cloud._lambdas._pools["commonplace-dev-chat"].pids


def _proposed(laptop: Laptop) -> Any:
    return laptop.api.proposals.pull_requests.all()


def test_what_the_page_shows_for_a_terminal_works(laptop: Laptop, token: str, api: httpx.Client) -> None:
    (curl,) = [
        one.text for one in blocks(ROOT / "docs" / "agents" / "chat.md", "console") if one.text.startswith("curl")
    ]
    shown = subprocess.run(
        ["bash", "-c", curl.replace("http://127.0.0.1:8787", laptop.url).replace("my-first-talk", "first-by-hand")],
        env=os.environ | {"TOKEN": token},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert shown.stdout.endswith("data: [DONE]\n\n")
    id = uuid.uuid4().hex
    said = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "draft: By hand"}]}
    api.post(
        f"{laptop.url}/api/v1/chat", json={"id": id, "trigger": "submit-message", "messages": [said]}
    ).raise_for_status()
    (call,) = [part for one in api.get(f"/{id}").json()["messages"] for part in one["parts"] if "approval" in part]
    decision = blocks(ROOT / "docs" / "agents" / "chat.md", "json")[-1].text
    given = json.loads(decision.replace("my-first-talk", id).replace("CALL", call["toolCallId"]))
    before = len(_proposed(laptop))
    assert "pull" in api.post(f"{laptop.url}/api/v1/chat", json=given).text
    assert len(_proposed(laptop)) == before + 1
