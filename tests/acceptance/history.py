"""The history as pushes: in order, then shuffled, with doubled and lost deliveries. Both must end as published: store
and index are compared object by object at the end of each replay.
"""

import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from commonplace.documents.content.document import Document, Manifest
from commonplace.documents.content.keys import ATTACHMENTS_PREFIX, CONTENT_PREFIX, RAW_PREFIX
from commonplace.documents.content.paths import DEFAULT_EXCLUDES
from commonplace.kernel.errors import Unavailable
from commonplace.repository.comments import visible
from commonplace.search.chunks import chunk_body
from commonplace.search.indexer import Message
from commonplace_local.dev.source import Source
from commonplace_local.github.git import git_text, neutral_environment
from tests.acceptance.indexes import Index
from tests.acceptance.machine import Machine
from tests.acceptance.truth import (
    Gates,
    Statement,
    Truth,
    all_of,
    blob,
    equal,
    fact,
    none,
    same,
    servable,
    tree_at,
    truth_at,
)

NO_BLOB = "0" * 40


def settled(machine: Machine) -> Iterator[Statement]:
    """Call it when every run has ended and the index has been reconciled."""
    truth = truth_at(machine.branch.git_dir, machine.branch.head, DEFAULT_EXCLUDES)
    manifest = machine.manifest()
    if manifest is None:
        yield equal("there is a manifest", True, False)
        return
    keys = {
        prefix: [item.key for item in machine.objects.list(prefix)]
        for prefix in (CONTENT_PREFIX, RAW_PREFIX, ATTACHMENTS_PREFIX)
    }
    yield equal("the commit that is published is the head", machine.branch.head[:12], manifest.commit_sha[:12])
    yield same(
        "document objects, none without an owner", [item.key for item in manifest.documents], keys[CONTENT_PREFIX]
    )
    raw_keys = [f"{RAW_PREFIX}{item.path}" for item in manifest.documents]
    yield same("raw copies, none without an owner", raw_keys, keys[RAW_PREFIX])
    yield same(
        "attachments, none without an owner", [item.key for item in manifest.attachments], keys[ATTACHMENTS_PREFIX]
    )
    yield from _whole(machine, manifest, truth)
    yield from _indexed(machine, manifest)
    yield from machine.index.statements(truth, {str(entry.ref): entry.generation for entry in manifest.documents})


def _whole(machine: Machine, manifest: Manifest, truth: Truth) -> Iterator[Statement]:
    entries = [entry for entry in manifest.documents if entry.path in truth.published]
    stored = {entry.path: machine.objects.get(entry.key) for entry in entries}
    bodies = {path: json.loads(found.body)["content"] if found else None for path, found in stored.items()}
    yield all_of(
        "bodies, every byte",
        len(truth.published),
        [p for p, page in truth.published.items() if bodies.get(p) != page.body],
    )
    raw = {entry.path: machine.objects.get(f"{RAW_PREFIX}{entry.path}") for entry in entries}
    wrong = [path for path in truth.published if (found := raw.get(path)) is None or found.body != truth.raw[path]]
    yield all_of("raw copies, every byte", len(truth.published), wrong)
    bad = []
    for item in manifest.attachments:
        found = machine.objects.get(item.key)
        body = blob(machine.branch.git_dir, truth.tree.blobs.get(item.path, NO_BLOB))
        if found is None or found.body != body:
            bad.append(item.path)
    yield all_of("attachments, every byte", len(manifest.attachments), bad)
    wanted = servable(machine.branch.git_dir, truth)
    missing = sorted(wanted.keys() - {item.path for item in manifest.attachments})
    yield none("embedded or linked files that are not stored", missing)


def _indexed(machine: Machine, manifest: Manifest) -> Iterator[Statement]:
    versions = {str(ref): version for ref, version in machine.engine.versions()}
    yield same("documents in the index", [str(entry.ref) for entry in manifest.documents], versions)
    older = [entry.path for entry in manifest.documents if versions.get(str(entry.ref), -1) < entry.generation]
    yield all_of("index versions that are not older than the store's", len(manifest.documents), older)
    texts = machine.index.chunk_texts()
    other = []
    for entry in manifest.documents:
        found = machine.objects.get(entry.key)
        document = Document.model_validate_json(found.body) if found else None
        wanted = [chunk.text for chunk in chunk_body(visible(document.content))] or [""] if document else None
        if texts.get(str(entry.ref)) != wanted:
            other.append(entry.path)
    yield all_of("documents whose text in the index is the store's", len(manifest.documents), other)


