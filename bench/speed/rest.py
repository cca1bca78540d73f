"""Latency and throughput of REST and pages, beside a bare route that returns the same bytes through the same host.

Requests to ours and to the bare one take turns. The template is the committed one with the bare function more.
"""

import argparse
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote, urlencode

from bench.corpus import open_corpus
from bench.measure import Seconds, Table, by_turns, spread, together
from bench.serving import Client, synced
from bench.synthetic import Prose
from bench.table import Row, ratio, text
from commonplace_local.dev.laptop import Laptop, committed_template

SOURCE = "bench/baseline"
ROUTES = ("GET /bare/{proxy+}", "GET /host/{proxy+}")
ROUNDS, WARM_UP = 200, 30
CLIENTS = 4
WARM_BLOCKS, BLOCKS, BLOCK_SECONDS = 3, 4, 0.5
API = "/api/v1"
GET_TARGET, FILTER_TARGET, PAGE_TARGET = 3, 2, 3


def with_bare_function(template: Mapping[str, Any], bodies: Path) -> dict[str, Any]:
    """Return the template with the bare function, which answers from the folder `bodies`.

    Memory, time, logging and gateway are those of the REST function.
    """
    changed: dict[str, Any] = copy.deepcopy(dict(template))
    resources = changed["Resources"]

    def the_one(kind: str, wanted: Callable[[Any], bool]) -> Any:
        (found,) = (resource for resource in resources.values() if resource["Type"] == kind and wanted(resource))
        return found

    ours = the_one(
        "AWS::Lambda::Function",
        lambda found: found.get("Metadata", {}).get("commonplace:source") == "functions/rest",
    )
    route = the_one("AWS::ApiGatewayV2::Route", lambda found: found["Properties"]["RouteKey"] == "$default")
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


@dataclass(slots=True)
class Case:
    """One kind of request, and the path of its n-th call."""

    name: str
    path: Callable[[int], str]
    size: int = 0
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def bare(self) -> str:
        return f"/bare/{self.name.replace(' ', '-').replace(',', '')}"

    def next_path(self) -> str:
        return self.path(next(self.numbers))


def rest(options: argparse.Namespace, folder: Path) -> Iterator[Table]:
    bodies = folder / "bodies"
    bodies.mkdir()
    corpus = open_corpus(options.repository, folder)
    with synced(corpus, folder / "data", with_bare_function(committed_template(), bodies)) as bench:
        url = bench.laptop.url
        with Client(url) as client:
            measured = cases(bench.laptop, client)
            for case in measured:
                body = client.get(case.next_path())
                case.size = len(body)
                (bodies / Path(case.bare).name).write_bytes(body)
            bare = {"host": "/host/get"} | {case.bare: case.bare for case in measured}
            # Paths are made before the clock starts.
            paths = (bare | {case.name: case.next_path() for case in measured} for _ in range(WARM_UP + ROUNDS))
            rounds = ({name: partial(client.get, path) for name, path in each.items()} for each in paths)
            taken = by_turns(rounds, warm_up=WARM_UP)
        side_by_side = [_row(case, _side_by_side(partial(Client, url), case), None) for case in measured]
    one_by_one = [_row(case, {"ours": taken[case.name], "bare": taken[case.bare]}, case.size) for case in measured]

    def times(one: str, other: str) -> str:
        return text(ratio(median(taken[one]), median(taken[other])))

    note = (
        f"The host alone, without any framework: {1000 * median(taken['host']):.3g} ms.\n"
        f"One document: {times('get', '/bare/get')} times the bare route (target {GET_TARGET}).\n"
        f"Filtered list: {times('filtered list', 'list')} times an unfiltered one (target {FILTER_TARGET}); "
        f"{times('filtered list, new filter', 'list, new page')} times when neither was asked for before.\n"
        f"The page of a document: {times('page of the document', 'get')} times the document (target {PAGE_TARGET}), "
        f"home {times('home page', 'get')} times; a search page {times('search page, new', 'search, new')} times one."
    )
    yield Table("rest", f"REST over {corpus.label}, one client", one_by_one, note)
    yield Table("rest-concurrent", f"REST over {corpus.label}, {CLIENTS} clients", side_by_side)


def cases(laptop: Laptop, client: Client) -> list[Case]:
    """Return a document of middling size, lists of 20, searches, and pages of the site.

    Each list and search comes once repeated and once always new.
    """
    manifest = laptop.manifest()
    stored = [(laptop.store.get(entry.key), entry.ref) for entry in (manifest.documents if manifest else ())]
    sizes = sorted((len(found.body) if found else 0, ref) for found, ref in stored)
    document = sizes[len(sizes) // 2][1]
    tags = client.json(f"{API}/tags")["tags"]
    tag = quote(max(tags, key=lambda one: int(one["count"]))["tag"])
    places = max(client.json(f"{API}/entries?limit=1")["total"] - 20, 1)
    prose, repeated = Prose(7), urlencode({"q": "how to share work in a circle"})

    def moment(number: int) -> str:
        """Always another one, and before every document."""
        return f"1990-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"

    return [
        Case("get", lambda _: f"{API}/entries/{document}"),
        Case("list", lambda _: f"{API}/entries?limit=20"),
        Case("filtered list", lambda _: f"{API}/entries?limit=20&tags={tag}"),
        Case("list, new page", lambda n: f"{API}/entries?limit={20 - n // places % 2}&offset={n % places}"),
        Case("filtered list, new filter", lambda n: f"{API}/entries?limit=20&tags={tag}&updatedSince={moment(n)}"),
        Case("search, repeated", lambda _: f"{API}/search?{repeated}"),
        Case("search, new", lambda _: f"{API}/search?{urlencode({'q': ' '.join(prose.words(5))})}"),
        Case("page of the document", lambda _: f"/d/{document}"),
        Case("home page", lambda _: "/"),
        Case("search page, repeated", lambda _: f"/search?{repeated}"),
        Case("search page, new", lambda _: f"/search?{urlencode({'q': ' '.join(prose.words(5))})}"),
    ]


def _side_by_side(connect: Callable[[], Client], case: Case) -> Seconds:
    """Measure clients at once, in short blocks, ours and bare by turns; in the first ones the host starts up."""
    taken: Seconds = {"ours": [], "bare": []}
    for block in range(WARM_BLOCKS + BLOCKS):
        ours = together(connect, lambda client: client.get(case.next_path()), CLIENTS, seconds=BLOCK_SECONDS)
        bare = together(connect, lambda client: client.get(case.bare), CLIENTS, seconds=BLOCK_SECONDS)
        if block >= WARM_BLOCKS:
            taken["ours"] += ours
            taken["bare"] += bare
    return taken


def _row(case: Case, taken: Seconds, size: int | None) -> Row:
    """Return a line of either table: one client's has the size, and a rate that is the reciprocal of the mean."""
    rates = {name: len(one) / (sum(one) if size is not None else BLOCKS * BLOCK_SECONDS) for name, one in taken.items()}
    return {
        "request": case.name,
        **({} if size is None else {"bytes": size}),
        **spread(taken["ours"], unit=" ms"),
        "requests/s": rates["ours"],
        **spread(taken["bare"], "bare ", " ms"),
        "bare requests/s": rates["bare"],
        "times bare (p50)": ratio(median(taken["ours"]), median(taken["bare"])),
    }
