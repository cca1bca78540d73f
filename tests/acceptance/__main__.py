"""Is what is served what is published, and is it still after every push there ever was?"""

import argparse
import logging
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import table
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.session import ended_by_signals
from commonplace_local.dev.source import Source, clone
from commonplace_local.errors import CommandError
from tests.acceptance import history, interrupted, served
from tests.acceptance.indexes import Index, OpenSearchIndex
from tests.acceptance.interrupted import Tap
from tests.acceptance.truth import Statement, failures, rows
from tests.opensearch_node.node import OwnedNode

PARTS = ("served", "questions", "history", "crash")


def main(arguments: list[str]) -> int:
    """0: every statement is true. 1: one is false. 2: it could not be examined. 130: interrupted."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.only == "crash" and given.engine == "embedded":
        parser.error("--only crash goes with --engine opensearch: the embedded engine has no node to kill")
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("commonplace").setLevel(logging.CRITICAL)
    try:
        source = clone(given.path, given.branch)
        if source.git_dir is None:
            raise CommandError(f"{given.path} is not a Git repository.", "Its history is examined as well.")
        with ended_by_signals(), tempfile.TemporaryDirectory(prefix="commonplace-acceptance-") as folder:
            if given.engine == "embedded":
                return Acceptance(source, Path(folder), given).run()
            with _node() as node:
                return Acceptance(source, Path(folder), given, node).run()
    except CommandError as error:
        print(f"{error}\n{error.hint or ''}".rstrip(), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What was asked for, in its order. With a `node`, OpenSearch answers searches."""

    source: Source
    folder: Path
    given: argparse.Namespace
    node: OwnedNode | None = None

    def run(self) -> int:
        engine = "OpenSearch" if self.node else "the embedded engine"
        print(f"{self.source.name}, branch {self.source.branch}, searched with {engine}", flush=True)
        found: list[Statement] = []
        if self.given.only in (None, "served"):
            found += _show("What is served", examine_served(self.source, self.folder / "served", self._index("served")))
        if self.given.only == "questions":
            data, index = self.folder / "questions", self._index("questions")
            found += _show("What questions find", examine_served(self.source, data, index, questions=True))
        if self.given.only in (None, "history"):
            for name, replay in history.REPLAYS.items():
                _tell(f"replaying the history {name}")
                index = self._index(name.replace(" ", "-"))
                found += _show(f"The history, pushed {name}", self._replayed(name, replay, index))
        if self.node and self.given.only in (None, "crash"):
            found += self._crashed(self.node)
        false = failures(found)
        judged = sum(item.expected is not None for item in found)
        print("\n" + "\n".join(false or [f"All {judged} statements are true."]))
        return 1 if false else 0

    def _crashed(self, node: OwnedNode) -> Iterator[Statement]:
        _tell("syncing, and killing the node meanwhile")
        with Tap(node, random.Random(self.given.seed)) as tap:
            index = _collection(node, "crash", tap)
            outcome = interrupted.examine(self.source, self.folder / "crash", index, tap)
        yield from _show("The first sync, the node killed in the middle of a bulk", outcome)
        _tell("replaying the history, and killing the node meanwhile")
        with Tap(node, random.Random(self.given.seed)) as tap:
            index = _collection(node, "crashes", tap)
            outcome = self._replayed("crashes", interrupted.replay(tap), index)
        yield from _show("The history, the node killed in the middle of bulks", outcome)

    def _replayed(self, name: str, replay: history.Replay, index: Index | None) -> list[Statement]:
        data = self.folder / name
        given = self.given
        return history.examine(self.source, data, replay, pushes=given.pushes, seed=given.seed, tell=_tell, index=index)

    def _index(self, name: str) -> Index | None:
        return _collection(self.node, name) if self.node else None


_MEMBERS = {"MCP_FULL_TEXT_TIER": "public"}
"""Agents read whole documents there, without an account."""


def examine_served(
    source: Source, data: Path, index: Index | None = None, *, questions: bool = False
) -> list[Statement]:
    """Starts a laptop cloud of its own and ends it; with `questions` nothing but those is examined."""
    with Laptop(source, data, environment={**_MEMBERS, **(index.environment if index else {})}) as laptop:
        _tell("syncing")
        found = served.sync(laptop)
        if questions:
            return found + served.examine_questions(laptop)
        _tell("comparing what is served with what is published")
        return found + served.examine(laptop, index) + served.examine_agents(laptop)


@contextmanager
def _node() -> Iterator[OwnedNode]:
    """A node of this process alone, which may kill it."""
    _tell("starting an OpenSearch node")
    with OwnedNode() as node:
        yield node


def _collection(node: OwnedNode, name: str, tap: Tap | None = None) -> OpenSearchIndex:
    return OpenSearchIndex(node.url, f"acceptance-{name}-documents", endpoint=tap.url if tap else None)


def _show(title: str, found: list[Statement]) -> list[Statement]:
    print("\n".join(["", title, *table.lines(rows(found))]), flush=True)
    return found


def _tell(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance", description=__doc__)
    parser.add_argument("path", type=Path, help="a local clone, bare or with files, whole or partial")
    parser.add_argument("--branch", help="default: the one checked out")
    parser.add_argument("--pushes", type=int, help="replay so many, evenly spaced and the largest; default: all")
    parser.add_argument("--seed", type=int, default=0, help="of what is shuffled, doubled and dropped")
    parser.add_argument("--engine", choices=("embedded", "opensearch"), default="embedded", help="what searches")
    parser.add_argument("--only", choices=PARTS, help="examine one part; crash is of OpenSearch alone")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
