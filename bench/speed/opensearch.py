"""The latency of a search on OpenSearch, beside bare requests to the same node for the same payload, by turns.

Each query runs in five ways, in an order that changes: our whole search call; the same in a process that remembers
nothing of what it read before; the fastest raw requests for what it shows (both legs in one `_msearch`, then details of
the same hits with the chunk for each), whose answers are not even parsed; the same with both answers parsed; and the
very requests that our call sent, so that the time of our code can be separated from that of its requests. The query's
vector is there before the clock starts. What a raw search leaves out is in ours: tokens of the best fifty are compared.

Made-up texts follow Zipf's law over twenty thousand words. Each document has a subject; a sixth of its words are the
subject's, and the vectors of its five chunks lie around the subject's: so words and vectors find the same documents, as
in real text. Vectors without such clusters would make a graph search look worse than it is.
"""

import argparse
import json
import secrets
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import orjson

from bench import table
from bench.measure import Table, Ways, by_turns, spread
from bench.serving import Client
from bench.synthetic import WORDS
from bench.table import Row, ratio_of_medians
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
"""The words of a chunk: 1,600 characters, which is what 400 tokens are."""

VOCABULARY = 20_000
SUBJECTS = 60
"""The smallest corpus that is measured has one document of each."""

SUBJECT_WORDS = 40
OF_SUBJECT = 1 / 6
SPREAD = 0.7
"""Length of what is added to a subject's unit vector: two chunks of a subject have a cosine of about two thirds."""


class MadeUpModel:
    """A model whose vectors are made up: it knows those of its queries, and counts the texts it embeds."""

    name = "made-up"
    revision = "1"
    dimension = DIMENSION

    def __init__(self) -> None:
        self.queries: dict[str, Vector] = {}
        self.asked = 0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:  # noqa: ARG002 - the port's shape
        self.asked += len(texts)
        return [self.queries[text] for text in texts]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of two to five words of one subject, and its vector."""

    text: str
    vector: Vector


class MadeUp:
    """The corpus, and queries that go with it. Two of the same size are equal."""

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
        """Yield documents with so many chunks in all, numbered from `start`."""
        for number in range(start, start + chunks // CHUNKS_EACH):
            subject = number % SUBJECTS
            drawn = [self._drawn(subject, WORDS_EACH) for _ in range(CHUNKS_EACH)]
            parts = [[" ".join(words[at : at + 60]) + "." for at in range(0, WORDS_EACH, 60)] for words in drawn]
            texts = ["\n\n".join(paragraphs) for paragraphs in parts]
            title = " ".join(self._drawn(subject, 5)).capitalize()
            record = Record(
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
            yield IndexedRecord(record, tuple(self._near(subject, CHUNKS_EACH)))

    def queries(self, count: int) -> list[Asked]:
        """Return so many different ones."""
        found: dict[str, Asked] = {}
        while len(found) < count:
            subject = int(self._random.integers(SUBJECTS))
            words = self._names[
                self._random.choice(self._words[subject], int(self._random.integers(2, 6)), replace=False)
            ]
            text = " ".join(words)
            found[text] = Asked(text, self._near(subject, 1)[0])
        return list(found.values())

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


SIZES = (300, 3_000, 20_000, 100_000)
QUERIES, ROUNDS = 120, 4
LIMIT = SearchRequest("").limit
"""Hits that are shown."""
BATCH = 100
"""Documents of one write: about 3 MB."""

TARGET = 1.3
NO_NODE = "Skipped: no node is named. Start one (python -m tests.opensearch_node) and give its address with --url."

Request = tuple[str, str, bytes | None]
"""Method, path and body of a request as it goes over the wire."""


class Recording(BoundedConnection):
    """A connection of the client that notes every request."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.requests: list[Request] = []

    def perform_request(self, *request: Any, **given: Any) -> Any:
        method, path, params, body = request
        self.requests.append((method, f"{path}?{urlencode(params)}" if params else path, body))
        return super().perform_request(*request, **given)


def opensearch(options: argparse.Namespace, folder: Path) -> Iterator[Table]:  # noqa: ARG001 - a benchmark's arguments
    if options.url is None:
        print(NO_NODE)
        return
    rows = list(measure(options.url, options.sizes or SIZES))
    note = (
        f"p50 and p95 in ms, {LIMIT} hits shown; times bare: ratio of the medians with its 95 % interval, "
        f"at most {TARGET} is wanted; cold: of a process that remembers nothing"
    )
    yield Table("opensearch", "A search on OpenSearch, beside bare requests for the same payload", rows, note)


