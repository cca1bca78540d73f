"""A change of the index's model while documents are written and searched without pause.

`python -m tests.acceptance.reindex [DOCUMENTS]`: 20,000 unless said otherwise, on the node at
COMMONPLACE_TEST_OPENSEARCH, else on one of its own. The build dies once and goes on; then the index
is verified and swapped, rolled back, and swapped again. Exits with 1 when a search failed, an answer was wrong, or
index and store differ at the end.
"""

import logging
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from bench import table
from bench.table import percentile
from commonplace.documents.index_source import StoredDocuments
from commonplace.search.indexer import Enough, Indexer
from commonplace.search.migration import Migration, Refused, Target
from commonplace.search.model import EmbeddingProvider
from commonplace.search.models.local import LocalEmbeddings
from commonplace.search.opensearch.bulk import Refresh
from commonplace.search.opensearch.client import connect
from commonplace.search.opensearch.engine import OpenSearchEngine, OpenSearchGenerations
from commonplace.search.operations import Operations
from commonplace.search.service import SearchService
from tests.acceptance.reindexing import Died, KnowledgeBase, OtherModel, Tally, Traffic
from tests.opensearch_node.node import OwnedNode

DOCUMENTS = 20_000
PARAGRAPHS = 2
STRETCH_SECONDS = 60.0
"""Each stretch begins with a look at all documents. A function on AWS has seven minutes and a half."""
SEARCHES_BETWEEN = 100
"""Answered between two changes of roles, so that each state is seen for a while."""


@dataclass(slots=True)
class Outcome:
    """What a whole change of model came to."""

    documents: int
    tally: Tally
    writes: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    deaths: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        return [*self.tally.failed[:5], *self.tally.wrong[:5], *self.differences[:5]]


class Deployed:
    """The functions of a deployment with these models, over one collection of a node."""

    def __init__(self, url: str, stem: str, base: KnowledgeBase, models: list[EmbeddingProvider]) -> None:
        self._url, self._stem, self._models = url, stem, models
        # A write that has returned is seen by searches: else nobody could say since when an answer is wrong.
        refresh: Refresh = "true"
        connection = connect(url, "none")
        engines = [OpenSearchEngine(connection, stem, model, refresh=refresh) for model in models]
        indexers = [
            Indexer(StoredDocuments(base.store), engine, model, rebuilds=False)
            for engine, model in zip(engines, models, strict=True)
        ]
        self.generations = OpenSearchGenerations(connection, stem, models[-1])
        targets = [Target(OpenSearchGenerations(connection, stem, model), model) for model in models]
        self.migration = Migration(StoredDocuments(base.store), targets)
        self.operations = Operations(indexers, self.migration)

    def service(self) -> SearchService:
        """A reader in a process of its own, as far as connection and memory of the alias go."""
        return SearchService(OpenSearchEngine(connect(self._url, "none"), self._stem, self._models[0]), self._models)

    def remove(self) -> None:
        """Deletes every index of the collection."""
        connection = connect(self._url, "none")
        for generation in self.generations.all():
            connection.indices.delete(index=generation.name, request_timeout=30)


