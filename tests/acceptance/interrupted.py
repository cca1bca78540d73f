"""The node of the index is killed in the middle of a bulk, by a tap before it, and comes back: is anything lost?"""

import copy
import http.client
import random
import select
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from commonplace.documents.content.paths import DEFAULT_EXCLUDES
from commonplace_local.dev.laptop import Laptop, committed_template
from commonplace_local.dev.source import Source
from tests.acceptance import history
from tests.acceptance.indexes import OpenSearchIndex
from tests.acceptance.machine import Machine
from tests.acceptance.truth import Statement, equal, fact, none, same, truth_at
from tests.opensearch_node.node import OwnedNode

READ_SECONDS = 60
LONGEST_WAIT_SECONDS = 0.2
"""Up to here a bulk is left to the node before its end: nothing, some or all of it is stored, and nobody is told."""


class Tap:
    """Passes every request on. Once armed, the node dies (SIGKILL) under a bulk. Use as a context manager."""

    def __init__(self, node: OwnedNode, chance: random.Random) -> None:
        self.killed = threading.Event()
        self.kills = 0
        self._node, self._chance = node, chance
        self._left: int | None = None
        self._lock = threading.Lock()
        address = urlsplit(node.url)
        self._address = (address.hostname or "127.0.0.1", address.port or 80)

        class Handler(_Passing):
            tap = self

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), name="tap", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def armed(self) -> bool:
        return self._left is not None

    def arm(self, documents: int) -> None:
        """The node dies under the bulk that holds this document, counted from now."""
        self.killed.clear()
        with self._lock:
            self._left = documents

    def bring_back(self) -> None:
        """At the same address, with what it had stored."""
        self._node.restart()

    def pass_on(self, request: "_Passing", body: bytes) -> bool:
        """Whether there is an answer, and it was passed back."""
        onward = http.client.HTTPConnection(*self._address, timeout=READ_SECONDS)
        try:
            onward.request(request.command, request.path, body or None, {"Content-Type": request.kind})
            if request.path.startswith("/_bulk") and self._is_last(body):
                self._kill(onward)
                return False
            answer = onward.getresponse()
            request.pass_back(answer.status, answer.getheader("Content-Type", "application/json"), answer.read())
            return True
        except (OSError, http.client.HTTPException):
            return False
        finally:
            onward.close()

    def _is_last(self, body: bytes) -> bool:
        with self._lock:
            if self._left is None:
                return False
            self._left -= body.count(b"\n") // 2  # an action and its document, a line each
            if self._left > 0:
                return False
            self._left = None
            return True

    def _kill(self, onward: http.client.HTTPConnection) -> None:
        select.select([onward.sock], [], [], self._chance.uniform(0, LONGEST_WAIT_SECONDS))
        self._node.kill()
        self.kills += 1
        self.killed.set()


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tap: Tap

    @property
    def kind(self) -> str:
        return self.headers.get("Content-Type", "application/json")

    def pass_back(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.tap.pass_on(self, body):
            self.close_connection = True  # as a node that is gone leaves it: without a word

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle


AGAIN_SECONDS = 60
"""After so long the queue hands out what was not taken; twelve minutes in a deployment."""
GONE_SECONDS = 5
"""So long the node stays away, besides the time it takes to start."""
SYNC_SECONDS = 1800
MOST_TRIES = 5
"""As often as the queue hands a message out before it gives it up."""


def impatient(template: Mapping[str, Any], seconds: int = AGAIN_SECONDS) -> dict[str, Any]:
    """The same deployment, whose index function has less time and whose index queue hands messages out again sooner."""
    changed = copy.deepcopy(dict(template))
    for name, resource in changed["Resources"].items():
        if resource["Type"] == "AWS::SQS::Queue" and name.startswith("IndexQueue"):
            resource["Properties"]["VisibilityTimeout"] = seconds
        if resource.get("Metadata", {}).get("commonplace:source") == "functions/index":
            resource["Properties"]["Timeout"] = min(seconds, resource["Properties"]["Timeout"])
    return changed


def sync(laptop: Laptop, index: OpenSearchIndex, tap: Tap) -> Iterator[Statement]:
    """The first sync, during which the node dies once, half of the documents sent. Nothing reconciles the index."""
    began = time.monotonic()
    move = laptop.workspace.refresh()
    truth = truth_at(laptop.workspace.git_dir, laptop.workspace.head or "", DEFAULT_EXCLUDES)
    tap.arm(max(1, len(truth.published) // 2))
    if move is not None:
        laptop.announce(move)
    if not tap.killed.wait(SYNC_SECONDS):
        yield equal("times the node was killed in the middle of a bulk", 1, tap.kills)
        return
    died = time.monotonic()
    time.sleep(GONE_SECONDS)
    tap.bring_back()
    away = time.monotonic() - died
    kept = sum(not hit["_source"]["deleted"] for hit in index.documents())
    laptop.wait(SYNC_SECONDS)
    manifest = laptop.manifest()
    entries = manifest.documents if manifest else []
    stored = {str(entry.ref): entry.generation for entry in entries}
    indexed = laptop.indexed()
    stale = [ref for ref, version in indexed.items() if stored.get(ref) != version]
    yield equal("times the node was killed in the middle of a bulk", 1, tap.kills)
    yield fact("seconds the node was away", round(away, 1))
    yield fact("documents on the node when it came back", kept)
    yield fact("seconds from push to searchable", round(time.monotonic() - began, 1))
    yield same("documents in the store", truth.published, [entry.path for entry in entries])
    yield same("documents in the index, by the queue alone", stored, indexed)
    yield none("index versions that are not the store's", stale)
    yield equal("messages left in any queue, given up ones too", 0, _messages(laptop))
    yield from index.statements(truth, stored)


def examine(source: Source, data: Path, index: OpenSearchIndex, tap: Tap) -> list[Statement]:
    """On a laptop cloud of its own."""
    template = impatient(committed_template())
    with Laptop(source, data, environment=index.environment, template=template) as laptop:
        return [*sync(laptop, index, tap)]


def replay(tap: Tap) -> history.Replay:
    """Push by push; the node dies in the middle of what the first, the largest and one half-way index."""

    def in_order(
        machine: Machine, commits: Sequence[str], chance: random.Random, tell: history.Tell
    ) -> Iterator[Statement]:
        fatal = {commits[0], history.largest(machine), commits[len(commits) // 2]}
        tries, armed = [0], list[str]()

        def bring_back() -> bool:
            tries[0] += 1
            if tap.killed.is_set():
                tap.killed.clear()
                tap.bring_back()
                tell("the node was killed, and is back")
                tries[0] = 1
            time.sleep(1)
            return tries[0] <= MOST_TRIES

        def arm(commit: str) -> None:
            if commit in fatal and not tap.armed:  # a push that indexes nothing leaves it to the next
                armed.append(commit)
                tap.arm(1)

        machine.when_unavailable = bring_back
        yield from history.in_order(machine, commits, chance, tell, before=arm)
        yield equal("times the node was killed in the middle of a bulk", len(armed), tap.kills)

    return in_order


def _messages(laptop: Laptop) -> int:
    queues = laptop.cloud.client("sqs")
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    told = [
        queues.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        for url in queues.list_queues().get("QueueUrls", [])
    ]
    return sum(int(attributes[name]) for attributes in told for name in names)
