"""Calls over HTTP to a laptop cloud: each tool of the reference by turns with a search of the knowledge base.

The knowledge base is the sample, or any clone; the catalogue is the judged one, published by a run of its own.
"""

import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from bench.mcp_servers import Caller
from bench.reference.judged import NAME, catalogue, paraphrases
from bench.retrieval.metrics import ratio_of_medians
from bench.serving import RUN_SECONDS, NotSynced
from bench.table import Row, percentile
from commonplace.reference.model import SETTINGS_FILE
from generators.catalogue_file import written
from local.cli.dev import SAMPLE_NAME
from local.dev.laptop import Laptop
from local.dev.source import CatalogueFolder, Source, plain_folder
from local.knowledge_folder import SAMPLE

REFERENCE, KNOWLEDGE = "/mcp/reference", "/mcp/knowledge"
BARE = "tools/list"
BASELINE = "search_knowledge of the knowledge base"
WARM_UP, ROUNDS = 3, 40


@dataclass
class Taken:
    """Seconds of one kind of call, and of the search of the knowledge base that was made right before each."""

    own: list[float] = field(default_factory=list)
    baseline: list[float] = field(default_factory=list)


def rows(source: Source | None = None) -> list[Row]:
    """A row for each tool of the reference, and one for the baseline itself. Raises NotSynced."""
    with tempfile.TemporaryDirectory(prefix="bench-reference-") as made:
        folder = Path(made)
        served = CatalogueFolder(NAME, plain_folder(as_files(folder / "suite"), "bench/suite"))
        knowledge_base = source or plain_folder(SAMPLE, SAMPLE_NAME)
        environment = {"MCP_ASSUMED_TIER": "vibecoder"}
        with Laptop(knowledge_base, folder / "data", environment=environment, catalogues=[served]) as laptop:
            laptop.push()
            laptop.wait(RUN_SECONDS)
            _check(laptop)
            caller = Caller(laptop.url)
            taken = _measured(caller)
            caller.close()
    return list(_rows(taken))


def as_files(folder: Path) -> Path:
    """The judged catalogue as its maintainers would have it in a repository."""
    folder.mkdir()
    whole = catalogue()
    settings = {
        "title": whole.title,
        "roots": whole.roots,
        "synonyms": whole.synonyms,
    }
    (folder / SETTINGS_FILE).write_text(yaml.safe_dump(settings), encoding="utf-8")
    (folder / "entries.json").write_bytes(written([placed.entry for placed in whole.entries]))
    return folder


def _check(laptop: Laptop) -> None:
    """Raises NotSynced when not every entry is published and indexed."""
    report = laptop.catalogue_report(NAME)
    indexed = sum(name.startswith(f"{NAME}/") for name in laptop.indexed("reference"))
    if report is None or report.status != "published" or indexed != len(catalogue().entries):
        raise NotSynced(f"The catalogue is {report.status if report else 'not there'}, {indexed} entries are indexed.")


def _measured(caller: Caller) -> Mapping[str, Taken]:
    questions = [query.text for query in paraphrases()]
    taken: dict[str, Taken] = defaultdict(Taken)
    for number in range(WARM_UP + ROUNDS):
        question = questions[number * 31 % len(questions)]
        baseline = (KNOWLEDGE, "tools/call", {"name": "search_knowledge", "arguments": {"query": question}})
        for what, call in _calls(question, number):
            before, own = _seconds(caller, *baseline), _seconds(caller, *call)
            if number >= WARM_UP:
                taken[what].baseline.append(before)
                taken[what].own.append(own)
    return taken


def _calls(question: str, number: int) -> Iterator[tuple[str, tuple[str, str, Mapping[str, Any]]]]:
    entries = [placed.entry for placed in catalogue().entries]
    commands = [entry.called for entry in entries if entry.type == "command"]
    paths = [(entry.path_template or "").replace("{id}", "42") for entry in entries if entry.type == "api"]
    command = commands[number * 31 % len(commands)]
    asked: Mapping[str, tuple[str, Mapping[str, Any]]] = {
        "search_knowledge of the reference": ("search_knowledge", {"query": question}),
        "search_knowledge, an exact name": ("search_knowledge", {"query": command}),
        "get_command": ("get_command", {"command": command}),
        "get_api_endpoint": ("get_api_endpoint", {"path": paths[number * 31 % len(paths)]}),
        "list_commands": ("list_commands", {}),
    }
    for what, (tool, arguments) in asked.items():
        yield what, (REFERENCE, "tools/call", {"name": tool, "arguments": dict(arguments)})
    yield "a bare message", (REFERENCE, BARE, {})


def _seconds(caller: Caller, path: str, method: str, params: Mapping[str, Any]) -> float:
    began = time.perf_counter()
    caller(path, method, params)
    return time.perf_counter() - began


def _rows(taken: Mapping[str, Taken]) -> Iterator[Row]:
    every: list[float] = [second for one in taken.values() for second in one.baseline]
    yield _row(BASELINE, every, "")
    for what, one in taken.items():
        ratio, low, high = ratio_of_medians(one.own, one.baseline)
        yield _row(what, one.own, f"{ratio:.2f} [{low:.2f}, {high:.2f}]")


def _row(what: str, seconds: Sequence[float], beside: str) -> Row:
    return {
        "call over HTTP": what,
        "p50 ms": 1000 * median(seconds),
        "p95 ms": 1000 * percentile(seconds, 95),
        "times a search of the knowledge base": beside,
    }
