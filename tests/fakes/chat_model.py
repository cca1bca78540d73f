"""A language model on this machine that speaks as OpenAI does, streams, and does what the person's message begins with.

It is scripted, and it obeys: whatever instruction it reads in what a tool has returned, it follows.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = 40
"""Of an answer that is held."""
BEFORE = 10
"""Of these, before it is held."""
HELD_SECONDS = 60
_OBEYED = re.compile(r"CALL (\w+) (\{[^{}]*\})")
_SAID = re.compile(r"SAY ([^\n]+?) END")

Delta = dict[str, Any]


@dataclass
class ChatModel:
    """What was asked, and when an answer that is held goes on."""

    requests: list[dict[str, Any]] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    held: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released once for each answer that is held."""
    url: str = ""

    def deltas(self, messages: list[dict[str, Any]]) -> Iterator[Delta]:
        """Yield an answer piece by piece. Raises RuntimeError where the model is to fail."""
        prompt = next(one for one in reversed(messages) if one["role"] == "user")
        text = prompt["content"] if isinstance(prompt["content"], str) else prompt["content"][0]["text"]
        after = messages[messages.index(prompt) + 1 :]
        results = [str(one["content"]) for one in after if one["role"] == "tool"]
        verb, _, rest = text.partition(":")
        match verb.strip():
            case "fail":
                raise RuntimeError("the model's own secret: swordfish")
            case "hold":
                for number in range(WORDS):
                    if number == BEFORE:
                        self.held.release()
                        self.release.wait(HELD_SECONDS)
                    yield {"content": f"word{number} "}
            case "loop":
                yield _called(0, "searchKnowledge", {"query": rest or "tide"})
            case "search" | "obey" if not results:
                yield _called(0, "searchKnowledge", {"query": rest.strip()})
            case "commons" if not results:
                yield _called(0, "searchCommons", {"query": rest.strip()})
            case "commons":
                numbers = {one["url"].partition("/d/")[0]: one["n"] for one in json.loads(results[0])["results"]}
                yield {"content": " and ".join(f"one [{number}]" for number in numbers.values())}
            case "add" if not results:
                yield _called(0, "reef__add", {"a": 2, "b": 40})
            case "search":
                yield from ({"content": one} for one in ("Found ", "it ", "[1]."))
            case "draft" if not results:
                yield _called(0, "createDraft", _draft(rest.strip()))
            case "drafts" if not results:
                yield _called(0, "createDraft", _draft("First net"))
                yield _called(1, "searchKnowledge", {"query": "tide"})
                yield _called(2, "createDraft", _draft("Second net"))
            case "obey":
                orders = _OBEYED.findall(results[-1].replace('\\"', '"').replace("\\n", "\n"))
                if orders and len(results) < 4:
                    for number, (name, arguments) in enumerate(orders):
                        yield _called(number, name, json.loads(arguments))
                else:
                    said = _SAID.findall(results[-1].replace("\\n", "\n"))
                    yield {"content": " ".join(said) or "Nothing to obey."}
            case "add":
                yield {"content": "Added [1]."}
            case "draft" | "drafts":
                yield {"content": f"Done: {len(results)}."}
            case _:
                yield from ({"content": one} for one in ("Plain ", "answer."))


def _draft(title: str) -> dict[str, str]:
    return {"title": title, "contentType": "article", "body": f"# {title}\n\nSoak the twine before you mend."}


def _called(index: int, name: str, arguments: dict[str, Any]) -> Delta:
    function = {"name": name, "arguments": json.dumps(arguments)}
    id = f"call_{name}_{index}_{abs(hash(json.dumps(arguments))) % 10**9}"
    return {"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}


@contextmanager
def answering() -> Iterator[ChatModel]:
    """Listen on a free port until the block ends; `url` is what `CHAT_BASE_URL` is to be."""
    model = ChatModel()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Tests read what was asked elsewhere."""

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            model.requests.append(asked)
            try:
                first = next(deltas := model.deltas(asked["messages"]))
            except RuntimeError as error:
                body = json.dumps({"error": {"message": str(error), "type": "server_error"}}).encode()
                self.send_response(500)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            reason = "tool_calls" if "tool_calls" in first else "stop"
            try:
                for delta in (first, *deltas) if reason == "tool_calls" else _chained(first, deltas):
                    self._chunk({"delta": {"role": "assistant", **delta}, "finish_reason": None})
                self._chunk({"delta": {}, "finish_reason": reason}, usage=True)
                self.wfile.write(b"data: [DONE]\n\n")
            except OSError:
                return

        def _chunk(self, choice: dict[str, Any], *, usage: bool = False) -> None:
            chunk: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
            chunk["choices"] = [{"index": 0, **choice}]
            if usage:
                chunk["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            self.wfile.flush()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _chained(first: Delta, rest: Iterator[Delta]) -> Iterator[Delta]:
    yield first
    yield from rest
