"""A search as callers find it, by REST and by MCP, beside the bare queries of the same index, as the base grows.

`python -m bench.search [CLONE] [--sizes 272,2720,30000] [--beside URL]`. The first size is the base itself; larger ones
are its paragraphs mixed anew under new titles, written straight into the laptop's index. `--beside` asks another server
with the same paths, which has a corpus of its own. Everything is asked by turns.
"""

import argparse
import json
import random
import re
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from statistics import median
from urllib.parse import urlencode, urlsplit

import numpy

from bench import table
from bench.corpus import open_corpus
from bench.serving import Refused, synced
from bench.table import percentile, ratio
from commonplace.documents.content.document import MANIFEST_KEY, Document, Entry, Manifest
from commonplace.documents.index_source import record_from_document
from commonplace.repository.slugs import slug
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embed_records
from commonplace.search.models.local import LocalEmbeddings
from commonplace.search.query import Query
from local.dev.laptop import Laptop

SIZES = "272,2720,30000"
ROUNDS, WARM_UP = 60, 10
CLIENTS, WARM_SECONDS, SECONDS = 4, 4.0, 4.0
LEG, SHOWN = 200, 5
BATCH = 500
PICTURE = Path(__file__).parents[1] / "docs" / "search-growth.svg"
MANIFEST_SECONDS = 6.0
"""After which every process goes by a new manifest."""

NEW, REPEATED = "new", "repeated"


@dataclass(slots=True)
class Way:
    """One way to ask, and what a search took in seconds: of new questions and of those that were asked before."""

    name: str
    ask: Callable[[str], object]
    taken: dict[str, list[float]] = field(default_factory=lambda: {NEW: [], REPEATED: []})


