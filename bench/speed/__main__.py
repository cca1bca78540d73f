"""The benchmarks of speed: `python -m bench.speed NAME…`, each a function that yields tables."""

import argparse
import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench import table
from bench.measure import Table

Benchmark = Callable[[argparse.Namespace, Path], Iterator[Table]]
"""It gets the options and an empty folder. Its module is called like the first word of its name."""

SPEED = {
    "imports": "import time of the handlers, beside bare imports of their frameworks",
    "rest": "latency and throughput of REST, beside a bare route that returns the same bytes",
    "mcp": "CPU and import of MCP, beside the bare SDK; tokens of every tool's default answer, calls a second",
    "guard": "CPU of a call with a token beside one without, the guard's parts, import of the token endpoint",
    "sync": "first sync, no-change sync, one-file push, large push: files per second, GitHub calls, embedding calls",
    "laptop": "processes and PSS of `commonplace dev`, ready and after use: shared processes beside one each",
    "freshness": "seconds from a push until its text is served and found",
    "search": "a search by REST and by MCP beside the bare queries of the index, at 272, 2,720 and 30,000 documents",
    "hive": "a search of contributions beside one of documents, at 300 and 3,000 contributions",
    "hive_queue": "a queue of 5,000 contributions: a page, one shown, approved, rejected; contributing meanwhile",
    "memory": "the memory's tools beside a bare message, and seconds until what is added is found",
    "chat": "an answer beside the bare model, CPU of a delta, capacity (--url), 20 at once over eight environments",
    "chat_answers": "answers without a model: first citations beside first hits, and how often it declines",
    "federation": "a call of a partner beside the bare SDK's, and four partners at once beside the slowest",
    "governance": "lists of 1,000 members beside the sample, tools of agents beside bare calls; needs --url",
    "opensearch": "a search on OpenSearch beside bare requests; needs a node: python -m bench.speed opensearch --url",
}


def main(arguments: Sequence[str]) -> int:
    """Run the named benchmarks, print their tables and write them; 1 when a target of one of them was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=__doc__)
    parser.add_argument("names", nargs="+", choices=SPEED, metavar="NAME", help=", ".join(SPEED))
    repository = os.environ.get("REPOSITORY") or None
    parser.add_argument("--repository", type=Path, default=repository, help="a clone; without it, a made-up one")
    parser.add_argument(
        "--sizes",
        type=lambda given: tuple(map(int, given.split(","))),
        help="documents, contributions or chunks, rising, with commas",
    )
    parser.add_argument("--beside", help="search: URL of another server, compared by turns at the first size")
    parser.add_argument("--url", help="opensearch, governance: the node, or the DynamoDB Local, that is measured")
    options = parser.parse_args(arguments)
    missed: list[str] = []
    for name in options.names:
        module = importlib.import_module(f"bench.speed.{name.partition('_')[0]}")
        benchmark: Benchmark = getattr(module, name)
        with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder:
            for found in benchmark(options, Path(folder)):
                table.show(found.name, found.title, found.rows, note=found.note)
                missed += found.faults
    print("\n".join(missed), end="\n" if missed else "")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
