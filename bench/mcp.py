"""What an MCP call costs: CPU beside the bare SDK in the same process, import, tokens of answers, calls a second.

`python -m bench.mcp [CLONE]`; without a clone, the sample. Ours and bare take turns, so that noise hits both.
"""

import gc
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import imports, mcp_calls, table
from bench.figures import median, ratio
from bench.mcp_events import CONTEXT, initialize, legacy, modern, result
from bench.mcp_servers import Handler, bare, logging_as_on_lambda, ours

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
        mcp_calls.measure(arguments, Path(name))
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
