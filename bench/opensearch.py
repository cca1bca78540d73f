"""How long a search takes on OpenSearch, beside bare requests to the same node for the same payload, by turns.

Each query runs in five ways, in an order that changes: our whole search call; the same in a process that remembers
nothing of what it read before; the fastest raw requests for what it shows (both legs in one `_msearch`, then details of
the same hits with the chunk for each), whose answers are not even parsed; the same with both answers parsed; and the
very requests that our call sent, so that what our code takes can be told from what it asks for. The query's vector is
there before the clock starts. What a raw search leaves out is in ours: tokens of the best fifty are compared.

Made-up texts follow Zipf's law over twenty thousand words. Each document has a subject; a sixth of its words are the
subject's, and the vectors of its five chunks lie around the subject's: so words and vectors find the same documents, as
in real text. Vectors without such clusters would make a graph search look worse than it is.
"""

import argparse
import json
import secrets
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import orjson

from bench import table
from bench.retrieval.engines import Node
from bench.retrieval.metrics import ratio_of_medians
from bench.retrieval.run import node
from bench.synthetic import WORDS
from bench.table import Row, percentile
from commonplace.search.candidates import CANDIDATES_PER_LEG
from commonplace.search.embeddings import with_tokens
from commonplace.search.model import Chunk, IndexedRecord, Record, RecordId, SearchRequest, Vector
from commonplace.search.opensearch import queries
from commonplace.search.opensearch.client import BoundedConnection, Numbers, OpenSearchClient, connect, encode
from commonplace.search.opensearch.engine import OpenSearchEngine
from commonplace.search.opensearch.settings import IndexParameters
from commonplace.search.query import Query
from commonplace.search.service import SearchService

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

SEED = 20_260_223
DIMENSION = 256
CHUNKS_EACH = 5
WORDS_EACH = 180
"""Of a chunk: 1,600 characters, which is what 400 tokens are."""

VOCABULARY = 20_000
SUBJECTS = 60
"""Of each, the smallest corpus that is measured has one document."""

SUBJECT_WORDS = 40
OF_SUBJECT = 1 / 6
SPREAD = 0.7
"""Length of what is added to a subject's unit vector: two chunks of a subject have a cosine of about two thirds."""


class MadeUpModel:
    """A model whose vectors are made up: it knows those of the queries it is given, and counts what it is asked."""

    name = "made-up"
    revision = "1"
    dimension = DIMENSION

    def __init__(self) -> None:
        self.queries: dict[str, Vector] = {}
        self.asked = 0

    def embed(self, texts: list[str] | tuple[str, ...] | Any, *, query: bool = False) -> list[Vector]:  # noqa: ARG002
        """The vectors of known queries."""
        self.asked += len(texts)
        return [self.queries[text] for text in texts]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of two to five words of one subject, and its vector."""

    text: str
    vector: Vector


class MadeUp:
    """The corpus, and queries that go with it. Two of the same size say the same."""

    def __init__(self, seed: int = SEED) -> None:
        import numpy

        self._random = numpy.random.default_rng(seed)
        count = len(WORDS)
        names = [
            WORDS[n % count] + (WORDS[(n // count * 37 + n) % count] if n >= count else "") for n in range(VOCABULARY)
        ]
        self._names = numpy.array(names, dtype=object)
        weights = 1 / numpy.arange(8, VOCABULARY + 8)
        self._cumulated = numpy.cumsum(weights / weights.sum())
        self._subjects = _unit(self._random.normal(size=(SUBJECTS, DIMENSION)))
        # Not the commonest words: those belong to no subject.
        self._words = self._random.integers(200, VOCABULARY, (SUBJECTS, SUBJECT_WORDS))

    def documents(self, chunks: int, start: int = 0) -> Iterator[IndexedRecord]:
        """Documents with so many chunks in all, numbered from `start`."""
        for number in range(start, start + chunks // CHUNKS_EACH):
            subject = number % SUBJECTS
            texts = [self._text(subject) for _ in range(CHUNKS_EACH)]
            title = " ".join(self._drawn(subject, 5)).capitalize()
            yield IndexedRecord(_record(number, title, texts), tuple(self._near(subject, CHUNKS_EACH)))

    def queries(self, count: int) -> list[Asked]:
        """Distinct ones."""
        found: dict[str, Asked] = {}
        while len(found) < count:
            subject = int(self._random.integers(SUBJECTS))
            words = self._names[
                self._random.choice(self._words[subject], int(self._random.integers(2, 6)), replace=False)
            ]
            text = " ".join(words)
            found[text] = Asked(text, self._near(subject, 1)[0])
        return list(found.values())

    def _text(self, subject: int) -> str:
        words = self._drawn(subject, WORDS_EACH)
        return "\n\n".join(" ".join(words[start : start + 60]) + "." for start in range(0, WORDS_EACH, 60))

    def _drawn(self, subject: int, count: int) -> list[str]:
        import numpy

        common = numpy.searchsorted(self._cumulated, self._random.random(count))
        own = self._words[subject][self._random.integers(SUBJECT_WORDS, size=count)]
        chosen = numpy.where(self._random.random(count) < OF_SUBJECT, own, numpy.minimum(common, VOCABULARY - 1))
        return list(self._names[chosen])

    def _near(self, subject: int, count: int) -> list[Vector]:
        noise = _unit(self._random.normal(size=(count, DIMENSION))) * SPREAD
        vectors = _unit(self._subjects[subject] + noise).astype("float32")
        return [array("f", vector.tobytes()) for vector in vectors]


def _unit(vectors: "Array") -> "Array":
    import numpy

    unit: Array = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _record(number: int, title: str, texts: list[str]) -> Record:
    return Record(
        id=RecordId(f"file/made-up-{number}"),
        version=1,
        content_type="file",
        document_id=f"made-up-{number}",
        title=title,
        description=texts[0][:180],
        path=f"notes/made-up-{number}.md",
        source_url=f"https://example.org/notes/made-up-{number}.md",
        tags=(f"tag-{number % 50}",),
        date=f"20{10 + number % 16}-0{1 + number % 9}-11",
        body="",
        chunks=tuple(Chunk(ordinal, (f"Part {ordinal}",), text) for ordinal, text in enumerate(texts)),
    )


SIZES = (300, 3_000, 20_000, 100_000)
QUERIES = 120
ROUNDS = 4
BATCH = 100
"""Documents of one write: about 3 MB."""

TARGET = 1.3
PICTURE = Path(__file__).parents[1] / "docs" / "opensearch-latency.svg"

OURS, COLD, BARE, READ = "ours", "ours, nothing remembered", "bare", "bare and parsed"
SAME = "same requests"
WAYS = (OURS, COLD, BARE, READ, SAME)

Way = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it goes over the wire."""

    method: str
    path: str
    body: bytes | None


