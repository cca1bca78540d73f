"""Latency and throughput of REST and pages, beside a bare route that returns the same bytes through the same host.

`python -m bench.rest [CLONE]`. Requests to ours and to the bare one alternate, so that noise hits both. The template is
the committed one with the bare function more.
"""

import copy
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote, urlencode

from bench import table
from bench.corpus import asked_for, open_corpus
from bench.serving import Client, synced
from bench.synthetic import Prose
from bench.table import percentile, ratio
from local.dev.laptop import Laptop, committed_template

SOURCE = "bench/baseline"
ROUTES = ("GET /bare/{name}", "GET /host/{name}")


def with_bare_function(template: Mapping[str, Any], bodies: Path) -> dict[str, Any]:
    """Memory, time, logging and gateway are those of the REST function. `bodies` is the folder it answers from."""
    changed: dict[str, Any] = copy.deepcopy(dict(template))
    resources = changed["Resources"]
    ours = _the_one(resources, "AWS::Lambda::Function", lambda found: _source(found) == "functions/rest")
    route = _the_one(resources, "AWS::ApiGatewayV2::Route", lambda found: found["Properties"]["RouteKey"] == "$default")
    resources["BareFunction"] = {
        "Type": "AWS::Lambda::Function",
        "Metadata": {"commonplace:source": SOURCE},
        "Properties": {
            **ours["Properties"],
            "FunctionName": "bare",
            "Environment": {"Variables": {"BARE_BODIES": str(bodies)}},
        },
    }
    resources["BareIntegration"] = {
        "Type": "AWS::ApiGatewayV2::Integration",
        "Properties": {
            "ApiId": route["Properties"]["ApiId"],
            "IntegrationType": "AWS_PROXY",
            "IntegrationUri": {"Fn::GetAtt": ["BareFunction", "Arn"]},
            "PayloadFormatVersion": "2.0",
        },
    }
    target = {"Fn::Join": ["", ["integrations/", {"Ref": "BareIntegration"}]]}
    for number, key in enumerate(ROUTES):
        resources[f"BareRoute{number}"] = {
            "Type": "AWS::ApiGatewayV2::Route",
            "Properties": {**route["Properties"], "RouteKey": key, "Target": target},
        }
    return changed


def _the_one(resources: Mapping[str, Any], kind: str, wanted: Callable[[Any], bool]) -> Any:
    (found,) = (resource for resource in resources.values() if resource["Type"] == kind and wanted(resource))
    return found


def _source(resource: Mapping[str, Any]) -> str | None:
    source: str | None = resource.get("Metadata", {}).get("commonplace:source")
    return source


ROUNDS = 200
WARM_UP = 30
CLIENTS = 4
WARM_BLOCKS, BLOCKS, BLOCK_SECONDS = 3, 4, 0.5
API = "/api/v1"
GET_TARGET, FILTER_TARGET, PAGE_TARGET = 3, 2, 3


@dataclass(slots=True)
class Case:
    """One kind of request: the path of its n-th call, and what the calls took in seconds."""

    name: str
    path: Callable[[int], str]
    size: int = 0
    ours: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def key(self) -> str:
        return self.name.replace(" ", "-").replace(",", "")

    def next_path(self) -> str:
        return self.path(next(self.numbers))


def cases(laptop: Laptop, client: Client) -> list[Case]:
    """A document of middling size, lists of 20, searches, and pages of the site; each list and search once repeated and
    once always new."""
    document = _middling(laptop)
    tags = client.json(f"{API}/tags")["tags"]
    tag = quote(max(tags, key=lambda told: int(told["count"]))["tag"])
    total = client.json(f"{API}/entries?limit=1")["total"]
    places = max(total - 20, 1)
    prose = Prose(7)
    return [
        Case("get", lambda _: f"{API}/entries/{document}"),
        Case("list", lambda _: f"{API}/entries?limit=20"),
        Case("filtered list", lambda _: f"{API}/entries?limit=20&tags={tag}"),
        Case("list, new page", lambda n: f"{API}/entries?limit={20 - n // places % 2}&offset={n % places}"),
        Case("filtered list, new filter", lambda n: f"{API}/entries?limit=20&tags={tag}&updatedSince={_moment(n)}"),
        Case("search, repeated", lambda _: f"{API}/search?{urlencode({'q': 'how to share work in a circle'})}"),
        Case("search, new", lambda _: f"{API}/search?{urlencode({'q': ' '.join(prose.words(5))})}"),
        Case("page of the document", lambda _: f"/d/{document}"),
        Case("home page", lambda _: "/"),
        Case("search page, repeated", lambda _: f"/search?{urlencode({'q': 'how to share work in a circle'})}"),
        Case("search page, new", lambda _: f"/search?{urlencode({'q': ' '.join(prose.words(5))})}"),
    ]


