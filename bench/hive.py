"""A search of what agents contributed beside one of the documents, both by MCP, as contributions become more.

`python -m bench.hive [CLONE] [--sizes 300,3000]`. Contributions are passages of the same base, a third of them one's
own, half of the others' public. They are put into the table of records and indexed by the index function, and every
question is asked of both toolsets by turns.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

from bench import table
from bench.corpus import open_corpus
from bench.mcp_servers import Caller
from bench.search import Base
from bench.serving import RUN_SECONDS
from bench.table import percentile
from commonplace.hive.model import CATEGORIES, Contribution, Counts, ItemId, content_hash
from commonplace.hive.records import room
from commonplace.kernel.items import encode, key
from commonplace.kernel.table import Table
from local.dev.laptop import INDEX_FUNCTION, Laptop

SIZES = "300,3000"
ROUNDS, WARM_UP = 60, 10
OWN, OTHERS = "default", ("globex", "initech")
WORDS, LIMIT = 120, 10
EVERYTHING = {"source": "commonplace.operator", "collection": "contributions"}
INDEXED_SECONDS = 300.0
SINCE = "2026-01-01T00:00:00.000000Z"


class Hive:
    """The contributions of a laptop, which become more."""

    def __init__(self, laptop: Laptop, paragraphs: Sequence[str]) -> None:
        self._laptop, self._paragraphs = laptop, paragraphs
        self._random = random.Random(3)
        self.size = 0

    def grow(self, size: int) -> None:
        """Writes what is missing as it is stored once it is approved, and waits until all of it is found."""
        records = Table(self._laptop.cloud.client("dynamodb"), self._laptop.cloud.table("StateRecords"))
        made = [self._contribution(number) for number in range(self.size, size)]
        for owner in (OWN, *OTHERS):
            records.write(records.put(key("organisations", f"hive#{owner}"), {}))
        writes = [
            records.put(key(room(one.organisation, name), one.id), encode(kept))
            for one in made
            for name, kept in (("items", one), ("counts", Counts(self._random.randrange(6), self._random.randrange(3))))
        ]
        if records.write_many(writes):
            raise RuntimeError("the table did not take every contribution")
        self.size = size
        end = time.monotonic() + INDEXED_SECONDS
        while len(self._laptop.indexed("contributions")) < size:
            if time.monotonic() > end:
                raise RuntimeError(f"not all of {size} contributions are indexed")
            self._laptop.cloud.invoke(INDEX_FUNCTION, EVERYTHING)
        self._laptop.wait(INDEXED_SECONDS)  # messages of each of them are still under way

    def _contribution(self, number: int) -> Contribution:
        parts = " ".join(self._random.choices(self._paragraphs, k=3)).split()
        start = self._random.randrange(max(1, len(parts) - WORDS))
        content = " ".join(parts[start : start + self._random.randint(20, WORDS)]) + f" Case {number}."
        return Contribution(
            organisation=self._random.choice((OWN, *OTHERS)),
            id=ItemId(f"hv_{number:026}"),
            status="approved",
            content=content,
            content_hash=content_hash(content),
            category=self._random.choice(CATEGORIES),
            confidence=self._random.choice((0.5, 0.8, 0.9)),
            contributed_at=SINCE,
            valid_at=SINCE,
            account="0" * 32,
            agent="agent",
            is_public=self._random.random() < 0.5,
        )


def main(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.hive", description=__doc__)
    parser.add_argument("clone", nargs="?", type=Path, help="a clone to measure on; without it, a made-up one")
    parser.add_argument("--sizes", default=SIZES, help="contributions, rising, with commas")
    parser.add_argument("--documents", default=2_720, type=int, help="documents beside the most contributions, at last")
    options = parser.parse_args(given)
    rows: list[table.Row] = []
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as name:
        corpus = open_corpus(options.clone, Path(name))
        with Laptop(corpus.source, Path(name) / "data", environment={"MCP_ASSUMED_TIER": "member"}) as laptop:
            laptop.push()
            laptop.wait(RUN_SECONDS)
            base = Base(laptop)
            hive = Hive(laptop, base.paragraphs)
            sizes = [(int(size), base.size) for size in options.sizes.split(",")]
            for size, documents in [*sizes, (sizes[-1][0], options.documents)]:
                hive.grow(size)
                base.grow(documents)
                rows.append(_measured(laptop, base, hive))
                print("\n".join(table.lines(rows[-1:])), flush=True)
    title = f"A search of contributions beside one of documents over {corpus.label}, by MCP, in ms"
    table.show("hive", title, rows)
    return 0


def _measured(laptop: Laptop, base: Base, hive: Hive) -> table.Row:
    taken: dict[str, list[float]] = {"/mcp/hive": [], "/mcp/knowledge": []}
    order = random.Random(4)
    with closing(Caller(laptop.url)) as call:
        for number, question in enumerate(base.questions(WARM_UP + ROUNDS)):
            params = {"name": "search_knowledge", "arguments": {"query": question, "limit": LIMIT}}
            for path in order.sample([*taken], len(taken)):
                began = time.perf_counter()
                call(path, "tools/call", params)
                if number >= WARM_UP:
                    taken[path].append(time.perf_counter() - began)
    contributions, documented = taken.values()
    # The median of the ratios of what was asked in one round: noise of a moment is in both.
    ratios = [one / other for one, other in zip(contributions, documented, strict=True)]
    return {
        "contributions": hive.size,
        "documents": base.size,
        "hive p50": 1000 * median(contributions),
        "hive p95": 1000 * percentile(contributions, 95),
        "knowledge p50": 1000 * median(documented),
        "knowledge p95": 1000 * percentile(documented, 95),
        "hive / knowledge": median(ratios),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