BATCH = 100
"""Messages that one call of the index function gets."""
TELL_SECONDS = 15
DOUBLED, DROPPED, MEANWHILE = 0.2, 0.2, 0.1
"""Shares of the deliveries that come twice or never, and of the moments in a run at which the next push comes."""

Tell = Callable[[str], None]
Replay = Callable[[Machine, Sequence[str], random.Random, Tell], Iterator[Statement]]
Earlier = dict[str, set[str]]
"""Path -> blobs that were published there at some commit of the replay."""


def examine(
    source: Source,
    data: Path,
    replay: Replay,
    *,
    pushes: int | None,
    seed: int,
    tell: Tell,
    index: Index | None = None,
) -> list[Statement]:
    """One of REPLAYS on an empty deployment; without `index`, on one with the embedded engine."""
    began = time.monotonic()
    with Machine(source, data, index) as machine:
        found = [*replay(machine, chosen(machine, pushes), random.Random(seed), tell), *settled(machine)]
    return [*found, fact("seconds", round(time.monotonic() - began))]


def chosen(machine: Machine, count: int | None) -> list[str]:
    """First-parent commits, oldest first; or so many of them, evenly spaced, the largest push and the head included."""
    commits = machine.branch.first_parents()
    if count is None or count >= len(commits):
        return commits
    spaced = {round(step * (len(commits) - 1) / max(1, count - 1)) for step in range(count)}
    spaced |= {commits.index(largest(machine)), len(commits) - 1}
    return [commits[number] for number in sorted(spaced)]


def largest(machine: Machine) -> str:
    """The push that changes most files."""
    log = git_text(
        f"--git-dir={machine.branch.git_dir}",
        "log",
        "--first-parent",
        "--diff-merges=first-parent",
        "--no-renames",
        "--name-only",
        "--format=%x01%H",
        machine.branch.head,
        environment=neutral_environment(),
    )
    sizes = {part[:40]: part.count("\n") for part in log.split("\x01")[1:]}
    return max(sizes, key=lambda commit: sizes[commit])


def in_order(
    machine: Machine,
    commits: Sequence[str],
    _: random.Random,
    tell: Tell,
    *,
    before: Callable[[str], None] = lambda _: None,
) -> Iterator[Statement]:
    """Every push is followed by its run and its events, and compared with what is published at that commit.

    `before` is told each commit before it is pushed.
    """
    gates, progress = _gates(machine), Progress(tell, len(commits))
    earlier: Earlier = defaultdict(set)
    faults: list[str] = []
    empty = 0
    for commit in commits:
        tree = tree_at(machine.branch.git_dir, commit)
        if not tree.blobs:
            empty += 1
            continue
        before(commit)
        machine.branch.move(commit)
        machine.hint("push", commit, f"delivery-{commit}")
        machine.run()
        _deliver(machine, machine.take_messages())
        expected = gates.at(tree)
        _remember(earlier, expected.published)
        faults += [f"{commit[:8]}: {fault}" for fault in expected.faults(_blobs(machine.manifest()), earlier)]
        progress.step(machine)
    yield fact("pushes", len(commits) - empty)
    yield all_of("pushes after which exactly the published files are stored", len(commits) - empty, faults)
    manifest = machine.manifest()
    versions = {str(ref): version for ref, version in machine.engine.versions()}
    entries = {str(entry.ref): entry.generation for entry in manifest.documents} if manifest else {}
    stale = sorted(ref for ref in entries.keys() | versions.keys() if entries.get(ref) != versions.get(ref))
    yield all_of("documents whose index version is the store's, before any reconciliation", len(entries), stale)
    yield from _reconciled(machine, earlier, gates)


