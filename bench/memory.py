"""What the memory's tools take on a laptop cloud, by turns with a bare message to the same server, and how soon a
search finds what was added.
"""

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from bench import table
from bench.mcp_servers import Caller, result_of
from bench.memory_quality.judged import FOLDER, JudgedMemory, judged_memory
from bench.retrieval.metrics import ratio_of_medians
from bench.table import percentile
from commonplace.web.mcp.budgets import estimate_tokens
from local.cli.dev import SAMPLE_NAME
from local.dev.laptop import Laptop
from local.dev.source import plain_folder
from local.knowledge_folder import SAMPLE

PATH = "/mcp/memory"
WARM_UP, ROUNDS, FRESH = 2, 12, 10
FOUND_SECONDS = 60.0
"""How long a search may take to find what was added before the run is given up."""
POLL_SECONDS = 0.02
TRIES = 20
BARE = "tools/list"


class Busy(Exception):
    """A store did not answer in time: on a busy machine that says nothing of the tool."""


class Server(Caller):
    """One kept connection to the memory's server."""

    def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result. Raises Busy, and ValueError for anything else and for a call that failed."""
        answer = self.post(PATH, method, params)
        if '"code": "UNAVAILABLE"' in json.dumps(answer):
            raise Busy
        return result_of(answer)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool."""
        data: dict[str, Any] = self.answer(tool, **arguments)["structuredContent"]
        return data

    def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Text and data of a tool's answer."""
        for _ in range(TRIES):
            with suppress(Busy):
                return self.send("tools/call", {"name": tool, "arguments": arguments})
            time.sleep(1)
        raise Busy


@dataclass
class Taken:
    """Seconds of one kind of call, and the bare ones that were made right before each."""

    own: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    tokens: int = 0
    busy: int = 0


def main(arguments: Sequence[str]) -> int:
    """A run over the sample and the judged memory; `arguments` may name a folder to keep its data in."""
    with tempfile.TemporaryDirectory(prefix="bench-memory-") as made:
        folder = Path(arguments[0]) if arguments else Path(made)
        environment = {"MCP_ASSUMED_TIER": "vibecoder"}
        with Laptop(plain_folder(SAMPLE, SAMPLE_NAME), folder, environment=environment) as laptop:
            server = Server(laptop.url)
            rows = measure(server, judged_memory(), laptop.wait)
            server.close()
    table.show("memory", "The memory's tools on a laptop cloud, by turns with a bare message", rows)
    return 0


def measure(
    server: Server, judged: JudgedMemory, settle: Callable[[], object], rounds: int = ROUNDS
) -> list[table.Row]:
    """A row for each tool, and one for how soon what is added is found. `settle` waits for the index."""
    began = time.perf_counter()
    imported = fill(server)
    seconds = time.perf_counter() - began
    settle()
    indexed = time.perf_counter() - began
    taken: dict[str, Taken] = defaultdict(Taken)
    for number in range(WARM_UP + rounds):
        for name, call in calls(server, judged).items():
            _timed(taken[name], server, call, keep=number >= WARM_UP)
    rows = [_row(name, one) for name, one in taken.items()]
    fresh = [_freshness(server, number) for number in range(FRESH)]
    rows.append(_alone("kb_add until kb_search finds it", fresh))
    return [
        *rows,
        _alone(f"import of {imported} entries", [seconds]),
        _alone("the same, until all is indexed", [indexed]),
    ]


def fill(server: Server) -> int:
    """Imports the judged memory, file by file."""
    files = sorted((FOLDER / "entries").glob("*.yaml"))
    return sum(server.call("kb_bulk_import", entries=file.read_text(encoding="utf-8"))["imported"] for file in files)


_NUMBERS = count()


