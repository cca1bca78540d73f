"""The HTTP client of a node: whether it is up, whether an index can be written, and the removal of indexes.

An empty cluster is green even if no index can be made, so a node is ready when one was made, written and searched.
Proxies of the environment are bypassed.
"""

import json
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from local.errors import CommandError
from local.opensearch.process import ANY_PORT, console
from local.opensearch.progress import Tell

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))

START_SECONDS = 240
"""On a busy machine a start takes ten times what it takes on a quiet one."""

LOOK_SECONDS = 0.2
LINES_SHOWN = 12
SMOKE = "commonplace-smoke-"
VECTOR = [1.0, 0.0, 0.5]
INDEX: dict[str, Any] = {
    "settings": {"index": {"knn": True, "number_of_shards": 1, "number_of_replicas": 0}},
    "mappings": {
        "properties": {
            "text": {"type": "text", "analyzer": "english"},
            "vector": {
                "type": "knn_vector",
                "dimension": len(VECTOR),
                "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
            },
        }
    },
}


class NoAnswer(Exception):
    """The node does not answer, or not with success; `status` is None when nothing came back."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def ask(url: str, path: str, body: Any = None, *, method: str | None = None, seconds: float = 5) -> Any:
    """The parsed answer. A list is sent as one JSON object a line. Raises NoAnswer."""
    lines = "".join(json.dumps(line) + "\n" for line in (body if isinstance(body, list) else [body]))
    kind = "application/x-ndjson" if isinstance(body, list) else "application/json"
    data = None if body is None else lines.encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": kind}, method=method)  # noqa: S310  loopback
    try:
        with _DIRECT.open(request, timeout=seconds) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(2000).decode(errors="replace")
        raise NoAnswer(f"{error.code}: {said}", error.code) from error
    except (OSError, ValueError) as error:
        raise NoAnswer(str(error)) from error


def cluster_at(url: str, seconds: float = 5) -> str | None:
    """The name of the cluster that answers there; None when none does."""
    try:
        return str(ask(url, "/", seconds=seconds)["cluster_name"])
    except (NoAnswer, KeyError, TypeError):
        return None


def wait_until_ready(
    state: Path, cluster: str, *, port: int, alive: Callable[[], bool], tell: Tell, seconds: float = START_SECONDS
) -> str:
    """The node's address, once it is healthy and an index was written. Raises CommandError with its last words."""
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        tell("Starting OpenSearch", passed)
        if not alive():
            raise CommandError("OpenSearch ended while it started.", last_words(state))
        url = listening(state, port)
        if url and cluster_at(url) == cluster and is_healthy(url):
            smoke_test(url)
            return url
        time.sleep(LOOK_SECONDS)
    raise CommandError(f"OpenSearch was not ready within {seconds:g} s.", last_words(state))


def listening(state: Path, port: int) -> str | None:
    """Where the node listens: at the port it was given, or the one it chose and wrote down."""
    if port != ANY_PORT:
        return f"http://127.0.0.1:{port}"
    try:
        lines = (state / "logs" / "http.ports").read_text(encoding="utf-8").split()
    except OSError:
        return None
    ports = [line.rpartition(":")[2] for line in lines if line.startswith("127.0.0.1:")]
    return f"http://127.0.0.1:{ports[0]}" if ports else None


def is_healthy(url: str) -> bool:
    with suppress(NoAnswer):
        answer = ask(url, "/_cluster/health?wait_for_status=yellow&timeout=1s")
        return bool(answer["status"] in ("green", "yellow") and not answer["timed_out"])
    return False


def smoke_test(url: str) -> None:
    """Makes an index with words and vectors, finds its one record both ways, drops it. Raises CommandError."""
    name = SMOKE + secrets.token_hex(4)
    try:
        ask(url, f"/{name}", INDEX, method="PUT", seconds=60)
        record = {"text": "Tides are rising", "vector": VECTOR}
        ask(url, f"/{name}/_doc/1?refresh=true", record, method="PUT", seconds=60)
        for query in ({"match": {"text": "tide"}}, {"knn": {"vector": {"vector": VECTOR, "k": 1}}}):
            found = ask(url, f"/{name}/_search", {"query": query}, seconds=60)["hits"]["hits"]
            if [hit["_id"] for hit in found] != ["1"]:
                raise NoAnswer(f"{query} found {len(found)} records instead of one")
    except NoAnswer as error:
        raise CommandError("OpenSearch is up, and an index cannot be written and searched.", str(error)) from error
    finally:
        with suppress(NoAnswer):
            ask(url, f"/{name}", method="DELETE", seconds=60)


def last_words(state: Path) -> str:
    """The end of what the node wrote to its console, and where the rest is."""
    file = console(state)
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return "\n".join([*lines[-LINES_SHOWN:], f"All of it: {file}"])


def drop_indexes(url: str, prefix: str) -> list[str]:
    """Deletes every index of every collection whose name begins so. Returns the names; a node that is gone has none."""
    try:
        names = sorted(ask(url, f"/{quote(prefix)}-*/_settings?flat_settings=true&expand_wildcards=all"))
        for name in names:
            ask(url, f"/{quote(name)}", method="DELETE", seconds=30)
    except NoAnswer:
        return []
    return names