def measure(url: str, sizes: Sequence[int]) -> Iterator[Row]:
    """Yield a row for each size; the index grows from one to the next and is removed at the end."""
    made_up, stem, model = MadeUp(), f"bench-latency-{secrets.token_hex(4)}", MadeUpModel()
    made = made_up.queries(QUERIES)
    model.queries |= {query.text: query.vector for query in made}
    engine = OpenSearchEngine(connect(url, "none"), stem, model)
    with Client(url) as raw:
        try:
            held = 0
            for size in sizes:
                began = time.perf_counter()
                documents = made_up.documents(size - held, held // CHUNKS_EACH)
                while batch := list(islice(documents, BATCH)):
                    engine.write(with_tokens(batch), ())
                raw.request("POST", f"/{stem}-*/_refresh")
                raw.request("POST", f"/{stem}-*/_forcemerge?max_num_segments=1")
                print(f"  {size:,} chunks are there, {time.perf_counter() - began:.0f} s", flush=True)
                held = size
                yield _row(size, list(_ways(url, stem, model, raw, engine, made=made)), model)
        finally:
            for name in raw.json(f"/{stem}-*"):
                raw.request("DELETE", f"/{name}")


def _row(size: int, rounds: list[Ways], model: MadeUpModel) -> Row:
    for ways in rounds:
        for call in ways.values():
            call()  # not timed: caches and compilers warm up
    before = model.asked
    taken = by_turns(rounds * ROUNDS)
    if model.asked != before:
        raise RuntimeError("a query was embedded while it was timed")
    times, low, high = ratio_of_medians(taken["ours"], taken["bare"])
    row: dict[str, table.Value] = {"chunks": size, "documents": size // CHUNKS_EACH}
    for name in ("ours", "cold", "bare", "read", "same"):
        row |= spread(taken[name], f"{name} ")
    row |= {"times bare": times, "interval": f"{low:.2f} to {high:.2f}"}
    row["cold times bare"] = ratio_of_medians(taken["cold"], taken["bare"])[0]
    row |= {f"times {name}": ratio_of_medians(taken["ours"], taken[name])[0] for name in ("read", "same")}
    return row


def _ways(
    url: str, stem: str, model: MadeUpModel, raw: Client, engine: OpenSearchEngine, *, made: Sequence[Asked]
) -> Iterator[Ways]:
    """Yield, for every query, the five ways to ask it."""
    parts = urlsplit(url)
    client = OpenSearchClient({"host": parts.hostname, "port": parts.port}, local=True, connection_class=Recording)
    recording: Recording = client.transport.get_connection()
    recorded = SearchService(OpenSearchEngine(client, stem, model), model)
    forgetful = OpenSearchEngine(connect(url, "none"), stem, model)
    ours, fresh = SearchService(engine, model), SearchService(forgetful, model)

    def cold(request: SearchRequest) -> None:
        forgetful.forget()
        fresh.search(request)

    def send(requests: Sequence[Request], *, parsed: bool = False) -> None:
        for method, path, body in requests:
            answer = raw.request(method, path, body, content_type="application/json")
            if parsed:
                orjson.loads(answer)

    for asked in made:
        request = SearchRequest(asked.text, limit=LIMIT)
        # The second time it sends what it always sends; the alias is looked up every two seconds.
        recorded.search(request)
        recording.requests = []
        shown = recorded.search(request).results
        same = [sent for sent in recording.requests if "search" in sent[1]]
        bare = _bare(same[0][2] or b"", asked, [RecordId(f"{hit.content_type}/{hit.id}") for hit in shown])
        yield {
            "ours": partial(ours.search, request),
            "cold": partial(cold, request),
            "bare": partial(send, bare),
            "read": partial(send, bare, parsed=True),
            "same": partial(send, same),
        }


def _bare(ours: bytes, asked: Asked, ids: Sequence[RecordId]) -> list[Request]:
    """Return both legs as fast as they can be had, and what is shown of these hits, each with its best chunk.

    The legs give ids and scores, nothing is counted. `ours` is the request that our call sends.
    """
    header = json.loads(ours.split(b"\n", 1)[0])
    query, depth = Query.of(asked.text), IndexParameters().ef_search
    near = queries.nearest(Numbers(asked.vector), (), CANDIDATES_PER_LEG, depth)
    body = {"size": CANDIDATES_PER_LEG, "track_total_hits": False, "docvalue_fields": ["id"], **queries.IDS_ONLY}
    legs = [body | {"query": queries.lexical(query.terms, ())}, body | {"query": near}]
    lines = b"".join(encode(part) + b"\n" for leg in legs for part in (header, leg))
    details = encode(queries.details(ids, query, None, depth))
    scores = urlencode({"filter_path": "responses.hits.hits.fields,responses.hits.hits._score,responses.error"})
    sources = urlencode({"filter_path": "hits.hits._source,hits.hits.inner_hits.*.hits.hits._source"})
    return [("POST", f"/_msearch?{scores}", lines), ("POST", f"/{header['index']}/_search?{sources}", details)]
