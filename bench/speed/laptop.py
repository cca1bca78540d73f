"""Processes and memory of `commonplace dev`: shared processes beside one for each function, once ready and after use.

Memory is PSS, the pages of a process with those that it shares divided by their users (`/proc/PID/smaps_rollup`, so
Linux alone). `--repository FOLDER` measures a folder of yours beside the sample.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import httpx

from bench.measure import Table
from bench.table import Row
from commonplace_local.project import PROJECT

READY_SECONDS = 600
SETTLE_SECONDS = 10
"""The sample's contributions arrive after it is ready: the program says nothing more for so long."""
PAGES = ("/", "/types", "/map", "/t", "/search?q=", "/connect", "/docs", "/account", "/console", "/health")
DOCUMENTS = 50
QUESTIONS = 20


def processes(parent: int) -> list[int]:
    """Return a process and all below it."""
    below: list[int] = []
    for task in Path(f"/proc/{parent}/task").iterdir():
        with suppress(OSError):  # threads end at any moment
            below += map(int, (task / "children").read_text().split())
    return [parent, *chain.from_iterable(processes(pid) for pid in below)]


def megabytes(pids: Sequence[int]) -> float:
    """Return the PSS of processes together."""
    texts = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids)
    return sum(int(match[1]) for text in texts if (match := re.search(r"^Pss:\s+(\d+) kB", text, re.M))) / 1024


def use(url: str) -> None:
    """Read pages and documents, and search over REST, MCP and the site."""
    with httpx.Client(base_url=url, timeout=60, trust_env=False, follow_redirects=True) as client:
        entries = client.get("/api/v1/entries", params={"limit": DOCUMENTS}).raise_for_status().json()["entries"]
        for entry in entries:
            client.get(f"/d/{entry['contentType']}/{urllib.parse.quote(entry['id'])}").raise_for_status()
        for page in PAGES:
            client.get(page).raise_for_status()
        for title in (entry["title"] for entry in entries[:QUESTIONS]):
            client.get("/api/v1/search", params={"q": title}).raise_for_status()
            client.get("/search", params={"q": title}).raise_for_status()
            call = {"name": "search_knowledge", "arguments": {"query": title}}
            client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})


def measured(name: str, options: Sequence[str], mode: Sequence[str]) -> Row:
    """Return a row for one start."""
    with tempfile.TemporaryFile("w+") as told:
        command = [sys.executable, "-m", "commonplace_local.cli", "dev", *options, "--port", "0", *mode]
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=told, stderr=told, cwd=PROJECT) as dev:
            try:
                while not (ready := re.search(r"^ready: (\S+)", Path(f"/dev/fd/{told.fileno()}").read_text(), re.M)):
                    if dev.poll() is not None or time.perf_counter() - began > READY_SECONDS:
                        raise SystemExit("`commonplace dev` did not become ready")
                    time.sleep(0.2)
                seconds = time.perf_counter() - began
                shown = ""
                while shown != (shown := Path(f"/dev/fd/{told.fileno()}").read_text()):
                    time.sleep(SETTLE_SECONDS)
                at_once = processes(dev.pid)
                first = megabytes(at_once)
                use(ready[1])
                used = processes(dev.pid)
                return {
                    "folder": name,
                    "processes of functions": mode[0] if mode else "shared",
                    "ready, s": seconds,
                    "processes, ready": len(at_once),
                    "PSS, ready, MB": first,
                    "processes, used": len(used),
                    "PSS, used, MB": megabytes(used),
                }
            finally:
                dev.terminate()


def laptop(options: argparse.Namespace, _: Path) -> Iterator[Table]:
    """Yield a table of the sample, and of the folder that is named."""
    places = [("the sample", ())] + ([("of yours", (str(options.repository),))] if options.repository else [])
    rows = [measured(name, words, mode) for name, words in places for mode in ((), ("--faithful",))]
    yield Table("laptop", "Processes and memory of `commonplace dev`", rows)
