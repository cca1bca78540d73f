"""The chat: an answer beside the bare model, what it costs, many at once; and what it answers without a model.

`chat`: a model on this machine that says what it has to say at once, asked by itself and through the laptop's gateway,
function, tools, journal and table, by turns. CPU of a delta is the slope between a short and a long answer. Capacity is
counted by a DynamoDB Local at `--url`, for an answer of fifteen seconds.

`chat_answers`: judged questions over the sample, or questions that links of a clone (`--repository`) ask, answered by
passages: whether the first citation is the first hit of a plain search, and how often it says that there is no answer.
"""

import argparse
import asyncio
import json
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import httpx

from bench.measure import Table, by_turns
from bench.retrieval.sets import clone_sets, sample_sets
from bench.speed.governance import NO_TABLES, Meter, connect, new_table
from bench.table import Row
from commonplace.chat.agent.models import NOTHING
from commonplace.chat.agent.runs import Journal
from commonplace.chat.model import Owner
from commonplace.chat.store import ChatStore
from commonplace.kernel.audit import AuditRecord
from commonplace_local.access import Grant, minted
from commonplace_local.cli.dev import SAMPLE_NAME
from commonplace_local.dev.laptop import CHAT_FUNCTION, Laptop
from commonplace_local.dev.source import clone, plain_folder
from commonplace_local.knowledge_folder import SAMPLE

ROUNDS, WARM_UP = 30, 3
SHORT, LONG = 20, 2_020
"""Deltas of an answer."""
TALKS, ENVIRONMENTS = 20, 8
ANSWER_SECONDS, PIECE_SECONDS = 15.0, 0.5
TICKS = 100
"""The clock of /proc counts so many in a second."""
QUESTION = "How many words?"


@contextmanager
def speaking() -> Iterator[tuple[str, dict[str, float]]]:
    """A model that streams as OpenAI's does: as many words as `says`, and waits `seconds` after the first."""
    pace: dict[str, float] = {"says": SHORT, "seconds": 0.0}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing: only times count."""

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(_chunk({"role": "assistant", "content": "word "}))
            self.wfile.flush()
            time.sleep(pace["seconds"])
            for _ in range(int(pace["says"]) - 1):
                self.wfile.write(_chunk({"content": "word "}))
            self.wfile.write(_chunk({}, "stop") + b"data: [DONE]\n\n")

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """Nothing: who has the first word goes away."""

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", pace
    finally:
        server.shutdown()
        server.server_close()


def _chunk(delta: Mapping[str, str], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    made: dict[str, Any] = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    usage = {"usage": {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}} if reason else {}
    return b"data: " + json.dumps(made | usage).encode() + b"\n\n"


def chat(options: argparse.Namespace, folder: Path) -> Iterator[Table]:
    with speaking() as (url, pace), ExitStack() as undo:
        environment = {"CHAT_MODEL": "openai:m", "CHAT_BASE_URL": url, "CHAT_TOKENS_PER_DAY": "100000000"}
        source = plain_folder(SAMPLE, SAMPLE_NAME)
        laptop = undo.enter_context(Laptop(source, folder / "data", environment=environment))
        laptop.push()
        laptop.wait()
        asking = [undo.enter_context(caller(laptop, f"talker-{number}")) for number in range(TALKS)]
        model = undo.enter_context(httpx.Client(base_url=url, timeout=60, trust_env=False))
        yield Table("chat", "An answer, beside the bare model", list(beside(asking[0], model)))
        yield Table("chat_cpu", "CPU of the chat function", [cpu(laptop, asking[0], pace)])
        yield Table(
            "chat_together", f"{TALKS} conversations at once, {ENVIRONMENTS} environments", [many(asking, pace)]
        )
    if options.url is None:
        print(NO_TABLES)
        return
    yield Table("chat_capacity", f"Capacity of an answer of {ANSWER_SECONDS:g} s", [capacity(options.url)])


@contextmanager
def caller(laptop: Laptop, agent: str) -> Iterator[httpx.Client]:
    grant = Grant(agent=agent, scopes=("knowledge:read",), path="/api")
    with minted(laptop.deployment, laptop.outputs()["Organisation"], grant) as token:
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{laptop.url}/api/v1", headers=headers, timeout=120, trust_env=False) as http:
            yield http


def asked(text: str) -> dict[str, Any]:
    messages = [{"id": "m", "role": "user", "parts": [{"type": "text", "text": text}]}]
    return {"id": uuid4().hex, "trigger": "submit-message", "messages": messages}


def first(http: httpx.Client, path: str, body: Any, word: bytes) -> None:
    """Return when the first piece with this word has come; the rest is read afterwards, by whoever closes."""
    with http.stream("POST", path, json=body) as answer:
        answer.raise_for_status()
        for piece in answer.iter_raw():
            if word in piece:
                break


def beside(http: httpx.Client, model: httpx.Client) -> Iterator[Row]:
    bare = {"model": "m", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    ways = {
        "bare": lambda: first(model, "/chat/completions", bare, b"word"),
        "first byte": lambda: first(http, "/chat", asked(QUESTION), b"start"),
        "first word": lambda: first(http, "/chat", asked(QUESTION), b"word"),
        "whole": lambda: http.post("/chat", json=asked(QUESTION)).raise_for_status(),
    }
    taken = by_turns([ways] * (ROUNDS + WARM_UP), warm_up=WARM_UP)
    for name, seconds in taken.items():
        yield {
            "what": name,
            "p50 ms": round(median(seconds) * 1e3, 1),
            "times bare": round(median(seconds) / median(taken["bare"]), 1),
        }


def cpu(laptop: Laptop, http: httpx.Client, pace: dict[str, float]) -> Row:
    def of(words: int) -> float:
        pace["says"] = words
        found = []
        for _ in range(5):
            before = spent(laptop)
            http.post("/chat", json=asked(QUESTION)).raise_for_status()
            found.append(spent(laptop) - before)
        return median(found)

    short, long = of(SHORT), of(LONG)
    pace["says"] = SHORT
    return {"short answer, ms": round(short * 1e3), "µs a delta": round((long - short) / (LONG - SHORT) * 1e6)}


def spent(laptop: Laptop) -> float:
    """Return the CPU seconds of the processes of the chat function."""
    pids = laptop.cloud._lambdas._pools[laptop.cloud.function(CHAT_FUNCTION).name].pids
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(each[11]) + int(each[12]) for each in fields) / TICKS


def many(asking: list[httpx.Client], pace: dict[str, float]) -> Row:
    """Have all ask at once, and again whenever they are told to come back."""
    pace["seconds"] = 2.0
    began, statuses = time.perf_counter(), list[int]()

    def talk(http: httpx.Client) -> float:
        while True:
            answer = http.post("/chat", json=asked(QUESTION))
            statuses.append(answer.status_code)
            if answer.status_code == 200:
                return time.perf_counter() - began
            time.sleep(int(answer.headers["retry-after"]) / 10)  # a tenth of what is said: the answers here are short

    with ThreadPoolExecutor(len(asking)) as threads:
        done = sorted(threads.map(talk, asking))
    pace["seconds"] = 0.0
    told = {status: statuses.count(status) for status in sorted(set(statuses))}
    return {
        "answers": told.pop(200),
        "told to come back": sum(told.values()),
        "first s": round(done[0], 1),
        "last s": round(done[-1], 1),
        "other statuses": str({one for one in told if one != 429} or "none"),
    }


def capacity(url: str) -> Row:
    """Return what the store's own calls take while an answer is written, and when it is saved."""
    client = connect(url)
    meter = Meter(client)
    for name in ("PutItem", "UpdateItem", "DeleteItem"):
        client.meta.events.register(f"before-parameter-build.dynamodb.{name}", meter.ask)
        client.meta.events.register(f"after-call.dynamodb.{name}", meter.add)
    owner, store = Owner("bench", "account"), ChatStore(client, new_table(client), new_table(client), 30)
    pieces = int(ANSWER_SECONDS / PIECE_SECONDS)

    async def write() -> None:
        from pydantic_ai.ui.vercel_ai.response_types import TextDeltaChunk

        journal = Journal(store, owner, "conversation", "run")
        for number in range(pieces):
            for _ in range(20):
                journal.add(TextDeltaChunk(id="t", delta="some words "))
            await journal.flush()
            store.live(owner, "conversation", consistent=False)
            if number % 10 == 9:
                store.extend(owner, "conversation", "run")

    def answer() -> None:
        store.begin(owner, "conversation", "run", "x" * 200)
        store.settle(store.reserve(owner, 10_000, 5_000), 2_000)
        asyncio.run(write())
        record = AuditRecord(event="turn", outcome="ok", at=1.0, organisation="bench")
        entries = {uuid4().hex: ("x" * 3_000, None) for _ in range(4)}
        own = partial(store.save, owner, "conversation", record="x" * 1_000, revision="1", expected=None)
        own(entries=entries, title="t", audit=record)
        store.end(owner, "conversation", "run", "done")

    written = meter.of(answer)
    following = meter.of(lambda: [list(store.journal(owner, "conversation", "run", after)) for after in range(pieces)])
    return {"units of an answer": round(written, 1), "flushes": pieces, "units of a follower": round(following, 1)}


