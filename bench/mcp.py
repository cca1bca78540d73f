"""What an MCP call costs: CPU beside the bare SDK in the same process, import, tokens of answers, calls a second.

`python -m bench.mcp [CLONE]`; without a clone, the sample. Ours and bare take turns, so that noise hits both. Every
tool that reads is called on a laptop cloud.
"""

import gc
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench import imports, table
from bench.corpus import asked_for
from bench.mcp_servers import (
    CONTEXT,
    PATH,
    Caller,
    Handler,
    bare,
    initialize,
    legacy,
    logging_as_on_lambda,
    modern,
    ours,
    result,
)
from bench.serving import RUN_SECONDS, NotSynced
from bench.table import percentile, ratio
from commonplace.web.mcp.budgets import DOCUMENT_TOKENS, MAX_TOKENS, estimate_tokens
from local.cli.dev import SAMPLE_NAME
from local.dev.laptop import Laptop
from local.dev.screen import judge
from local.dev.source import Source, clone, plain_folder
from local.knowledge_folder import SAMPLE

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


def called(caller: Caller, asked: Asked) -> dict[str, Any]:
    params = {"name": asked.tool, "arguments": dict(asked.arguments)}
    return caller(PATH, "tools/call", params, failed=True)


def measure(arguments: Sequence[str], folder: Path) -> None:
    source = _source(arguments)
    with _serving(source, folder) as laptop:
        caller = Caller(laptop.url)
        rows = [_call_row(laptop.url, caller, asked) for asked in _calls(caller, laptop)]
        caller.close()
    highest = max(int(row["tokens"] or 0) for row in rows)
    note = f"Highest: {highest:,} tokens, as estimated; target {DOCUMENT_TOKENS:,}, never more than {MAX_TOKENS:,}."
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
    found = called(caller, Asked("search", {"query": QUESTION}))["structuredContent"]["results"]
    largest = _largest(laptop, lambda _: True)
    given = {"query": QUESTION, "keyword": KEYWORD, "id": largest}
    given["term"] = _largest(laptop, lambda ref: ref.startswith(LEXICON)).removeprefix(LEXICON)
    for tool in caller(PATH, "tools/list", {})["tools"]:
        if tool["annotations"]["readOnlyHint"]:
            arguments = {name: given[name] for name in tool["inputSchema"].get("required", ())}
            yield Asked(tool["name"], arguments | ({"id": found[0]["id"]} if tool["name"] == "fetch" else {}))


def _largest(laptop: Laptop, wanted: Callable[[str], bool]) -> str:
    """`{contentType}/{id}` of the document with the most bytes; raises ValueError when there is none such."""
    manifest = laptop.manifest()
    entries = [entry for entry in (manifest.documents if manifest else ()) if wanted(str(entry.ref))]
    sizes = {str(entry.ref): len(stored.body) for entry in entries if (stored := laptop.store.get(entry.key))}
    return max(sizes, key=lambda ref: sizes[ref])


def _call_row(url: str, caller: Caller, asked: Asked) -> table.Row:
    answer, taken = called(caller, asked), []
    for number in range(WARM_UP + ROUNDS):
        began = time.perf_counter()
        called(caller, asked)
        taken += [time.perf_counter() - began] if number >= WARM_UP else []
    text = "".join(block.get("text", "") for block in answer["content"])
    data = json.dumps(answer.get("structuredContent"), ensure_ascii=False, separators=(",", ":"))
    return {
        "tool": asked.tool,
        "outcome": "error" if answer.get("isError") else "ok",
        "tokens": max(estimate_tokens(text), estimate_tokens(data)),
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
            called(caller, asked)
            count += now >= warm
        caller.close()
        counted.append(count)

    threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counted) / SECONDS


BLOCKS, CALLS = 25, 20
CPU_TARGET, IMPORT_TARGET = 1.3, 1.25
CALL = {"name": "search_3", "arguments": {"query": "how to share work in a circle"}}
SDK = "import mcp.server"


@dataclass(slots=True)
class Case:
    """One kind of message, and the CPU seconds of a call in each block."""

    name: str
    event: dict[str, Any]
    ours: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)


def cases() -> list[Case]:
    return [
        Case("tools/call, modern", modern("tools/call", CALL)),
        Case("tools/call, legacy", legacy("tools/call", CALL)),
        Case("tools/list, modern", modern("tools/list")),
        Case("tools/list, legacy", legacy("tools/list")),
        Case("server/discover, modern", modern("server/discover")),
        Case("initialize, legacy", initialize()),
    ]


def main(arguments: Sequence[str]) -> int:
    title = f"CPU of an MCP call, median of {BLOCKS} blocks of {CALLS}"
    with logging_as_on_lambda():
        rows = beside(BLOCKS)
    table.show("mcp", title, rows, note=f"Target: {CPU_TARGET} times.")
    table.show("mcp-import", "Import of the MCP handler", [imported()], note=f"Target: {IMPORT_TARGET} times.")
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as name:
        measure(arguments, Path(name))
    return 0


def beside(blocks: int) -> list[table.Row]:
    """CPU per call, from event to answer, in one process. The tools answer at once: stores are not asked here."""
    mine, bares = ours(), {as_json: bare(json_response=as_json) for as_json in (True, False)}
    order, rows = random.Random(1), []
    for case in cases():
        told = mine(case.event, CONTEXT)
        other = bares["application/json" in told["headers"]["content-type"]]
        _same(result(told), result(other(case.event, CONTEXT)))
        for number in range(blocks + 1):
            for samples, handler in order.sample([(case.ours, mine), (case.bare, other)], 2):
                spent = _block(handler, case.event)
                if number:  # the first one warmed up
                    samples.append(spent)
        rows.append(_row(case))
    return rows


def imported() -> table.Row:
    """CPU of a cold import of the handler, beside that of the SDK's server."""
    handler, sdk = imports.sampled([("mcp", imports.HANDLER), ("mcp", SDK)]).values()
    return imports.row("mcp", SDK, handler, sdk)


def _block(handler: Handler, event: dict[str, Any]) -> float:
    """CPU seconds a call, of all threads. Garbage of one must not be collected in the other's time."""
    gc.collect()
    began = time.process_time()
    for _ in range(CALLS):
        handler(event, CONTEXT)
    return (time.process_time() - began) / CALLS


def _same(mine: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Raises ValueError when the two did different work."""
    for key in ("structuredContent", "content"):
        if mine.get(key) != other.get(key):
            raise ValueError(f"Ours and the bare server answered with another {key}.")
    if len(mine.get("tools", ())) != len(other.get("tools", ())):
        raise ValueError("Ours and the bare server list other tools.")


def _row(case: Case) -> table.Row:
    return {
        "message": case.name,
        "cpu ms": 1000 * median(case.ours),
        "bare cpu ms": 1000 * median(case.bare),
        "times bare": ratio(median(case.ours), median(case.bare)),
        "lowest ms": 1000 * min(case.ours),
        "bare lowest ms": 1000 * min(case.bare),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