class Recording(BoundedConnection):
    """A connection of the client that notes what it is asked for."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.requests: list[Request] = []

    def perform_request(self, *request: Any, **given: Any) -> Any:
        method, path, params, body = request
        self.requests.append(Request(method, f"{path}?{urlencode(params)}" if params else path, body))
        return super().perform_request(*request, **given)


@dataclass(frozen=True, slots=True)
class Bench:
    """An index that grows, and the queries that are asked of it."""

    raw: Node
    engine: OpenSearchEngine
    stem: str
    model: MadeUpModel
    asked: Sequence[Asked]
    limit: int

    def service(self, engine: OpenSearchEngine | None = None) -> SearchService:
        return SearchService(engine or self.engine, self.model)

    def search(self, service: SearchService, asked: Asked) -> Way:
        request = SearchRequest(asked.text, limit=self.limit)
        return lambda: service.search(request)


def main(given: Sequence[str]) -> int:
    """Measures every size, prints the table and draws it; says so when there is no node to measure on."""
    parser = argparse.ArgumentParser(prog="python -m bench.opensearch", description=__doc__)
    parser.add_argument("--url", default="start", help="a node to measure on; without it one is started")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="chunks, rising, with commas")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--limit", type=int, default=SearchRequest("").limit, help="hits that are shown")
    parser.add_argument("--no-picture", action="store_true", help=f"do not draw {PICTURE.name}")
    options = parser.parse_args(given)
    with node(options.url) as url:
        if url is None:
            return 0
        rows = list(measure(url, [int(size) for size in options.sizes.split(",")], options))
    note = (
        f"p50 and p95 in ms, {options.limit} hits shown; times bare: ratio of the medians with its 95 % interval, "
        f"at most {TARGET} is wanted; cold: of a process that remembers nothing"
    )
    table.show("opensearch", "A search on OpenSearch, beside bare requests for the same payload", rows, note=note)
    if not options.no_picture:
        table.draw(PICTURE, rows, {OURS: "ours p50", BARE: "bare p50"}, x="chunks")
    return 0


def measure(url: str, sizes: Sequence[int], options: argparse.Namespace) -> Iterator[Row]:
    """A row for each size; the index grows from one to the next and is removed at the end."""
    made_up, stem = MadeUp(), f"bench-latency-{secrets.token_hex(4)}"
    asked = made_up.queries(options.queries)
    model = MadeUpModel()
    model.queries |= {query.text: query.vector for query in asked}
    with Node(url) as raw:
        try:
            engine = OpenSearchEngine(connect(url, "none"), stem, model)
            bench = Bench(raw, engine, stem, model, asked, options.limit)
            held = 0
            for size in sizes:
                _load(bench, made_up, held, size)
                held = size
                yield _row(bench, url, size, options.rounds)
        finally:
            raw.remove(stem)


def _load(bench: Bench, made_up: MadeUp, held: int, size: int) -> None:
    """Writes what is missing, as a build of an index does, and merges once."""
    started, written = time.perf_counter(), 0
    documents = made_up.documents(size - held, held // CHUNKS_EACH)
    while batch := list(islice(documents, BATCH)):
        bench.engine.write(with_tokens(batch), ())
        written += len(batch) * CHUNKS_EACH
        if written % 10_000 == 0:
            _say(f"  {held + written:,} of {size:,} chunks, {time.perf_counter() - started:.0f} s")
    bench.raw.refresh(bench.stem)
    for name in bench.raw.indices(bench.stem):
        bench.raw.send("POST", f"/{name}/_forcemerge?max_num_segments=1")
    _say(f"  {size:,} chunks are there, {time.perf_counter() - started:.0f} s")


def _row(bench: Bench, url: str, size: int, rounds: int) -> Row:
    service = bench.service()
    ways = _ways(bench, service, url)
    for way in ways:
        for timed in way.values():
            timed()  # the first time nobody is timed: caches and compilers warm up
    before = bench.model.asked
    times = _timed(ways, rounds)
    if bench.model.asked != before:
        raise RuntimeError("a query was embedded while it was timed")
    ratio, low, high = ratio_of_medians(times[OURS], times[BARE])
    over, _, _ = ratio_of_medians(times[OURS], times[SAME])
    parsed, _, _ = ratio_of_medians(times[OURS], times[READ])
    forgetful, _, _ = ratio_of_medians(times[COLD], times[BARE])
    row: dict[str, table.Value] = {"chunks": size, "documents": size // CHUNKS_EACH}
    columns = ("ours", "cold", "bare", "read", "same")
    for name, column in zip(WAYS, columns, strict=True):
        row |= {f"{column} p50": median(times[name]) * 1e3, f"{column} p95": percentile(times[name], 95) * 1e3}
    row |= {"times bare": ratio, "interval": f"{low:.2f} to {high:.2f}", "cold times bare": forgetful}
    row |= {"times read": parsed, "times same": over}
    _say(f"  {size:,} chunks: {ratio:.2f} times bare [{low:.2f}, {high:.2f}], {over:.2f} times its own requests")
    return row


def _ways(bench: Bench, service: SearchService, url: str) -> list[dict[str, Way]]:
    """For every query the ways to ask it."""
    parts = urlsplit(url)
    client = OpenSearchClient({"host": parts.hostname, "port": parts.port}, local=True, connection_class=Recording)
    recording: Recording = client.transport.get_connection()
    recorded = bench.service(OpenSearchEngine(client, bench.stem, bench.model))
    engine = OpenSearchEngine(connect(url, "none"), bench.stem, bench.model)
    fresh = bench.service(engine)

    def forgetful(asked: Asked) -> Way:
        search = bench.search(fresh, asked)

        def timed() -> object:
            engine.forget()
            return search()

        return timed

    ways = []
    for asked in bench.asked:
        # The second time it sends what it always sends; what the alias means is asked every two seconds.
        bench.search(recorded, asked)()
        recording.requests = []
        shown = recorded.search(SearchRequest(asked.text, limit=bench.limit)).results
        same = [request for request in recording.requests if "search" in request.path]
        details = _details(same[0], asked, [RecordId(f"{hit.content_type}/{hit.id}") for hit in shown])
        bare = [_legs(same[0], asked), details]
        ways.append(
            {
                OURS: bench.search(service, asked),
                COLD: forgetful(asked),
                BARE: _sending(bench.raw, bare),
                READ: _sending(bench.raw, bare, read=True),
                SAME: _sending(bench.raw, same),
            }
        )
    return ways


def _sending(raw: Node, requests: Sequence[Request], *, read: bool = False) -> Way:
    def send() -> None:
        for request in requests:
            answer = raw.send(request.method, request.path, request.body)
            if read:
                orjson.loads(answer)

    return send


def _legs(ours: Request, asked: Asked) -> Request:
    """Both legs as fast as they can be asked for: ids and scores, nothing counted, nothing else."""
    header = json.loads((ours.body or b"").split(b"\n", 1)[0])
    near = queries.nearest(Numbers(asked.vector), (), CANDIDATES_PER_LEG, IndexParameters().ef_search)
    body = {"size": CANDIDATES_PER_LEG, "track_total_hits": False, "docvalue_fields": ["id"], **queries.IDS_ONLY}
    legs = [body | {"query": queries.lexical(Query.of(asked.text).terms, ())}, body | {"query": near}]
    read = urlencode({"filter_path": "responses.hits.hits.fields,responses.hits.hits._score,responses.error"})
    return Request(
        "POST", f"/_msearch?{read}", b"".join(encode(part) + b"\n" for leg in legs for part in (header, leg))
    )


def _details(ours: Request, asked: Asked, ids: Sequence[RecordId]) -> Request:
    """What is shown of these hits, each with its best chunk, in one request."""
    header = json.loads((ours.body or b"").split(b"\n", 1)[0])
    body = queries.details(ids, Query.of(asked.text), None, IndexParameters().ef_search)
    read = urlencode({"filter_path": "hits.hits._source,hits.hits.inner_hits.*.hits.hits._source"})
    return Request("POST", f"/{header['index']}/_search?{read}", encode(body))


def _timed(ways: Sequence[dict[str, Way]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every way, each query by turns and each time in another order."""
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    names = WAYS
    for number in range(rounds):
        for position, way in enumerate(ways):
            turn = (number + position) % len(names)
            for name in (*names[turn:], *names[:turn]):
                started = time.perf_counter()
                way[name]()
                times[name].append(time.perf_counter() - started)
    return times


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
