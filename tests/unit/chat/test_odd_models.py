"""What odd models, services, stores and clients do to a chat: nothing is lost, stuck, left over or free of charge."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from commonplace.chat.agent import runs
from commonplace.chat.agent.models import NO_DRAFTS, passages
from commonplace.chat.agent.runs import MISFIT, NO_ANSWER, RUN_TOKENS
from commonplace.chat.console import turn
from commonplace.chat.history import NOT_RUN
from commonplace.chat.model import Source, sources_of
from commonplace.kernel.errors import Unavailable
from tests.fakes.chats import ID, ChatWorld, Person, Said, decided, frames, says, steps, words
from tests.unit.chat.test_runs import DRAFT, QUESTION, parts, shown

Body = Callable[[asyncio.Event], AsyncIterator[bytes]]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "FLUSH_SECONDS", 0.02)


def used(world: ChatWorld) -> int:
    """Return the tokens of today's budgets."""
    return sum(int(item["used"]["N"]) for item in items(world, "#chatbudget#"))


def items(world: ChatWorld, room: str) -> list[dict[str, Any]]:
    return [item for item in world.client.scan(TableName=world.table)["Items"] if room in item["pk"]["S"]]


def raw(tool: str, arguments: str, id: str = "call_1") -> dict[int, DeltaToolCall]:
    return {0: DeltaToolCall(name=tool, json_args=arguments, tool_call_id=id)}


def event(delta: dict[str, str], **changed: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None} | changed
    made = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(made)}\n\n".encode()


TOTAL = {"prompt_tokens": 30_000, "completion_tokens": 4_000, "total_tokens": 34_000}
END = event({}, finish_reason="stop").replace(b'"choices"', f'"usage": {json.dumps(TOTAL)}, "choices"'.encode())


def served(world: ChatWorld, body: Body) -> asyncio.Event:
    """Have a service that speaks as OpenAI does answer; return what is set when the body says so."""
    going = asyncio.Event()

    class Stream(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for piece in body(going):
                yield piece

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Stream())

    def model() -> OpenAIChatModel:
        http: Any = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        client = AsyncOpenAI(base_url="http://model.example/v1", api_key="k", http_client=http, max_retries=0)
        return OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client))

    world.chat.runs.model = model
    return going


@pytest.mark.parametrize("how", ["whole", "stopped", "broken", "malformed"])
def test_an_answer_that_was_broken_off_is_charged_by_its_length(world: ChatWorld, how: str) -> None:
    async def body(going: asyncio.Event) -> AsyncIterator[bytes]:
        for number in range(400):
            yield event({"content": f"word {number} and "})
        going.set()
        while how == "stopped":
            await asyncio.sleep(0.01)
            yield event({"content": "."})
        if how == "broken":
            raise httpx.ReadError("gone")
        yield b"data: {nonsense\n\n" if how == "malformed" else END
        yield b"data: [DONE]\n\n"

    async def story() -> httpx.Response:
        going, ada = served(world, body), world.person()
        asking = asyncio.create_task(ada.ask("Q"))
        await asyncio.wait_for(going.wait(), 10)
        if how == "stopped":
            await ada.send("POST", f"/{ID}/stop")
        return await asyncio.wait_for(asking, 20)

    answer = asyncio.run(story())
    assert used(world) == 34_000 if how == "whole" else 1_000 < used(world) < RUN_TOKENS
    assert world.slots.slots == []
    if how == "broken":
        assert NO_ANSWER in [one.get("errorText") for one in frames(answer)]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"query":"\\ud800"}',
        '{"query":' + "[" * 3000 + "]" * 3000 + "}",
        '{"query": NaN}',
        '{"query": 1e400}',
        "[1]",
        "null",
        '{"query":',
    ],
)
@pytest.mark.parametrize("tool", ["searchKnowledge", "createDraft", "aTool"])
def test_a_conversation_with_odd_arguments_is_read_continued_and_deleted(
    world: ChatWorld, tool: str, arguments: str
) -> None:
    vi = world.browser("vi")
    world.script = steps([raw(tool, arguments)], ["Done."])
    vi.now("ask", "Q")
    answer = vi.now("send", "GET", f"/{ID}")
    assert answer.status_code == 200

    def refuse(_: str) -> None:
        pytest.fail("no JSON")

    for message in json.loads(answer.text, parse_constant=refuse)["messages"]:
        json.dumps(turn(message), default=asdict).encode()
    world.script = says("Going on.")
    assert "Going on." in words(vi.now("ask", "On", message="message-2"))
    assert vi.now("send", "DELETE", f"/{ID}").status_code == 204
    assert items(world, "#chat#") == []
    assert world.slots.slots == []


def test_a_draft_after_odd_arguments_is_approved(world: ChatWorld) -> None:
    deep = '{"query":' + "[" * 3000 + "]" * 3000 + "}"
    vi = world.browser("vi")
    world.script = steps([raw("searchKnowledge", deep)], [raw("createDraft", json.dumps(DRAFT), "call_2")], ["Done."])
    vi.now("ask", "Draft it")
    assert vi.now("decide", "call_2", True).status_code == 200
    assert len(world.proposals.opened) == 1