class Server:
    """One kept connection to a server that is asked by REST and by MCP. Not for use from several threads."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def rest(self, question: str) -> bytes:
        return self._answer("GET", f"/api/v1/search?{urlencode({'q': question})}")

    def mcp(self, question: str) -> bytes:
        params = {"name": "search_knowledge", "arguments": {"query": question}}
        told = self._answer("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        # JSON or a stream of events, as the server likes.
        if b'"result"' not in told or b'"isError":true' in told:
            raise Refused(told[:400].decode(errors="replace"))
        return told

    def close(self) -> None:
        self._connection.close()

    def _answer(self, method: str, path: str, message: object = None) -> bytes:
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        sent = method, path, json.dumps(message) if message else None, headers
        try:
            self._connection.request(*sent)
            response = self._connection.getresponse()
        except ConnectionError:  # some end idle connections; the next request opens one
            self._connection.close()
            self._connection.request(*sent)
            response = self._connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise Refused(f"{path} was answered with {response.status}")
        return body


class Bare:
    """The queries that no search of this index can do without: words, vectors, and what is shown of the best."""

    def __init__(self, index: Path) -> None:
        self._database = sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True, check_same_thread=False)
        self._model = LocalEmbeddings()
        kept = b"".join(vector for (vector,) in self._database.execute("SELECT vector FROM vectors"))
        self._vectors = numpy.frombuffer(kept, dtype="<f4").reshape(-1, self._model.dimension)

    def ask(self, question: str) -> object:
        words = " OR ".join(f'"{term}"' for term in Query.of(question).terms)
        found = self._database.execute(
            f"SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY bm25(passages) LIMIT {LEG}",
            (words,),
        ).fetchall()
        near = self._vectors @ numpy.asarray(self._model.embed([question], query=True)[0], dtype=numpy.float32)
        numpy.argpartition(near, -min(LEG, len(near)))
        rows = [row for (row,) in found[:SHOWN]]
        holes = ",".join("?" * len(rows))
        return self._database.execute(f"SELECT text FROM chunks WHERE rowid IN ({holes})", rows).fetchall()

    def close(self) -> None:
        self._database.close()


class Base:
    """A served base that grows: documents of remixed paragraphs, in its index and in its manifest."""

    def __init__(self, laptop: Laptop) -> None:
        self._laptop = laptop
        self._random = random.Random(1)
        manifest = laptop.manifest()
        stored = [laptop.store.get(entry.key) for entry in manifest.documents] if manifest else []
        self._documents = [Document.model_validate_json(found.body) for found in stored if found]
        self.paragraphs = [
            part for one in self._documents for part in re.split(r"\n\s*\n", one.content) if len(part) > 80
        ]
        self._words = sorted({word for one in self._documents for word in one.title.split() if word.isalpha()})
        self._numbers = count()
        self.size = len(self._documents)

    def questions(self, number: int) -> list[str]:
        """A few words that follow each other somewhere, none twice."""
        asked: dict[str, None] = {}
        while len(asked) < number:
            words = re.findall(r"[^\W\d_]{2,}", self._random.choice(self.paragraphs))
            start = self._random.randrange(max(len(words) - 6, 1))
            asked[" ".join(words[start : start + self._random.randint(2, 6)])] = None
        return list(asked)

    def grow(self, size: int) -> None:
        """Writes as many documents as are missing, and makes the manifest name them."""
        manifest = self._laptop.manifest()
        if manifest is None or size <= self.size:
            return
        made = [self._remixed() for _ in range(size - self.size)]
        model = LocalEmbeddings()
        with closing(EmbeddedEngine(self._laptop.index_file, model)) as engine:
            for start in range(0, len(made), BATCH):
                some = made[start : start + BATCH]
                engine.write(embed_records([record_from_document(one) for one in some], model), ())
                self.size += len(some)
                print(f"  {self.size:,} of {size:,} documents", flush=True)
        whole = manifest.model_copy(update={"documents": [*manifest.documents, *map(_entry, made)]})
        self._laptop.store.put(MANIFEST_KEY, Manifest.to_json(whole))
        time.sleep(MANIFEST_SECONDS)

    def _remixed(self) -> Document:
        like, number = self._random.choice(self._documents), next(self._numbers)
        title = " ".join(self._random.sample(self._words, 4)) + f" {number}"
        parts = self._random.choices(self.paragraphs, k=max(1, like.content.count("\n\n")))
        name = slug(title)
        told = {"id": name, "title": title, "path": f"remixed/{name}.md", "aliases": [], "content": "\n\n".join(parts)}
        return like.model_copy(update=told)


def _entry(document: Document) -> Entry:
    told = document.model_dump(exclude={"metadata", "frontmatter", "content"})
    return Entry(**told, key=f"content/{document.ref}.json", etag="remixed", raw_etag="remixed", size=1)


def main(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("clone", nargs="?", type=Path, help="a clone to measure on; without it, a made-up one")
    parser.add_argument("--sizes", default=SIZES, help="documents, rising, with commas")
    parser.add_argument("--beside", help="URL of another server to ask by turns, at the first size")
    parser.add_argument("--no-picture", action="store_true", help=f"do not draw {PICTURE.name}")
    options = parser.parse_args(given)
    rows: list[table.Row] = []
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as name:
        corpus = open_corpus(options.clone, Path(name))
        with synced(corpus, Path(name) / "data") as bench:
            base = Base(bench.laptop)
            for at, size in enumerate(int(size) for size in options.sizes.split(",")):
                base.grow(size)
                rows.append(_measured(bench.laptop, base, options.beside if at == 0 else None))
                print("\n".join(table.lines(rows[-1:])), flush=True)
    title = f"A search over {corpus.label}, p50 in ms, new and repeated; calls a second with one and {CLIENTS} callers"
    table.show("search", title, rows)
    if not options.no_picture:
        lines = {"MCP": "mcp new", "REST": "rest new", "bare queries": "bare new", "MCP, repeated": "mcp repeated"}
        table.draw(PICTURE, rows, lines, x="documents")
    return 0


def _measured(laptop: Laptop, base: Base, beside: str | None) -> table.Row:
    ours, bare = Server(laptop.url), Bare(laptop.index_file)
    ways = [Way("bare", bare.ask), Way("rest", ours.rest), Way("mcp", ours.mcp)]
    servers: list[Server | Bare] = [ours, bare]
    if beside:
        other = Server(beside)
        servers.append(other)
        ways += [Way("other rest", other.rest), Way("other mcp", other.mcp)]
    _by_turns(ways, base.questions(WARM_UP + ROUNDS))
    for server in servers:
        server.close()
    row: dict[str, table.Value] = {"documents": base.size}
    for way in ways:
        for kind, taken in way.taken.items():
            row[f"{way.name} {kind}"] = 1000 * median(taken)
        row[f"{way.name} p95"] = 1000 * percentile(way.taken[NEW], 95)
    for kind in (NEW, REPEATED):
        row[f"mcp / rest {kind}"] = _times(ways, "mcp", "rest", kind)
        if beside:
            row[f"rest / other {kind}"] = _times(ways, "rest", "other rest", kind)
            row[f"mcp / other {kind}"] = _times(ways, "mcp", "other mcp", kind)
    row["rest / bare"] = _times(ways, "rest", "bare", NEW)
    for name in ("rest", "mcp"):
        for callers in (1, CLIENTS):
            row[f"{name} calls/s, {callers}"] = _together(laptop.url, name, base, callers)
    return row


def _times(ways: Sequence[Way], one: str, other: str, kind: str) -> float | None:
    """The median of the ratios of what was asked in one round: noise of a moment is in both."""
    by_name = {way.name: way.taken[kind] for way in ways}
    pairs = zip(by_name[one], by_name[other], strict=True)
    return median(found for first, second in pairs if (found := ratio(first, second)) is not None)


def _by_turns(ways: Sequence[Way], questions: Sequence[str]) -> None:
    """Each question of every way in changing order, and again when all have been asked."""
    order = random.Random(2)
    for kind in (NEW, REPEATED):
        for number, question in enumerate(questions):
            for way in order.sample(ways, len(ways)):
                began = time.perf_counter()
                way.ask(question)
                if number >= WARM_UP:
                    way.taken[kind].append(time.perf_counter() - began)


def _together(url: str, name: str, base: Base, callers: int) -> float:
    """New questions answered in a second; before it is counted, the host starts what it needs."""
    warm = time.perf_counter() + WARM_SECONDS
    end = warm + SECONDS
    answered: list[int] = []

    def ask(questions: Iterator[str]) -> None:
        server, done = Server(url), 0
        while (now := time.perf_counter()) < end:
            getattr(server, name)(next(questions))
            done += now >= warm
        server.close()
        answered.append(done)

    threads = [threading.Thread(target=ask, args=(iter(base.questions(2_000)),)) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(answered) / SECONDS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