@contextmanager
def timed(outcome: Outcome, what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    outcome.seconds[what] = outcome.seconds.get(what, 0.0) + time.monotonic() - began


def measure(
    url: str,
    *,
    documents: int,
    model: EmbeddingProvider,
    dies_after: int = 5,
    say: Callable[[str], None] = lambda _line: None,
    stretch_seconds: float = STRETCH_SECONDS,
    searches_between: int = SEARCHES_BETWEEN,
) -> Outcome:
    """A change of model from the first write to the last swap, under searches and writes.

    `dies_after` counts writes to the next index until the build dies.
    """
    base = KnowledgeBase(documents, paragraphs=PARAGRAPHS)
    coming = OtherModel(model)
    stem = f"reindex-{secrets.token_hex(4)}"
    before = Deployed(url, stem, base, [model])
    both = Deployed(url, stem, base, [model, OtherModel(model)])
    building = Deployed(url, stem, base, [model, coming])
    outcome = Outcome(documents, Tally())
    try:
        with timed(outcome, "first index"):
            before.operations.reconcile()
        base.truth.settled(range(1, documents + 1))
        say(f"{documents} documents are indexed ({outcome.seconds['first index']:.0f} s)")
        written = base.writes
        with Traffic(base, both.service, both.operations) as traffic:
            outcome.tally = traffic.tally
            traffic.wait_for(searches_between)
            coming.fails_after = dies_after
            _build(building.migration, outcome, stretch_seconds, say)
            _swap(building.migration, outcome, say, lambda: traffic.wait_for(searches_between))
        outcome.writes = base.writes - written
        outcome.differences += _differences(both, base)
    finally:
        both.remove()
    return outcome


def _build(migration: Migration, outcome: Outcome, stretch_seconds: float, say: Callable[[str], None]) -> None:
    with timed(outcome, "build"):
        while True:
            try:
                built = migration.build(_enough(stretch_seconds))
            except Died:
                outcome.deaths += 1
                say("the build died and is begun again")
                continue
            say(f"{built.remaining} documents remain, {built.rate:.0f} a second")
            if built.complete:
                return


def _enough(seconds: float) -> Enough:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def _swap(migration: Migration, outcome: Outcome, say: Callable[[str], None], look: Callable[[], None]) -> None:
    """There and back and there again; `look` lets searches see each state for a while."""
    for what, change in (("swap", migration.swap), ("roll back", migration.rollback), ("swap again", migration.swap)):
        with timed(outcome, what):
            changed = change()
        if isinstance(changed, Refused):
            found = changed.differences
            outcome.differences += [f"{what}: {each.kind} {each.record} {each.sentence}" for each in found]
            return
        say(f"{what}: {changed.new} answers")
        look()


def _differences(both: Deployed, base: KnowledgeBase) -> Iterator[str]:
    """Now that nothing goes on: every index with a role holds what is published, and nothing else."""
    both.operations.reconcile()
    for generation in both.generations.all():
        if generation.role in ("current", "previous"):
            held = dict(both.generations.engine(generation.name).versions())
            if held != base.published:
                yield f"{generation.role}: {len(held.items() ^ base.published.items())} records differ from the store"


def row(outcome: Outcome) -> table.Row:
    """The figures in one line."""
    milliseconds = [1000 * seconds for seconds in outcome.tally.seconds]
    build = outcome.seconds.get("build", 0.0)
    return {
        "documents": outcome.documents,
        "writes meanwhile": outcome.writes,
        "searches": outcome.tally.searches,
        "failed": len(outcome.tally.failed),
        "wrong": len(outcome.tally.wrong),
        "by words only": outcome.tally.fallbacks,
        "differing at the end": len(outcome.differences),
        "build s": build,
        "documents/s": outcome.documents / build if build else None,
        "build died": outcome.deaths,
        "verify and swap s": outcome.seconds.get("swap"),
        "roll back s": outcome.seconds.get("roll back"),
        "search p50 ms": percentile(milliseconds, 50) if milliseconds else None,
        "search p99 ms": percentile(milliseconds, 99) if milliseconds else None,
    }


def main(arguments: list[str]) -> int:
    logging.getLogger("commonplace").setLevel(logging.ERROR)
    documents = int(arguments[0]) if arguments else DOCUMENTS
    with ExitStack() as undo:
        url = os.environ.get("COMMONPLACE_TEST_OPENSEARCH") or undo.enter_context(OwnedNode()).url
        outcome = measure(url, documents=documents, model=LocalEmbeddings(), say=print)
    table.show("reindex", "Another model's index, built under writes and searches", [row(outcome)])
    for fault in outcome.faults:
        print(fault, file=sys.stderr)
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