def chat_answers(options: argparse.Namespace, folder: Path) -> Iterator[Table]:
    source = clone(options.repository) if options.repository else plain_folder(SAMPLE, SAMPLE_NAME)
    sets = clone_sets(options.repository, links=True, titles=True) if options.repository else sample_sets(final=True)
    with Laptop(source, folder / "data", environment={"CHAT_TOKENS_PER_DAY": "100000000"}) as laptop:
        laptop.push()
        laptop.wait()
        with caller(laptop, "judge") as http:
            rows = [judged(http, one.name, [topic.text for topic in one.topics], bool(one.grades)) for one in sets]
    yield Table("chat_answers", "Answers without a model", rows)


def judged(http: httpx.Client, name: str, questions: list[str], answerable: bool) -> Row:
    equal = declined = cited = 0
    for question in questions:
        frames = [
            json.loads(one[6:])
            for one in http.post("/chat", json=asked(question)).text.split("\n\n")
            if one[:7] == "data: {"
        ]
        text = "".join(one["delta"] for one in frames if one["type"] == "text-delta")
        numbers = [one["data"]["cited"] for one in frames if one["type"] == "data-citations"]
        sources = {int(one["sourceId"]): one["url"] for one in frames if one["type"] == "source-url"}
        hits = http.get("/search", params={"q": question, "limit": 5}).json()["results"]
        declined += NOTHING in text
        if numbers and numbers[0] and hits:
            cited += 1
            equal += sources[numbers[0][0]] == hits[0]["documentUrl"]
    share = round(declined / len(questions), 3)
    return {
        "set": name,
        "questions": len(questions),
        "answerable": "yes" if answerable else "no",
        "with citations": cited,
        "first is the first hit": equal,
        "declined": share,
    }