def test_a_call_that_another_answer_has_the_id_of_is_not_taken_for_it(world: ChatWorld) -> None:
    vi, second = world.browser("vi"), DRAFT | {"title": "Second", "body": "The second."}
    world.script = steps([raw("createDraft", json.dumps(DRAFT))], ["Done."])
    vi.now("ask", "Draft it")
    world.script = steps([raw("createDraft", json.dumps(second))], ["Done."])
    vi.now("ask", "Draft another", message="message-2")
    drafts = [part for one in shown(vi) for part in parts(one, "tool-createDraft")]
    assert [(one["state"], one["input"]["title"]) for one in drafts] == [
        ("output-error", "Mending nets"),
        ("approval-requested", "Second"),
    ]
    assert drafts[0]["errorText"] == NOT_RUN
    vi.now("decide", "call_1", True)
    world.script = steps([raw("createDraft", json.dumps(DRAFT))], ["Done."])
    vi.now("ask", "And the first after all", message="message-3")
    vi.now("decide", "call_1", True)
    assert [one.proposal.title.partition(": ")[2] for one in world.proposals.opened.values()] == [
        "Second",
        "Mending nets",
    ]


def test_a_question_beside_a_waiting_draft_is_answered(world: ChatWorld) -> None:
    vi = world.browser("vi")
    world.script = passages
    vi.now("ask", "draft: Mending nets\nSoak the twine.")
    answer = vi.now("ask", QUESTION, message="message-2")
    assert "Rotating stewardship" in words(answer)
    assert "interrupted" not in words(answer)


def test_who_may_not_propose_is_told(world: ChatWorld) -> None:
    world.script = passages
    assert NO_DRAFTS in words(world.browser("ada", tier="member").now("ask", "draft: Mending nets\nSoak."))


@pytest.mark.parametrize(("said", "expected"), [("\ud83d|\ude00", "\N{GRINNING FACE}"), ("\ud800", "\ufffd")])
def test_half_an_emoji_loses_no_answer(world: ChatWorld, said: str, expected: str) -> None:
    world.script = says("Begin ", *said.split("|"), " end")
    ada = world.browser()
    assert frames(ada.now("ask", "Q"))[-1]["type"] == "finish"
    assert parts(shown(ada)[1], "text")[0]["text"] == f"Begin {expected} end"


def test_an_answer_beyond_all_bounds_ends_and_can_be_repeated(world: ChatWorld) -> None:
    world.script = says("Begin. ", *["海" * 10_000] * 15)
    ada = world.person()
    ada.now("ask", "Q")
    world.script = says("Short.")
    assert "Short." in words(ada.now("ask", "Q", message="message-2"))
    assert [part["text"] for one in shown(ada) for part in parts(one, "text")][-2:][0].startswith("Short.")


