"""A search as callers find it, by REST and by MCP, beside the bare queries of the same index, as the base grows.

The first size is the base itself; larger ones are its paragraphs mixed anew under new titles, written straight into the
laptop's index. `--beside` names another server with the same paths, which has a corpus of its own. All take turns.
"""

import argparse
import json
import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

import numpy

from bench import table
from bench.corpus import open_corpus
from bench.measure import Table, by_turns, spread, times, together
from bench.serving import Client, Refused, synced
from commonplace.documents.content.document import MANIFEST_KEY, Document, Entry, Manifest
from commonplace.documents.index_source import record_from_document
from commonplace.repository.slugs import slug
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embed_records
from commonplace.search.models.local import LocalEmbeddings
from commonplace.search.query import Query
from commonplace_local.dev.laptop import Laptop

SIZES = (272, 2_720, 30_000)
ROUNDS, WARM_UP = 60, 10
CLIENTS, WARM_SECONDS, SECONDS = 4, 4.0, 4.0
LEG, SHOWN = 200, 5
BATCH = 500
MANIFEST_SECONDS = 6.0
"""After which every process goes by a new manifest."""

NEW, REPEATED = "new", "repeated"
Search = Callable[[str], object]


def search(options: argparse.Namespace, folder: Path) -> Iterator[Table]:
    rows: list[table.Row] = []
    corpus = open_corpus(options.repository, folder)
    with synced(corpus, folder / "data") as bench:
        base = Base(bench.laptop)
        for at, size in enumerate(options.sizes or SIZES):
            base.grow(size)
            rows.append(_row(bench.laptop, base, options.beside if at == 0 else None))
            print("\n".join(table.lines(rows[-1:])), flush=True)
    title = f"A search over {corpus.label}, p50 in ms, new and repeated; calls a second with one and {CLIENTS} callers"
    yield Table("search", title, rows)


def by_rest(client: Client, question: str) -> bytes:
    return client.get(f"/api/v1/search?{urlencode({'q': question})}")


def by_mcp(client: Client, question: str) -> bytes:
    """Return what a server answers: JSON or a stream of events, as it likes."""
    params = {"name": "search_knowledge", "arguments": {"query": question}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    accepted = {"accept": "application/json, text/event-stream", "content_type": "application/json"}
    answer = client.request("POST", "/mcp", json.dumps(message).encode(), **accepted)
    if b'"result"' not in answer or b'"isError":true' in answer:
        raise Refused(answer[:400].decode(errors="replace"))
    return answer


@contextmanager
def bare(index: Path) -> Iterator[Search]:
    """Yield the queries that no search of this index can do without: words, vectors, and what is shown of the best."""
    model = LocalEmbeddings()
    with closing(sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True, check_same_thread=False)) as database:
        stored = b"".join(vector for (vector,) in database.execute("SELECT vector FROM vectors"))
        vectors = numpy.frombuffer(stored, dtype="<f4").reshape(-1, model.dimension)

        def ask(question: str) -> object:
            words = " OR ".join(f'"{term}"' for term in Query.of(question).terms)
            found = database.execute(
                f"SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY bm25(passages) LIMIT {LEG}", (words,)
            ).fetchall()
            near = vectors @ numpy.asarray(model.embed([question], query=True)[0], dtype=numpy.float32)
            numpy.argpartition(near, -min(LEG, len(near)))
            rows = [row for (row,) in found[:SHOWN]]
            holes = ",".join("?" * len(rows))
            return database.execute(f"SELECT text FROM chunks WHERE rowid IN ({holes})", rows).fetchall()

        yield ask


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
        """Return a few words that follow each other somewhere, none twice."""
        found: dict[str, None] = {}
        while len(found) < number:
            words = re.findall(r"[^\W\d_]{2,}", self._random.choice(self.paragraphs))
            start = self._random.randrange(max(len(words) - 6, 1))
            found[" ".join(words[start : start + self._random.randint(2, 6)])] = None
        return list(found)

    def grow(self, size: int) -> None:
        """Write as many documents as are missing, and make the manifest name them."""
        manifest = self._laptop.manifest()
        if manifest is None or size <= self.size:
            return
        made = []
        for _ in range(size - self.size):
            like, number = self._random.choice(self._documents), next(self._numbers)
            title = " ".join(self._random.sample(self._words, 4)) + f" {number}"
            parts = self._random.choices(self.paragraphs, k=max(1, like.content.count("\n\n")))
            name, content = slug(title), "\n\n".join(parts)
            remixed = {"id": name, "title": title, "path": f"remixed/{name}.md", "aliases": [], "content": content}
            made.append(like.model_copy(update=remixed))
        model = LocalEmbeddings()
        with closing(EmbeddedEngine(self._laptop.index_file, model)) as engine:
            for start in range(0, len(made), BATCH):
                some = made[start : start + BATCH]
                engine.write(embed_records([record_from_document(one) for one in some], model), ())
                self.size += len(some)
                print(f"  {self.size:,} of {size:,} documents", flush=True)
        entries = [
            Entry(
                **one.model_dump(exclude={"metadata", "frontmatter", "content"}),
                key=f"content/{one.ref}.json",
                etag="remixed",
                raw_etag="remixed",
                size=1,
            )
            for one in made
        ]
        whole = manifest.model_copy(update={"documents": [*manifest.documents, *entries]})
        self._laptop.store.put(MANIFEST_KEY, Manifest.to_json(whole))
        time.sleep(MANIFEST_SECONDS)


def _row(laptop: Laptop, base: Base, beside: str | None) -> table.Row:
    with ExitStack() as stack:
        ours = stack.enter_context(Client(laptop.url))
        ways: dict[str, Search] = {
            "bare": stack.enter_context(bare(laptop.index_file)),
            "rest": partial(by_rest, ours),
            "mcp": partial(by_mcp, ours),
        }
        if beside:
            other = stack.enter_context(Client(beside))
            ways |= {"other rest": partial(by_rest, other), "other mcp": partial(by_mcp, other)}
        questions = base.questions(WARM_UP + ROUNDS)
        rounds = [{name: partial(ask, question) for name, ask in ways.items()} for question in questions]
        # All questions as new ones, and then once more.
        taken = {kind: by_turns(rounds, warm_up=WARM_UP) for kind in (NEW, REPEATED)}
    row: dict[str, table.Value] = {"documents": base.size}
    for name in ways:
        row |= {f"{name} {kind}": 1000 * median(taken[kind][name]) for kind in (NEW, REPEATED)}
        row[f"{name} p95"] = spread(taken[NEW][name])["p95"]
    for kind in (NEW, REPEATED):
        row[f"mcp / rest {kind}"] = times(taken[kind]["mcp"], taken[kind]["rest"])
        if beside:
            row[f"rest / other {kind}"] = times(taken[kind]["rest"], taken[kind]["other rest"])
            row[f"mcp / other {kind}"] = times(taken[kind]["mcp"], taken[kind]["other mcp"])
    row["rest / bare"] = times(taken[NEW]["rest"], taken[NEW]["bare"])
    for name, ask in (("rest", by_rest), ("mcp", by_mcp)):
        for callers in (1, CLIENTS):
            questions = base.questions(2_000)
            answered = together(
                partial(Client, laptop.url),
                lambda client: ask(client, questions.pop()),  # noqa: B023 - called now
                callers,
                warm=WARM_SECONDS,
                seconds=SECONDS,
            )
            row[f"{name} calls/s, {callers}"] = len(answered) / SECONDS
    return row
