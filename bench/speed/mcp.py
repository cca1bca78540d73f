"""What an MCP call costs: CPU beside the bare SDK in the same process, import, tokens of answers, calls a second.

Without a clone, the sample. Every tool that reads is called on a laptop cloud.
"""

import argparse
import json
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.mcp_servers import (
    CONTEXT,
    PATH,
    Caller,
    bare,
    initialize,
    legacy,
    logging_as_on_lambda,
    modern,
    ours,
    result,
)
from bench.measure import Table, by_turns, cpu_by_turns, spread, together
from bench.serving import RUN_SECONDS, NotSynced
from bench.speed.imports import imported
from bench.table import Row, ratio
from commonplace.web.mcp.budgets import DOCUMENT_TOKENS, MAX_TOKENS, estimate_tokens
from commonplace_local.cli.dev import SAMPLE_NAME
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.screen import judge
from commonplace_local.dev.source import clone, plain_folder
from commonplace_local.knowledge_folder import SAMPLE

WARM_UP, ROUNDS = 3, 30
CLIENTS, WARM_SECONDS, SECONDS = 4, 1.0, 3.0
QUESTION = "how do groups share work and decide together"
KEYWORD = "a"
LEXICON = "tag/"
BLOCKS, CALLS = 25, 20
CPU_TARGET, IMPORT_TARGET = 1.3, 1.25
CALL = {"name": "search_3", "arguments": {"query": "how to share work in a circle"}}
MESSAGES = {
    "tools/call, modern": modern("tools/call", CALL),
    "tools/call, legacy": legacy("tools/call", CALL),
    "tools/list, modern": modern("tools/list"),
    "tools/list, legacy": legacy("tools/list"),
    "server/discover, modern": modern("server/discover"),
    "initialize, legacy": initialize(),
}


def mcp(options: argparse.Namespace, folder: Path) -> Iterator[Table]:
    title = f"CPU of an MCP call, median of {BLOCKS} blocks of {CALLS}"
    with logging_as_on_lambda():
        rows = beside(BLOCKS)
    yield Table("mcp", title, rows, f"Target: {CPU_TARGET} times.")
    sdk = imported({"mcp": {"import mcp.server": "import mcp.server"}})
    yield Table("mcp-import", "Import of the MCP handler", sdk, f"Target: {IMPORT_TARGET} times.")
    source = clone(options.repository) if options.repository else plain_folder(SAMPLE, SAMPLE_NAME)
    # Every tool runs: the laptop takes each caller for an account of the highest tier.
    with Laptop(source, folder, environment={"MCP_ASSUMED_TIER": "vibecoder"}) as laptop:
        laptop.push()
        laptop.wait(RUN_SECONDS)
        if faults := judge(laptop).faults:
            raise NotSynced(" ".join(faults))
        with closing(Caller(laptop.url)) as caller:
            rows = [_called(laptop.url, caller, *call) for call in _calls(caller, laptop)]
    highest = max(int(row["tokens"] or 0) for row in rows)
    note = f"Highest: {highest:,} tokens, as estimated; target {DOCUMENT_TOKENS:,}, never more than {MAX_TOKENS:,}."
    yield Table("mcp-calls", f"Default answers over {source.name}", rows, note)


def beside(blocks: int) -> list[Row]:
    """Return the CPU of a call, from event to answer, in one process. The tools answer at once, without stores.

    Raises ValueError when the two servers did different work.
    """
    mine, bares = ours(), {as_json: bare(json_response=as_json) for as_json in (True, False)}
    rows: list[Row] = []
    for name, event in MESSAGES.items():
        answer = mine(event, CONTEXT)
        other = bares["application/json" in answer["headers"]["content-type"]]
        found, theirs = result(answer), result(other(event, CONTEXT))
        for key in ("structuredContent", "content"):
            if found.get(key) != theirs.get(key):
                raise ValueError(f"Ours and the bare server answered with another {key}.")
        if len(found.get("tools", ())) != len(theirs.get("tools", ())):
            raise ValueError("Ours and the bare server list other tools.")
        ways = {"ours": partial(mine, event, CONTEXT), "bare": partial(other, event, CONTEXT)}
        cpu = cpu_by_turns(ways, blocks=blocks, calls=CALLS)
        rows.append(
            {
                "message": name,
                "cpu ms": 1000 * median(cpu["ours"]),
                "bare cpu ms": 1000 * median(cpu["bare"]),
                "times bare": ratio(median(cpu["ours"]), median(cpu["bare"])),
                "lowest ms": 1000 * min(cpu["ours"]),
                "bare lowest ms": 1000 * min(cpu["bare"]),
            }
        )
    return rows


def _calls(caller: Caller, laptop: Laptop) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and arguments of each tool that reads, with no more than it requires.

    They are about what is largest of its kind: others are answered more shortly.
    """
    found = caller(PATH, "tools/call", {"name": "search", "arguments": {"query": QUESTION}})
    manifest = laptop.manifest()
    entries = manifest.documents if manifest else []
    sizes = {str(entry.ref): len(stored.body) for entry in entries if (stored := laptop.store.get(entry.key))}
    term = max((ref for ref in sizes if ref.startswith(LEXICON)), key=lambda ref: sizes[ref]).removeprefix(LEXICON)
    given = {"query": QUESTION, "keyword": KEYWORD, "id": max(sizes, key=lambda ref: sizes[ref]), "term": term}
    for tool in caller(PATH, "tools/list", {})["tools"]:
        if tool["annotations"]["readOnlyHint"]:
            arguments = {name: given[name] for name in tool["inputSchema"].get("required", ())}
            if tool["name"] == "fetch":
                arguments["id"] = found["structuredContent"]["results"][0]["id"]
            yield tool["name"], arguments


def _called(url: str, caller: Caller, tool: str, arguments: dict[str, Any]) -> Row:
    params = {"name": tool, "arguments": arguments}

    def call(caller: Caller) -> dict[str, Any]:
        return caller(PATH, "tools/call", params, failed=True)

    answer = call(caller)
    taken = by_turns([{tool: partial(call, caller)}] * (WARM_UP + ROUNDS), warm_up=WARM_UP)[tool]
    answered = together(partial(Caller, url), call, CLIENTS, warm=WARM_SECONDS, seconds=SECONDS)
    text = "".join(block.get("text", "") for block in answer["content"])
    data = json.dumps(answer.get("structuredContent"), ensure_ascii=False, separators=(",", ":"))
    return {
        "tool": tool,
        "outcome": "error" if answer.get("isError") else "ok",
        "tokens": max(estimate_tokens(text), estimate_tokens(data)),
        "of text": estimate_tokens(text),
        **spread(taken, unit=" ms"),
        "calls/s": len(taken) / sum(taken),
        f"calls/s, {CLIENTS} clients": len(answered) / SECONDS,
    }