def slow(*said: str) -> Callable[..., AsyncIterator[Said]]:
    async def script(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[Said]:
        for one in said:
            yield one
            await asyncio.sleep(0.03)

    return script


def test_a_store_that_is_away_for_a_moment_loses_nothing_of_the_journal(
    world: ChatWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, calls = world.store.write, iter(range(100))

    def failing(*given: Any) -> None:
        if next(calls) in (1, 2):
            raise Unavailable("away")
        write(*given)

    monkeypatch.setattr(world.store, "write", failing)
    world.script = slow(*(f"w{number} " for number in range(20)))
    ada = world.person()
    said = words(ada.now("ask", "Q"))
    live = world.store.live(ada.owner, ID)
    assert live is not None
    journal = "".join(frames for _, frames in world.store.journal(ada.owner, ID, live.run))
    assert words(journal) == said


def test_a_defect_in_what_looks_after_a_run_does_not_hold_it_up(
    world: ChatWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = world.store.live

    def failing(*given: Any, consistent: bool = True) -> Any:
        if not consistent:
            raise RuntimeError("a defect")
        return live(*given)

    monkeypatch.setattr(world.store, "live", failing)
    world.script = slow("I begin", "and end")
    assert "and end" in words(world.person().now("ask", "Q"))
    assert world.slots.slots == []


@pytest.mark.parametrize("spec", ["2.0", "2.4"])
@pytest.mark.parametrize("after", [0, 0.05, 0.3])
def test_a_follower_who_goes_away_leaves_no_slot(world: ChatWorld, spec: str, after: float) -> None:
    async def story() -> None:
        begun, end = asyncio.Event(), asyncio.Event()

        async def script(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[Said]:
            yield "I begin"
            begun.set()
            await end.wait()
            yield "and end"

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(after)
            return {"type": "http.disconnect"}

        async def send(_: Any) -> None:
            if spec == "2.4" and asyncio.get_running_loop().time() > began + after:
                raise OSError("gone")

        world.script = script
        ada = world.person()
        asking = asyncio.create_task(ada.ask("Q"))
        await begun.wait()
        began = asyncio.get_running_loop().time()
        scope: dict[str, Any] = {"type": "http", "asgi": {"version": "3.0", "spec_version": spec}, "method": "GET"}
        scope |= {"path": f"/api/v1/chat/{ID}/stream", "raw_path": b"", "query_string": b"", "http_version": "1.1"}
        scope |= {"headers": [(name.encode(), value.encode()) for name, value in ada.headers.items()]}
        scope |= {"client": ("192.0.2.1", 1), "server": ("garden", 443), "scheme": "https", "root_path": ""}
        following = asyncio.create_task(world.app(scope, receive, send))
        if spec == "2.4":
            await asyncio.sleep(after)
            end.set()
        await asyncio.wait([following], timeout=10)
        assert world.followers.slots == []
        end.set()
        await asking

    asyncio.run(story())


def test_nothing_of_earlier_runs_is_left_by_a_deletion(world: ChatWorld) -> None:
    ada = world.person()
    for number in range(3):
        world.script = says(f"Secret {number}.")
        ada.now("ask", "Q", message=f"message-{number}")
    assert ada.now("send", "DELETE", f"/{ID}").status_code == 204
    assert items(world, "#chat") == items(world, "#chatbudget#")


def test_a_first_message_whose_process_died_is_seen_and_deleted(world: ChatWorld) -> None:
    ada = world.browser()
    prompt = {"id": "m", "role": "user", "parts": [{"type": "text", "text": "Lost?"}]}
    world.store.begin(ada.owner, ID, "dead", json.dumps(prompt))
    world.store.list_up(ada.owner, ID, "Lost?")
    world.now += 60
    assert shown(ada) == [prompt]
    assert ada.now("send", "DELETE", f"/{ID}").status_code == 204
    assert ada.now("send", "GET", f"/{ID}").status_code == 404


def test_a_conversation_is_listed_while_its_first_answer_is_written(world: ChatWorld) -> None:
    async def story() -> None:
        begun, end = asyncio.Event(), asyncio.Event()

        async def script(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[Said]:
            yield "I begin"
            begun.set()
            await end.wait()

        world.script = script
        ada = world.person()
        asking = asyncio.create_task(ada.ask("What is a quadrat?"))
        await begun.wait()
        listed = (await ada.send("GET", "")).json()["conversations"]
        assert [(one["id"], one["title"]) for one in listed] == [(ID, "What is a quadrat?")]
        assert (await ada.send("DELETE", f"/{ID}")).status_code == 409
        end.set()
        await asking

    asyncio.run(story())


def test_of_a_long_conversation_the_last_turns_are_shown(world: ChatWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.chat.history.MOST_TURNS", 2)
    ada = world.person()
    for number in range(4):
        world.script = says(f"Answer {number}.")
        ada.now("ask", f"Question {number}", message=f"message-{number}")
    texts = [part["text"] for one in shown(ada) if one["role"] == "user" for part in one["parts"]]
    assert texts == ["Question 2", "Question 3"]


def test_texts_of_documents_are_not_sent_again(world: ChatWorld) -> None:
    read = raw("getDocument", json.dumps({"id": "pattern/rotating-stewardship"}))
    world.script = steps([read], ["Read it [1]."])
    ada = world.person()
    ada.now("ask", "Q")
    (part,) = parts(shown(ada)[1], "tool-getDocument")
    (result,) = part["output"]["results"]
    assert result["title"] == "Rotating stewardship"
    assert "text" not in result


def test_a_decision_is_of_every_call_that_waits_as_it_was_read(world: ChatWorld) -> None:
    vi = world.browser("vi")
    two = {
        number: raw("createDraft", json.dumps(DRAFT | {"title": f"Draft {number}"}), f"call_{number}")[0]
        for number in (0, 1)
    }
    world.script = steps([two], ["Done."])
    vi.now("ask", "Draft two")
    half = vi.now("decide", "call_0", True)
    assert (half.status_code, half.json()["error"]["message"]) == (422, MISFIT)
    assert [one["event"] for one in world.audit()] == ["turn"]
    assert world.proposals.opened == {}


def test_a_decision_that_another_came_before_is_not_written_down(
    world: ChatWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    vi = world.browser("vi")
    world.script = steps([raw("createDraft", json.dumps(DRAFT))], ["Done."])
    vi.now("ask", "Draft it")
    begin = world.store.begin

    async def decline(person: Person) -> None:
        await person.send("POST", "", decided("call_1", False))

    def overtaken(*given: Any) -> Any:
        monkeypatch.setattr(world.store, "begin", begin)
        asyncio.run(decline(vi))
        return begin(*given)

    monkeypatch.setattr(world.store, "begin", overtaken)
    late = vi.now("decide", "call_1", True)
    assert late.status_code == 422
    assert sorted(one["event"] for one in world.audit()) == ["refusal", "turn", "turn"]
    assert world.proposals.opened == {}
    assert world.slots.slots == []


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//elsewhere.example", "data:text/html,x", ""])
def test_no_source_has_another_scheme(url: str) -> None:
    found = [{"n": number, "title": "T", "url": one} for number, one in enumerate((url, "/d/x"))]
    assert sources_of({"results": found}) == [Source(1, "T", "/d/x")]
