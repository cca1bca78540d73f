"""Is what is served what is published, and is it still after every push there ever was?"""

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

from bench import table
from bench.acceptance import history, served
from bench.acceptance.statements import Statement, failures, rows
from local.dev.laptop import Laptop
from local.dev.serving import ended_by_signals
from local.dev.source import Source, clone
from local.errors import CommandError


def main(arguments: list[str]) -> int:
    """0: every statement is true. 1: one is false. 2: it could not be examined. 130: interrupted."""
    given = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("commonplace").setLevel(logging.CRITICAL)
    try:
        source = clone(given.path, given.branch)
        with ended_by_signals():
            return _examine(source, given)
    except CommandError as error:
        print(f"{error}\n{error.hint or ''}".rstrip(), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _examine(source: Source, given: argparse.Namespace) -> int:
    print(f"{source.name}, branch {source.branch}", flush=True)
    found: list[Statement] = []
    with tempfile.TemporaryDirectory(prefix="commonplace-acceptance-") as folder:
        if given.only in (None, "served"):
            found += _show("What is served", examine_served(source, Path(folder) / "served"))
        if given.only in (None, "history"):
            for name, replay in history.REPLAYS.items():
                _tell(f"replaying the history {name}")
                data = Path(folder) / name
                outcome = history.examine(source, data, replay, pushes=given.pushes, seed=given.seed, tell=_tell)
                found += _show(f"The history, pushed {name}", outcome)
    false = failures(found)
    judged = sum(item.expected is not None for item in found)
    print("\n" + "\n".join(false or [f"All {judged} statements are true."]))
    return 1 if false else 0


def examine_served(source: Source, data: Path) -> list[Statement]:
    """Starts a laptop cloud of its own and ends it."""
    with Laptop(source, data) as laptop:
        _tell("syncing")
        found = served.sync(laptop)
        _tell("comparing what is served with what is published")
        return found + served.examine(laptop)


def _show(title: str, found: list[Statement]) -> list[Statement]:
    print("\n".join(["", title, *table.lines(rows(found))]), flush=True)
    return found


def _tell(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.acceptance", description=__doc__)
    parser.add_argument("path", type=Path, help="a local clone, bare or with files, whole or partial")
    parser.add_argument("--branch", help="default: the one checked out")
    parser.add_argument("--pushes", type=int, help="replay so many, evenly spaced and the largest; default: all")
    parser.add_argument("--seed", type=int, default=0, help="of what is shuffled, doubled and dropped")
    parser.add_argument("--only", choices=("served", "history"), help="examine one of the two")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