def main(arguments: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as name:
        folder = Path(name)
        bodies = folder / "bodies"
        bodies.mkdir()
        corpus = open_corpus(asked_for(arguments), folder)
        with synced(corpus, folder / "data", with_bare_function(committed_template(), bodies)) as bench:
            url = bench.laptop.url
            with Client(url) as client:
                measured = [*cases(bench.laptop, client)]
                for case in measured:
                    body = client.get(case.next_path())
                    case.size = len(body)
                    (bodies / case.key).write_bytes(body)
                host = _one_by_one(client, measured)
            together = [_side_by_side(url, case) for case in measured]
    rows = [_row(case) for case in measured]
    table.show("rest", f"REST over {corpus.label}, one client", rows, note=_note(measured, host))
    table.show("rest-concurrent", f"REST over {corpus.label}, {CLIENTS} clients", together)
    return 0


def _one_by_one(client: Client, measured: Sequence[Case]) -> float:
    """Every case in every round, ours and bare in changing order; answers the host's own median seconds."""
    order = random.Random(1)
    host: list[float] = []
    for number in range(WARM_UP + ROUNDS):
        if number == WARM_UP:
            for samples in (host, *(case.ours for case in measured), *(case.bare for case in measured)):
                samples.clear()
        for case in order.sample(measured, len(measured)):
            pair = [(case.ours, case.next_path()), (case.bare, f"/bare/{case.key}")]
            for samples, path in order.sample(pair, 2):
                samples.append(client.timed(path))
        host.append(client.timed(f"/host/{measured[0].key}"))
    return median(host)


def _side_by_side(url: str, case: Case) -> table.Row:
    """Clients at once, in short blocks, ours and bare by turns; in the first ones the host starts what it needs."""
    ours: list[float] = []
    bare: list[float] = []
    for block in range(WARM_BLOCKS + BLOCKS):
        taken = _block(url, case.next_path), _block(url, lambda: f"/bare/{case.key}")
        if block >= WARM_BLOCKS:
            ours += taken[0]
            bare += taken[1]
    seconds = BLOCK_SECONDS * BLOCKS
    return {
        "request": case.name,
        "p50 ms": 1000 * median(ours),
        "p95 ms": 1000 * percentile(ours, 95),
        "requests/s": len(ours) / seconds,
        "bare p50 ms": 1000 * median(bare),
        "bare p95 ms": 1000 * percentile(bare, 95),
        "bare requests/s": len(bare) / seconds,
        "times bare (p50)": ratio(median(ours), median(bare)),
    }


def _block(url: str, path: Callable[[], str]) -> list[float]:
    """The latencies of everything that was answered within one block."""
    taken: list[float] = []
    end = time.perf_counter() + BLOCK_SECONDS

    def ask() -> None:
        with Client(url) as client:
            while time.perf_counter() < end:
                taken.append(client.timed(path()))

    threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def _row(case: Case) -> table.Row:
    return {
        "request": case.name,
        "bytes": case.size,
        "p50 ms": 1000 * median(case.ours),
        "p95 ms": 1000 * percentile(case.ours, 95),
        "requests/s": len(case.ours) / sum(case.ours),
        "bare p50 ms": 1000 * median(case.bare),
        "bare p95 ms": 1000 * percentile(case.bare, 95),
        "bare requests/s": len(case.bare) / sum(case.bare),
        "times bare (p50)": ratio(median(case.ours), median(case.bare)),
    }


def _note(measured: Sequence[Case], host: float) -> str:
    took = {case.name: median(case.ours) for case in measured}
    bare = ratio(took["get"], median(measured[0].bare))
    filtered = ratio(took["filtered list"], took["list"])
    new = ratio(took["filtered list, new filter"], took["list, new page"])

    def times(page: str, data: str) -> str:
        return table.text(ratio(took[page], took[data]))

    return (
        f"The host alone, without any framework: {1000 * host:.3g} ms.\n"
        f"One document: {table.text(bare)} times the bare route (target {GET_TARGET}).\n"
        f"Filtered list: {table.text(filtered)} times an unfiltered one (target {FILTER_TARGET}); "
        f"{table.text(new)} times when neither was asked for before.\n"
        f"The page of a document: {times('page of the document', 'get')} times the document (target {PAGE_TARGET}), "
        f"home {times('home page', 'get')} times; a search page {times('search page, new', 'search, new')} times one."
    )


def _middling(laptop: Laptop) -> str:
    """The document whose stored size is the median."""
    manifest = laptop.manifest()
    sizes = []
    for entry in manifest.documents if manifest else ():
        stored = laptop.store.get(entry.key)
        sizes.append((len(stored.body) if stored else 0, entry.ref))
    return sorted(sizes)[len(sizes) // 2][1]


def _moment(number: int) -> str:
    """Always another one, and before every document."""
    return f"1990-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
