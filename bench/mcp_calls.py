"""Every tool that reads, called on a laptop cloud: tokens of its default answer, milliseconds, calls a second."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench import table
from bench.corpus import asked_for
from bench.figures import median, percentile
from bench.mcp_events import modern
from bench.serving import RUN_SECONDS, NotSynced
from commonplace.web.mcp.budgets import DEFAULT_TOKENS, MAX_TOKENS, estimate_tokens
from local.cli.dev import SAMPLE, SAMPLE_NAME
from local.dev.laptop import Laptop
from local.dev.screen import judge
from local.dev.source import Source, clone, plain_folder

WARM_UP, ROUNDS = 3, 30
CLIENTS, SECONDS = 4, 3.0
QUESTION = "how do groups share work and decide together"
KEYWORD = "a"
LEXICON = "tag/"


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as somebody makes it who gives only what must be given."""

    tool: str
    arguments: Mapping[str, Any]


class Caller:
    """One kept connection. Not for use from several threads."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def __call__(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result. Raises ValueError for anything else."""
        event = modern(method, params)
        headers = {name: event["headers"][name] for name in event["headers"] if name.startswith(("mcp-", "accept"))}
        headers["content-type"] = "application/json"
        self._connection.request("POST", event["rawPath"], event["body"], headers)
        answer = json.loads(self._connection.getresponse().read())
        if "result" not in answer:
            raise ValueError(json.dumps(answer)[:400])
        found: dict[str, Any] = answer["result"]
        return found

    def call(self, asked: Asked) -> dict[str, Any]:
        return self("tools/call", {"name": asked.tool, "arguments": dict(asked.arguments)})

    def close(self) -> None:
        self._connection.close()


def measure(arguments: Sequence[str], folder: Path) -> None:
    source = _source(arguments)
    with _serving(source, folder) as laptop:
        caller = Caller(laptop.url)
        rows = [_row(laptop.url, caller, asked) for asked in _calls(caller, laptop)]
        caller.close()
    highest = max(int(row["tokens"] or 0) for row in rows)
    note = f"Highest: {highest:,} tokens, as estimated; target {DEFAULT_TOKENS:,}, never more than {MAX_TOKENS:,}."
    table.show("mcp-calls", f"Default answers over {source.name}", rows, note=note)


def _source(arguments: Sequence[str]) -> Source:
    path = asked_for(arguments)
    return clone(path) if path else plain_folder(SAMPLE, SAMPLE_NAME)


@contextmanager
def _serving(source: Source, folder: Path) -> Iterator[Laptop]:
    """Every tool runs: the laptop takes each caller for an account of the highest tier."""
    with Laptop(source, folder, environment={"MCP_ASSUMED_TIER": "vibecoder"}) as laptop:
        laptop.push()
        laptop.wait(RUN_SECONDS)
        if faults := judge(laptop).faults:
            raise NotSynced(" ".join(faults))
        yield laptop


def _calls(caller: Caller, laptop: Laptop) -> Iterator[Asked]:
    """One for each tool that reads, about what is largest of its kind: others are answered more shortly."""
    found = caller.call(Asked("search", {"query": QUESTION}))["structuredContent"]["results"]
    largest = _largest(laptop, lambda _: True)
    given = {"query": QUESTION, "keyword": KEYWORD, "id": largest}
    given["term"] = _largest(laptop, lambda ref: ref.startswith(LEXICON)).removeprefix(LEXICON)
    for tool in caller("tools/list", {})["tools"]:
        if tool["annotations"]["readOnlyHint"]:
            arguments = {name: given[name] for name in tool["inputSchema"].get("required", ())}
            yield Asked(tool["name"], arguments | ({"id": found[0]["id"]} if tool["name"] == "fetch" else {}))


def _largest(laptop: Laptop, wanted: Callable[[str], bool]) -> str:
    """`{contentType}/{id}` of the document with the most bytes; raises ValueError when there is none such."""
    manifest = laptop.manifest()
    entries = [entry for entry in (manifest.documents if manifest else ()) if wanted(str(entry.ref))]
    sizes = {str(entry.ref): len(stored.body) for entry in entries if (stored := laptop.store.get(entry.key))}
    return max(sizes, key=lambda ref: sizes[ref])


def _row(url: str, caller: Caller, asked: Asked) -> table.Row:
    answer, taken = caller.call(asked), []
    for number in range(WARM_UP + ROUNDS):
        began = time.perf_counter()
        caller.call(asked)
        taken += [time.perf_counter() - began] if number >= WARM_UP else []
    text = "".join(block.get("text", "") for block in answer["content"])
    return {
        "tool": asked.tool,
        "outcome": "error" if answer.get("isError") else "ok",
        "tokens": estimate_tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))),
        "of text": estimate_tokens(text),
        "p50 ms": 1000 * median(taken),
        "p95 ms": 1000 * percentile(taken, 95),
        "calls/s": len(taken) / sum(taken),
        f"calls/s, {CLIENTS} clients": _together(url, asked),
    }


def _together(url: str, asked: Asked) -> float:
    """Calls a second of several clients at once; the first second starts what the host needs."""
    counted: list[int] = []
    warm = time.perf_counter() + 1
    end = warm + SECONDS

    def ask() -> None:
        caller, count = Caller(url), 0
        while (now := time.perf_counter()) < end:
            caller.call(asked)
            count += now >= warm
        caller.close()
        counted.append(count)

    threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counted) / SECONDS
