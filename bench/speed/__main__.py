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
"""It gets the options and an empty folder, and is found in a module of this package by its name."""

MODULES = {
    "imports": "imports",
    "rest": "rest",
    "mcp": "mcp",
    "guard": "guard",
    "sync": "sync",
    "search": "search",
    "hive": "hive",
    "hive_queue": "hive",
    "memory": "memory",
    "opensearch": "opensearch",
}


def main(arguments: Sequence[str]) -> int:
    """Run the named benchmarks, print their tables and write them; 1 when a target of one of them was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=__doc__)
    parser.add_argument("names", nargs="+", choices=MODULES, metavar="NAME", help=", ".join(MODULES))
    repository = os.environ.get("REPOSITORY") or None
    parser.add_argument("--repository", type=Path, default=repository, help="a clone; without it, a made-up one")
    parser.add_argument("--sizes", type=_sizes, help="documents, contributions, entries or chunks, rising, with commas")
    parser.add_argument("--beside", help="search: URL of another server, compared by turns at the first size")
    parser.add_argument("--url", help="opensearch: the node that is measured")
    parser.add_argument("--no-picture", action="store_true", help="search, opensearch: do not draw the growth")
    options = parser.parse_args(arguments)
    missed: list[str] = []
    for name in options.names:
        benchmark: Benchmark = getattr(importlib.import_module(f"bench.speed.{MODULES[name]}"), name)
        with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder:
            for found in benchmark(options, Path(folder)):
                table.show(found.name, found.title, found.rows, note=found.note)
                missed += found.faults
    print("\n".join(missed), end="\n" if missed else "")
    return 1 if missed else 0


def _sizes(given: str) -> tuple[int, ...]:
    return tuple(map(int, given.split(",")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
