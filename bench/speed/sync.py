"""What a sync costs: seconds, calls to GitHub, texts embedded; beside the same work in one process without a store.

A count that misses its target is a fault; times are only printed.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from bench.corpus import Corpus, Push, open_corpus, parse_push
from bench.measure import Table
from bench.serving import Bench, Cost, started
from bench.table import Row, ratio

Target = tuple[int | None, int | None]
"""The most calls to GitHub and texts embedded; None means that there is no limit."""
FIRST, UNCHANGED, ONE_FILE, ANY = (20, None), (2, 0), (6, None), (None, None)
REPEATED = 3
MARK = "Benchmarking adds the word {word} here."


@dataclass(frozen=True, slots=True)
class Figure:
    """One row. Of several runs the time is the median, and every count is the highest."""

    name: str
    paths: int
    costs: Sequence[Cost]
    bare_seconds: float
    target: Target

    def highest(self, count: str) -> int:
        return max(int(getattr(cost, count)) for cost in self.costs)

    def row(self) -> Row:
        documents, seconds = self.highest("documents"), median(cost.seconds for cost in self.costs)
        return {
            "run": self.name,
            "paths": self.paths,
            "documents": documents,
            "s": seconds,
            "documents/s": documents / seconds if documents else None,
            "bare s": self.bare_seconds,
            "times bare": ratio(seconds, self.bare_seconds),
            "GitHub calls": self.highest("github_calls"),
            "at most": self.target[0],
            "blobs": self.highest("blobs"),
            "archives": self.highest("archives"),
            "embedding calls": self.highest("embedding_calls"),
            "texts embedded": self.highest("texts_embedded"),
        }

    @property
    def missed(self) -> list[str]:
        """Return a sentence for each count that is above its target."""
        counts = ("calls to GitHub", self.highest("github_calls")), ("texts embedded", self.highest("texts_embedded"))
        return [
            f"{self.name}: {count} {what}, at most {most} are allowed."
            for (what, count), most in zip(counts, self.target, strict=True)
            if most is not None and count > most
        ]


def sync(options: argparse.Namespace, folder: Path) -> Iterator[Table]:
    corpus = open_corpus(options.repository, folder)
    figures = list(measure(corpus, folder))
    missed = [sentence for figure in figures for sentence in figure.missed]
    yield Table(
        "sync",
        f"Sync of {corpus.label}: from the push until everything is searchable",
        [figure.row() for figure in figures],
        "bare: git archive, or git diff and git cat-file, and parsing, in one process without store and index.\n"
        "When nothing changed, no text may be embedded." + ("" if missed else "\nEvery count is within its target."),
        missed,
    )


def measure(corpus: Corpus, folder: Path) -> Iterator[Figure]:
    """Yield a figure for each kind of run, on two laptops.

    One comes to the head, then stays and follows; the other is there when the large push arrives.
    """

    def pushed(bench: Bench, name: str, pushes: Iterable[Push], target: Target) -> Figure:
        """Show, announce and follow each push to its end; the bare work is timed right after it."""
        costs, bare, paths = [], [], 0
        for push in pushes:
            corpus.show(push.after)
            costs.append(bench.run(bench.laptop.push))
            bare.append(_timed(partial(parse_push, corpus, push)))
            paths = paths or len(corpus.changed_paths(push))
        return Figure(name, paths, costs, median(bare), target)

    corpus.show(corpus.head)
    with started(corpus, folder / "head") as bench:
        yield pushed(bench, "first sync", [Push(None, corpus.head)], FIRST)
        costs = [bench.run(bench.laptop.poke) for _ in range(REPEATED)]
        # The bare counterpart of a look at an unchanged branch is one of Git's.
        bare = median(_timed(lambda: corpus.git("rev-parse", "main")) for _ in costs)
        yield Figure("nothing changed", 0, costs, bare, UNCHANGED)
        yield pushed(bench, "push of one file", [_edit(bench, number) for number in range(REPEATED)], ONE_FILE)
    if corpus.large.before is None:
        return
    corpus.show(corpus.large.before)
    with started(corpus, folder / "large") as bench:
        yield pushed(bench, "first sync, before the large push", [Push(None, corpus.large.before)], FIRST)
        yield pushed(bench, "the large push", [corpus.large], ANY)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _edit(bench: Bench, number: int) -> Push:
    """Commit a sentence more in a published document, another one for each number."""
    manifest = bench.laptop.manifest()
    if manifest is None:
        raise ValueError("nothing is published")
    path = sorted(manifest.by_path)[number * len(manifest.by_path) // REPEATED]
    body = bench.corpus.read(bench.corpus.git("rev-parse", "main"), path)
    return bench.corpus.commit({path: body + f"\n\n{MARK.format(word=f'edit{number}')}\n".encode()})
