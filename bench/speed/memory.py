"""What the memory's tools take on a laptop cloud, by turns with a bare message to the same server, and how soon a
search finds what was added.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from bench import table
from bench.mcp_servers import Caller, result_of
from bench.measure import Table, Ways, by_turns, spread
from bench.memory_quality.judged import FOLDER, judged_memory
from bench.table import ratio_of_medians
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace_local.cli.dev import SAMPLE_NAME
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import plain_folder
from commonplace_local.knowledge_folder import SAMPLE

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
    """One open connection to the memory's server."""

    def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result. Raises Busy, and ValueError for anything else and for a call that failed."""
        answer = self.post(PATH, method, params)
        if '"code": "UNAVAILABLE"' in json.dumps(answer):
            raise Busy
        return result_of(answer)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured answer of a tool."""
        data: dict[str, Any] = self.answer(tool, **arguments)["structuredContent"]
        return data

    def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return text and data of a tool's answer."""
        for _ in range(TRIES):
            with suppress(Busy):
                return self.send("tools/call", {"name": tool, "arguments": arguments})
            time.sleep(1)
        raise Busy


def memory(options: argparse.Namespace, folder: Path) -> Iterator[Table]:  # noqa: ARG001 - a benchmark's arguments
    with Laptop(plain_folder(SAMPLE, SAMPLE_NAME), folder, environment={"MCP_ASSUMED_TIER": "vibecoder"}) as laptop:
        server = Server(laptop.url)
        began = time.perf_counter()
        imported = fill(server)
        seconds = time.perf_counter() - began
        laptop.wait()
        indexed = time.perf_counter() - began
        rows = measure(server, [query.asked.query for query in judged_memory().queries])
        server.close()
    rows.append(_alone(f"import of {imported} entries", [seconds]))
    rows.append(_alone("the same, until all is indexed", [indexed]))
    yield Table("memory", "The memory's tools on a laptop cloud, by turns with a bare message", rows)


def fill(server: Server) -> int:
    """Import the judged memory, file by file; return the number of entries."""
    files = sorted((FOLDER / "entries").glob("*.yaml"))
    return sum(server.call("kb_bulk_import", entries=file.read_text(encoding="utf-8"))["imported"] for file in files)


def measure(server: Server, queries: Sequence[str], rounds: int = ROUNDS) -> list[table.Row]:
    """Return a row for each tool, and one for how soon what is added is found."""
    answers: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def timed(name: str, tool: str, arguments: Mapping[str, Any]) -> None:
        answers[name].append(server.send("tools/call", {"name": tool, "arguments": arguments}))

    def ways(number: int) -> Ways:
        calls = _calls(server, queries[number % len(queries)], number)
        bare = {BARE: partial(server.send, BARE, {})}
        return bare | {name: partial(timed, name, *call) for name, call in calls.items()}

    taken = by_turns(map(ways, range(WARM_UP + rounds)), warm_up=WARM_UP, skipping=(Busy,))
    bare, rows = taken.pop(BARE), list[table.Row]()
    for name, own in taken.items():
        # Where a store was busy, fewer calls stand beside the bare ones.
        if not own:
            rows.append({"call": name, "no answer": rounds})
            continue
        times, low, high = ratio_of_medians(own, bare[: len(own)])
        rows.append(
            {
                "call": name,
                **spread(own, unit=" ms"),
                "times a bare message": f"{times:.1f} [{low:.1f}, {high:.1f}]",
                "tokens at most": max(estimate_tokens(json.dumps(one, ensure_ascii=False)) for one in answers[name]),
                "no answer": rounds - len(own),
            }
        )
    return [*rows, _alone("kb_add until kb_search finds it", [_until_found(server) for _ in range(FRESH)])]


def _calls(server: Server, query: str, number: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return each tool as an agent calls it. Those that write have something new to write in each round."""
    listed = server.call("kb_list", limit=1, offset=number)["entries"][0]["id"]
    spare = server.call("kb_add", content=f"To be deleted: {number}.", entry_type="fact", roles=["qa"])["id"]
    fact = {"entry_type": "fact", "roles": ["dev"]}
    new, known = ([{"content": f"Entry {of}.{one}.", **fact} for one in range(100)] for of in (number, number - 1))
    return {
        "kb_search": ("kb_search", {"query": query}),
        "kb_search, limit 5, role and tags": (
            "kb_search",
            {"query": query, "limit": 5, "role": "dev", "tags": ["pattern"]},
        ),
        "kb_get": ("kb_get", {"id": listed}),
        "kb_get_related": ("kb_get_related", {"entry_id": listed}),
        "kb_list": ("kb_list", {}),
        "kb_stats": ("kb_stats", {}),
        "kb_add": ("kb_add", {"content": f"Added in round {number}.", "tags": ["bench"], **fact}),
        "kb_add, a duplicate": ("kb_add", {"content": f"Added in round {number - 1}.", **fact}),
        "kb_update, metadata": ("kb_update", {"id": listed, "metadata": {"round": number}}),
        "kb_delete": ("kb_delete", {"id": spare}),
        "kb_bulk_import, 100 new": ("kb_bulk_import", {"entries": new}),
        "kb_bulk_import, 100 known": ("kb_bulk_import", {"entries": known}),
    }


def _alone(name: str, seconds: Sequence[float]) -> table.Row:
    """Return a row of what has nothing beside it."""
    return {
        "call": name,
        **spread(seconds, unit=" ms"),
        "times a bare message": "",
        "tokens at most": None,
        "no answer": None,
    }


def _until_found(server: Server) -> float:
    """Return the seconds from the answer of `kb_add` until a search finds the entry. Raises TimeoutError."""
    word = f"freshword{time.time_ns()}"
    content = f"The word of the day is {word}."
    server.call("kb_add", content=content, entry_type="fact", roles=["all"])
    began = time.perf_counter()
    while time.perf_counter() - began < FOUND_SECONDS:
        entries = server.call("kb_search", query=content, limit=50, min_confidence=0)["entries"]
        if any(word in entry["content"] for entry in entries):
            return time.perf_counter() - began
        time.sleep(POLL_SECONDS)
    raise TimeoutError(f"nothing was found in {FOUND_SECONDS:.0f} s")
