"""The node of the index is killed in the middle of a bulk, and comes back: is anything lost?"""

import copy
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.acceptance import history
from bench.acceptance.machine import Machine
from bench.acceptance.node import OpenSearchIndex
from bench.acceptance.statements import Statement, equal, fact, none, same
from bench.acceptance.tap import Tap
from bench.acceptance.truth import truth_at
from commonplace.documents.content.paths import DEFAULT_EXCLUDES
from local.dev.laptop import Laptop, committed_template
from local.dev.source import Source

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
