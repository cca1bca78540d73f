"""A laptop cloud to measure, watched for what a run costs, and a client that costs as little as it can."""

import http.client
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from bench.corpus import Corpus
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.screen import judge

RUN_SECONDS = 900
LOG_SECONDS = 0.3
"""A log line of a function that has answered is read a moment later."""


class Refused(Exception):
    """The answer was not 200: its time would mean nothing."""


class NotSynced(Exception):
    """The laptop did not come to serve what the branch shows: figures of it would mean nothing."""


class Client(closing["Client"]):
    """One connection that stays open. Not for use from several threads."""

    def __init__(self, url: str) -> None:
        super().__init__(self)
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        self._connection.close()

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> bytes:
        """Return the whole answer. Raises Refused."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            self._connection.request(method, path, body, sent)
            response = self._connection.getresponse()
        except ConnectionError:  # some servers end idle connections; the next request opens one
            self._connection.close()
            self._connection.request(method, path, body, sent)
            response = self._connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise Refused(f"{path} was answered with {response.status}")
        return answer

    def get(self, path: str) -> bytes:
        return self.request("GET", path)

    def json(self, path: str) -> Any:
        return json.loads(self.get(path))


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took. Bytes of archives arrive from another host than the API, as on GitHub."""

    seconds: float
    github_calls: int
    blobs: int
    archives: int
    embedding_calls: int
    texts_embedded: int
    documents: int
    """Stored or removed."""


class Bench:
    """A laptop over a corpus. `embedded` grows by one entry for each call to the embedding model."""

    def __init__(self, corpus: Corpus, data: Path, template: Mapping[str, Any] | None = None) -> None:
        self.corpus = corpus
        self._lock = threading.Lock()
        self._embedded: list[int] = []
        self._steps: dict[str | None, tuple[int, int]] = {}
        self.laptop = Laptop(corpus.source, data, on_log=self._hear, template=template)

    def run(self, action: Callable[[], object]) -> Cost:
        """Do something that makes the sync run; return its cost when its documents are searchable.

        Raises NotSynced where two counts differ that cannot both be wrong: the texts that the function logged, and the
        vectors that its index holds.
        """
        vectors, embedded, version = self._vectors(), len(self._embedded), self._generation()
        self.laptop.api.forget_requests()
        began = time.perf_counter()
        action()
        self.laptop.wait(RUN_SECONDS)
        seconds = time.perf_counter() - began
        time.sleep(LOG_SECONDS)
        new, texts = self._vectors() - vectors, sum(self._embedded[embedded:])
        if new > texts:
            raise NotSynced(f"The index has {new} new vectors, and its function reports {texts}.")
        if faults := judge(self.laptop).faults:
            raise NotSynced(" ".join(faults))
        calls = self.laptop.api.requests
        report = self.laptop.report() if self._generation() != version else None
        return Cost(
            seconds,
            len(calls),
            sum(call.endpoint == "blob" for call in calls),
            sum(call.endpoint == "tarball" for call in calls),
            len(self._embedded) - embedded,
            texts,
            report.counts.stored + report.counts.removed if report else 0,
        )

    def _generation(self) -> int:
        manifest = self.laptop.manifest()
        return manifest.generation if manifest else 0

    def _vectors(self) -> int:
        if not self.laptop.index_file.exists():
            return 0
        with closing(sqlite3.connect(f"{self.laptop.index_file.as_uri()}?mode=ro", uri=True)) as database:
            known = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'vectors'").fetchone()
            return int(database.execute("SELECT count(*) FROM vectors").fetchone()[0]) if known else 0

    def _hear(self, function: str, line: str) -> None:
        """Note the texts that one step embedded. Each line of the function has the sum of its call so far."""
        if function == "Index" and '"embedded"' in line:
            step = json.loads(line)
            request, sum_so_far = step.get("function_request_id"), (int(step["texts"]), int(step["embedded"]))
            with self._lock:
                texts, before = self._steps.get(request, (0, 0))
                goes_on = texts == sum_so_far[0] and before < sum_so_far[1]
                self._embedded.append(sum_so_far[1] - (before if goes_on else 0))
                self._steps[request] = sum_so_far


@contextmanager
def started(corpus: Corpus, data: Path, template: Mapping[str, Any] | None = None) -> Iterator[Bench]:
    """Yield a laptop that listens and has synced nothing yet."""
    bench = Bench(corpus, data, template)
    with bench.laptop:
        yield bench


@contextmanager
def synced(corpus: Corpus, data: Path, template: Mapping[str, Any] | None = None) -> Iterator[Bench]:
    """Yield a laptop that serves the head of the corpus."""
    with started(corpus, data, template) as bench:
        bench.run(bench.laptop.push)
        yield bench
