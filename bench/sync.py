"""What a sync costs: seconds, calls to GitHub, texts embedded; beside the same work in one process without a store.

`python -m bench.sync [CLONE]`. Exits with 1 when a count misses its target; times are only printed.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import table
from bench.corpus import Corpus, Push, asked_for, open_corpus, parse_push
from bench.serving import Bench, Cost, started
from bench.table import Target, ratio

FIRST, UNCHANGED, ONE_FILE, ANY = Target(calls=20), Target(calls=2, texts=0), Target(calls=6), Target()
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

    @property
    def seconds(self) -> float:
        return median(cost.seconds for cost in self.costs)

    def highest(self, count: str) -> int:
        return max(int(getattr(cost, count)) for cost in self.costs)

    def row(self) -> table.Row:
        documents = self.highest("documents")
        return {
            "run": self.name,
            "paths": self.paths,
            "documents": documents,
            "s": self.seconds,
            "documents/s": documents / self.seconds if documents else None,
            "bare s": self.bare_seconds,
            "times bare": ratio(self.seconds, self.bare_seconds),
            "GitHub calls": self.highest("github_calls"),
            "at most": self.target.calls,
            "blobs": self.highest("blobs"),
            "archives": self.highest("archives"),
            "embedding calls": self.highest("embedding_calls"),
            "texts embedded": self.highest("texts_embedded"),
        }

    @property
    def missed(self) -> list[str]:
        return self.target.missed(self.name, calls=self.highest("github_calls"), texts=self.highest("texts_embedded"))


def measure(corpus: Corpus, folder: Path) -> Iterator[Figure]:
    """Two laptops: one comes to the head, then stays and follows; the other is there when the large push arrives."""
    corpus.show(corpus.head)
    with started(corpus, folder / "head") as bench:
        yield _pushes(bench, "first sync", [Push(None, corpus.head)], FIRST)
        yield _unchanged(bench)
        yield _pushes(bench, "push of one file", [_edit(bench, number) for number in range(REPEATED)], ONE_FILE)
    if corpus.large.before is None:
        return
    corpus.show(corpus.large.before)
    with started(corpus, folder / "large") as bench:
        yield _pushes(bench, "first sync, before the large push", [Push(None, corpus.large.before)], FIRST)
        yield _pushes(bench, "the large push", [corpus.large], ANY)


def main(arguments: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as name:
        folder = Path(name)
        corpus = open_corpus(asked_for(arguments), folder)
        figures = list(measure(corpus, folder))
    table.show(
        "sync",
        f"Sync of {corpus.label}: from the push until everything is searchable",
        [figure.row() for figure in figures],
        note="bare: git archive, or git diff and git cat-file, and parsing, in one process without store and index.\n"
        "When nothing changed, no text may be embedded.",
    )
    missed = [sentence for figure in figures for sentence in figure.missed]
    print("\n".join(missed) or "Every count is within its target.")
    return 1 if missed else 0


def _pushes(bench: Bench, name: str, pushes: Sequence[Push], target: Target) -> Figure:
    """Each push is shown, announced and followed to its end; the bare work is timed right after it."""
    costs, bare = [], []
    for push in pushes:
        bench.corpus.show(push.after)
        costs.append(bench.run(bench.laptop.push))
        began = time.perf_counter()
        parse_push(bench.corpus, push)
        bare.append(time.perf_counter() - began)
    return Figure(name, len(bench.corpus.changed_paths(pushes[0])), costs, median(bare), target)


def _unchanged(bench: Bench) -> Figure:
    """Its bare counterpart is to ask git for the branch's head."""
    costs, bare = [], []
    for _ in range(REPEATED):
        costs.append(bench.run(bench.poke))
        began = time.perf_counter()
        bench.corpus.git("rev-parse", "main")
        bare.append(time.perf_counter() - began)
    return Figure("nothing changed", 0, costs, median(bare), UNCHANGED)


def _edit(bench: Bench, number: int) -> Push:
    """A sentence more in a published document, another one for each number."""
    manifest = bench.laptop.manifest()
    if manifest is None:
        raise ValueError("nothing is published")
    path = sorted(manifest.by_path)[number * len(manifest.by_path) // REPEATED]
    body = bench.corpus.read(bench.corpus.git("rev-parse", "main"), path)
    return bench.corpus.commit({path: body + f"\n\n{MARK.format(word=f'edit{number}')}\n".encode()})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