def calls(server: Server, judged: JudgedMemory) -> dict[str, Callable[[], Any]]:
    """Each tool as an agent calls it. Those that write have something new to write each time."""
    number = next(_NUMBERS)
    query = judged.queries[number % len(judged.queries)].asked.query
    listed = server.call("kb_list", limit=1, offset=number)["entries"][0]["id"]
    fresh = [{"content": f"Entry {number}.{one}.", "entry_type": "fact", "roles": ["all"]} for one in range(100)]
    spare = server.call("kb_add", content=f"To be deleted: {number}.", entry_type="fact", roles=["qa"])["id"]

    def tool(name: str, **arguments: Any) -> Callable[[], Any]:
        return lambda: server.send("tools/call", {"name": name, "arguments": arguments})

    return {
        "kb_search": tool("kb_search", query=query),
        "kb_search, limit 5, role and tags": tool("kb_search", query=query, limit=5, role="dev", tags=["pattern"]),
        "kb_get": tool("kb_get", id=listed),
        "kb_get_related": tool("kb_get_related", entry_id=listed),
        "kb_list": tool("kb_list"),
        "kb_stats": tool("kb_stats"),
        "kb_add": tool("kb_add", content=f"Added in round {number}.", entry_type="fact", roles=["dev"], tags=["bench"]),
        "kb_add, a duplicate": tool("kb_add", content="To be deleted: 0.", entry_type="fact", roles=["dev"]),
        "kb_update, metadata": tool("kb_update", id=listed, metadata={"round": number}),
        "kb_delete": tool("kb_delete", id=spare),
        "kb_bulk_import, 100 new": tool("kb_bulk_import", entries=fresh),
        "kb_bulk_import, 100 known": tool("kb_bulk_import", entries=fresh),
    }


def _timed(taken: Taken, server: Server, call: Callable[[], Any], *, keep: bool) -> None:
    began = time.perf_counter()
    server.send(BARE, {})
    between = time.perf_counter()
    try:
        answer = call()
    except Busy:
        taken.busy += 1
        return
    end = time.perf_counter()
    if keep:
        taken.bare.append(between - began)
        taken.own.append(end - between)
        taken.tokens = max(taken.tokens, estimate_tokens(json.dumps(answer, ensure_ascii=False)))


def _row(name: str, taken: Taken) -> table.Row:
    if not taken.own:
        return {"call": name, "no answer": taken.busy}
    ratio, low, high = ratio_of_medians(taken.own, taken.bare)
    return {
        "call": name,
        "p50 ms": 1000 * median(taken.own),
        "p95 ms": 1000 * percentile(taken.own, 95),
        "times a bare message": f"{ratio:.1f} [{low:.1f}, {high:.1f}]",
        "tokens at most": taken.tokens or None,
        "no answer": taken.busy,
    }


def _alone(name: str, seconds: Sequence[float]) -> table.Row:
    """A row of what has nothing beside it."""
    return {
        "call": name,
        "p50 ms": 1000 * median(seconds),
        "p95 ms": 1000 * percentile(seconds, 95),
        "times a bare message": "",
        "tokens at most": None,
        "no answer": None,
    }


def _freshness(server: Server, number: int) -> float:
    """Seconds from the answer of `kb_add` until a search finds the entry."""
    word = f"freshword{time.time_ns()}x{number}"
    server.call("kb_add", content=f"The word of the day is {word}.", entry_type="fact", roles=["all"])
    began = time.perf_counter()
    _found(server, f"The word of the day is {word}.", word)
    return time.perf_counter() - began


def _found(server: Server, query: str, holding: str) -> None:
    """Waits until a search finds something that holds the word. Raises TimeoutError."""
    until = time.monotonic() + FOUND_SECONDS
    for _ in _polls(until):
        entries = server.call("kb_search", query=query, limit=50, min_confidence=0)["entries"]
        if any(holding in entry["content"] for entry in entries):
            return
    raise TimeoutError(f"nothing was found in {FOUND_SECONDS:.0f} s")


def _polls(until: float) -> Iterator[None]:
    while time.monotonic() < until:
        yield
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