def out_of_order(machine: Machine, commits: Sequence[str], chance: random.Random, tell: Tell) -> Iterator[Statement]:
    """The branch is forced to its commits in any order; deliveries and events are shuffled, doubled, late or lost."""
    gates = _gates(machine)
    earlier: Earlier = defaultdict(set)
    deliveries = [*commits, *chance.sample(list(commits), round(DOUBLED * len(commits)))]
    chance.shuffle(deliveries)
    progress = Progress(tell, len(deliveries))
    waiting: list[Message] = []
    dropped = meanwhile = told = 0
    while deliveries:
        dropped += _push(machine, deliveries.pop(), chance, gates, earlier)
        progress.step(machine)
        for _ in machine.turns():
            if deliveries and chance.random() < MEANWHILE:
                meanwhile += 1
                dropped += _push(machine, deliveries.pop(), chance, gates, earlier)
                progress.step(machine)
            waiting += machine.take_messages()
            told += len(waiting)
            waiting = _disturbed(machine, waiting, chance)
            told -= len(waiting)
    machine.branch.move(machine.branch.head)
    yield fact("pushes", progress.done)
    yield fact("pushes whose delivery was lost", dropped)
    yield fact("pushes while a run was under way", meanwhile)
    yield fact("events that were delivered or lost", told)
    yield fact("events that had not arrived by the end", len(waiting))
    yield from _reconciled(machine, earlier, gates)


def _push(machine: Machine, commit: str, chance: random.Random, gates: Gates, earlier: Earlier) -> bool:
    """Whether nobody was told."""
    tree = tree_at(machine.branch.git_dir, commit)
    if not tree.blobs:
        return False
    machine.branch.move(commit)
    _remember(earlier, gates.at(tree).published)
    if chance.random() < DROPPED:
        return True
    for _ in range(1 + (chance.random() < DOUBLED)):
        machine.hint("push", commit, f"delivery-{commit}")
    return False


def _disturbed(machine: Machine, messages: list[Message], chance: random.Random) -> list[Message]:
    """Delivers about half of what waits, in any order, and keeps some of that to come again."""
    chance.shuffle(messages)
    now, later = messages[: len(messages) // 2], messages[len(messages) // 2 :]
    _deliver(machine, now)
    again = [message for message in now if chance.random() < DOUBLED]
    return [message for message in later if chance.random() > DROPPED / 2] + again


def _reconciled(machine: Machine, earlier: Earlier, gates: Gates) -> Iterator[Statement]:
    """What the schedules do: one look at the branch, one at the index."""
    machine.hint("schedule")
    machine.run()
    machine.take_messages()
    report = machine.indexer.reconcile()
    expected = gates.at(tree_at(machine.branch.git_dir, machine.branch.head))
    found = _blobs(machine.manifest())
    state = machine.state.read()
    yield fact("runs", machine.runs)
    yield equal("runs that failed", 0, machine.failed)
    yield equal("hints left open", 0, state.pokes - state.done + (state.running is not None))
    yield fact("calls to GitHub", machine.github_calls)
    yield fact("documents written", machine.stored)
    yield fact("documents removed", machine.removed)
    yield fact("records the index's reconciliation had to mend", report.indexed + report.removed)
    yield none("differences from what is published at the head", expected.faults(found, earlier))
    yield fact("documents", len(found))
    yield fact("of them last good versions of files that cannot be read now", len(found.keys() & expected.doubtful))


def _deliver(machine: Machine, messages: Sequence[Message]) -> None:
    for start in range(0, len(messages), BATCH):
        _take(machine, messages[start : start + BATCH])


def _take(machine: Machine, messages: Sequence[Message]) -> None:
    """What the index does not take comes again, as from a queue."""
    while True:
        try:
            machine.indexer.take(messages)
            return
        except Unavailable:
            if not machine.when_unavailable():
                raise


def _remember(earlier: Earlier, published: Mapping[str, str]) -> None:
    for path, blob_id in published.items():
        earlier[path].add(blob_id)


def _blobs(manifest: Manifest | None) -> dict[str, str]:
    return {entry.path: entry.blob_sha for entry in manifest.documents} if manifest else {}


def _gates(machine: Machine) -> Gates:
    return Gates(machine.branch.git_dir, DEFAULT_EXCLUDES)


class Progress:
    """A line now and then."""

    def __init__(self, tell: Tell, total: int) -> None:
        self.done = 0
        self._tell, self._total = tell, total
        self._last = time.monotonic()

    def step(self, machine: Machine) -> None:
        self.done += 1
        if time.monotonic() - self._last < TELL_SECONDS and self.done < self._total:
            return
        self._last = time.monotonic()
        self._tell(f"{self.done} of {self._total} pushes, {machine.runs} runs, {machine.stored} documents written")


REPLAYS: dict[str, Replay] = {"in order": in_order, "out of order": out_of_order}
