"""Citations, rendering, journals and histories: pure functions, by example and by property."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.ui.vercel_ai.response_types import TextDeltaChunk, TextEndChunk, TextStartChunk

from commonplace.chat.agent.runs import Journal, framed
from commonplace.chat.history import ui_messages
from commonplace.chat.markup import rendered
from commonplace.chat.model import Citations, Source
from commonplace.chat.settings import ChatChoice
from tests.fakes.chats import frames

SOURCES = [Source(1, 'A "title"', "https://kb.example/d/a?x=1&y=2"), Source(2, "Two", "https://kb.example/d/two")]


@pytest.mark.parametrize(
    ("text", "cited", "unknown"),
    [
        ("By turns [1].", (1,), ()),
        ("By turns [2][1], and [1].", (2, 1), ()),
        ("Both [1, 2].", (1, 2), ()),
        ("Neither [3] nor [4].", (), (3, 4)),
        ("A link [1](https://x.example) is none.", (), ()),
        ("In [2026] tides rose.", (), ()),
        ("", (), ()),
    ],
)
def test_citations_are_numbers_of_sources(text: str, cited: tuple[int, ...], unknown: tuple[int, ...]) -> None:
    assert Citations.of(text, SOURCES) == Citations(cited, unknown)


def test_citations_lead_to_their_sources_and_the_rest_leads_nowhere() -> None:
    html = rendered("**Yes** [1], [9], [home](https://kb.example/d/two), [out](https://out.example) `[1]`", SOURCES)
    assert '<a class="cited" href="https://kb.example/d/a?x=1&amp;y=2" title="A &quot;title&quot;">[1]</a>' in html
    assert '<s title="There is no such source">[9]</s>' in html
    assert '<a href="https://kb.example/d/two">home</a>' in html
    assert "out</" not in html.replace("out`", "")
    assert "out.example" not in html
    assert "<code>[1]</code>" in html


@given(st.text(alphabet="<>[]()!`*_#-> \n\"'&;:/1ahrefjavscipt.xmlonerror=", max_size=300))
def test_no_text_becomes_an_image_a_script_or_a_foreign_link(text: str) -> None:
    html = rendered(text, SOURCES)
    assert "<img" not in html
    assert "<script" not in html
    for part in html.split("<a ")[1:]:
        tag = part.partition(">")[0]
        assert 'href="https://kb.example/' in tag, html


class Kept:
    """A store that keeps what a journal writes."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def write(self, _: Any, __: str, ___: str, number: int, frames: str) -> None:
        assert number == len(self.pieces) + 1
        assert len(frames.encode()) < 400_000
        self.pieces.append(frames)


def state(texts: list[dict[str, Any]]) -> dict[str, str]:
    """Return what a client has after these frames: the text of each part."""
    found: dict[str, str] = {}
    for one in texts:
        if one["type"] == "text-start":
            found[one["id"]] = ""
        elif one["type"] == "text-delta":
            found[one["id"]] += one["delta"]
    return found


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=30)), max_size=40),
    st.sets(st.integers(0, 40), max_size=8),
)
def test_a_client_has_the_same_from_the_stream_and_from_the_journal(
    deltas: list[tuple[str, str]], flushed: set[int]
) -> None:
    async def story() -> None:
        kept: Any = Kept()
        journal = Journal(kept, SimpleNamespace(), "conversation", "run")  # type: ignore[arg-type]
        sent = ""
        chunks: list[Any] = [TextStartChunk(id="a"), TextStartChunk(id="b")]
        chunks += [TextDeltaChunk(id=part, delta=delta) for part, delta in deltas]
        for number, chunk in enumerate([*chunks, TextEndChunk(id="a"), TextEndChunk(id="b")]):
            journal.add(chunk)
            sent += framed(chunk)
            if number in flushed:
                await journal.flush()
        await journal.flush()
        assert state(frames("".join(kept.pieces))) == state(frames(sent))
        assert sum(map(len, kept.pieces)) <= len(sent)

    asyncio.run(story())


def test_steps_of_one_answer_are_one_message() -> None:
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("Who?")]),
        ModelResponse(parts=[TextPart("Let me see.")]),
        ModelResponse(parts=[TextPart("They do.")], state="interrupted"),
        ModelRequest(parts=[UserPromptPart(["And", "when?"])]),
    ]
    stored = json.loads(ModelMessagesTypeAdapter.dump_json(messages))
    found = ui_messages(stored)
    assert [one["role"] for one in found] == ["user", "assistant", "user"]
    assert [part["text"] for part in found[1]["parts"] if part["type"] == "text"] == [
        "Let me see.",
        "They do.",
        "This answer ends before it is whole.",
    ]
    assert found[2]["parts"][0]["text"] == "And\n\nwhen?"
    assert [one["id"] for one in found] == [one["id"] for one in ui_messages(stored)]


@pytest.mark.parametrize(
    ("text", "kind", "model"),
    [
        ("none", "none", ""),
        ("bedrock:eu.amazon.nova-lite-v1:0", "bedrock", "eu.amazon.nova-lite-v1:0"),
        ("openai:qwen3:8b", "openai", "qwen3:8b"),
    ],
)
def test_a_model_is_named_by_its_service(text: str, kind: str, model: str) -> None:
    found = ChatChoice.parse(text)
    assert found is not None
    assert (found.kind, found.model) == (kind, model)


@pytest.mark.parametrize("text", ["", "openai", "openai:", "bedrock: x", "ollama:x", "openai:a b", "none:x"])
def test_what_names_no_model_is_refused(text: str) -> None:
    assert ChatChoice.parse(text) is None
