"""Whatever happens to pushes, runs and events: when everything is quiet, the store is the published tree of the head.

A model of a repository is edited at random while runs start, overlap, crash between any two writes, meet a GitHub that
fails, and while hints are lost, doubled and reordered. An oracle that knows what each file is (it made them) and never
reads the code under test then says what must be served.
"""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from commonplace.content.document import Document
from commonplace.content.graph import Graph
from commonplace.content.manifest import MANIFEST_KEY, Manifest
from commonplace.sync.ports import RepositoryRateLimited, RepositoryUnavailable
from tests.fakes.repository import EPOCH
from tests.fakes.store import Crash
from tests.unit.sync.drive import World
from tests.unit.sync.index_feed import IndexFeed

PATHS = [
    "index.md",
    "data/links/index.md",
    "data/links/Tide & Time – notes.md",
    "data/concepts/tide.md",
    "tags/tide.md",
    "docs/reef/index.md",
    "docs/reef/Überblick.md",
    "notes/a.md",
    "notes/A.md",
    "tools/template.md",
]
IMAGES = ["attachments/crab.png", "img/crab.png"]
CANARY = "canary-of-what-is-not-published"


@dataclass(frozen=True)
class File:
    """What a test file is: the oracle reads this, the code under test reads the bytes."""

    kind: str
    title: str
    content_type: str
    body: str

    def raw(self) -> bytes:
        text = {
            "published": f"---\ntitle: {self.title}\ntype: {self.content_type}\npublish: true\n---\n{self.body}",
            "unpublished": f"---\ntitle: {self.title} {CANARY}\npublish: false\n---\n{CANARY} {self.body}",
            "draft": f"---\ntitle: {self.title} {CANARY}\npublish: true\ndraft: maybe\n---\n{CANARY} {self.body}",
            "plain": f"{CANARY} {self.body}",
            "malformed": f"---\ntitle: {CANARY}: {self.title}: no\npublish: true\n---\n{CANARY} {self.body}",
            "shut and malformed": f"---\ntitle: {CANARY}: x: no\npublish: false\n---\n{CANARY} {self.body}",
            "bytes": f"---\ntitle: {self.title}\npublish: true\n---\n{CANARY}",
        }[self.kind]
        return text.encode() + (b"\xff\xfe" if self.kind == "bytes" else b"")


KINDS = ["published"] * 6 + ["unpublished", "draft", "plain", "malformed", "shut and malformed", "bytes"]
UNREADABLE = {"malformed", "bytes"}
SERVABLE = UNREADABLE | {"published"}
files = st.builds(
    File,
    kind=st.sampled_from(KINDS),
    title=st.sampled_from(["Tide", "Reef", "Crab"]),
    content_type=st.sampled_from(["tag", "link", "article", "concept", "nonsense"]),
    body=st.lists(
        st.sampled_from(
            ["Some text.\r\n", "[x](notes/a.md)\n", "[[tide]]\n", "![[crab.png]]\n", "![](img/crab.png)\n"]
        ),
        max_size=3,
    ).map("".join),
)
paths = st.sampled_from(PATHS)


class Sync(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.world = World()
        self.tree: dict[str, File] = {}
        self.images: dict[str, bytes] = {"README": b"readme"}
        self.versions: dict[str, set[File]] = {}
        """Every published version a path ever had at a head: any of them may be the last good one."""
        self.runs: list[Iterator[str]] = []
        self.index = IndexFeed(self.world.objects)
        self.holes_allowed = False
        self.kept: set[str] = set()
        """Paths served when it was last quiet, and published or unreadable at every head since."""
        self.newest = 0
        for at, path in enumerate(PATHS[:7]):
            self.tree[path] = File("published", f"Page {at}", "article", "![](img/crab.png)\n")
        self.push()

    # What people do

    @rule(path=paths, file=files)
    def edit(self, path: str, file: File) -> None:
        self.tree[path] = file

    @rule(path=paths)
    def delete(self, path: str) -> None:
        self.tree.pop(path, None)

    @rule(source=paths, destination=paths)
    def move(self, source: str, destination: str) -> None:
        if source in self.tree:
            self.tree[destination] = self.tree.pop(source)

    @rule(one=paths, other=paths)
    def swap(self, one: str, other: str) -> None:
        if one in self.tree and other in self.tree:
            self.tree[one], self.tree[other] = self.tree[other], self.tree[one]

    @rule(path=st.sampled_from(IMAGES), body=st.sampled_from([b"crab", b"shrimp", None]))
    def picture(self, path: str, body: bytes | None) -> None:
        self.images.pop(path, None)
        if body:
            self.images[path] = body

    @rule(hints=st.integers(0, 2))
    def push(self, hints: int = 1) -> None:
        """Pushes; its webhook may never come, or twice."""
        self.head, self.head_images = dict(self.tree), dict(self.images)
        self.world.repository.push({path: file.raw() for path, file in self.tree.items()} | self.images)
        self.kept = {path for path in self.kept if path in self.head and self.head[path].kind in SERVABLE}
        for path, file in self.tree.items():
            if file.kind == "published":
                self.versions.setdefault(path, set()).add(file)
        for _ in range(hints):
            self.world.state.poke()

    # What runs do

    @rule(full=st.booleans(), steps=st.integers(1, 4))
    def start(self, full: bool, steps: int) -> None:
        run = self.world.start(full=full)
        self.runs.append(run)
        self._advance(run, steps)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), steps=st.integers(1, 6))
    def advance(self, data: st.DataObject, steps: int) -> None:
        self._advance(data.draw(st.sampled_from(self.runs)), steps)

    @rule(data=st.data(), writes=st.integers(0, 25))
    def crash(self, data: st.DataObject, writes: int) -> None:
        """A process ends between two writes; nobody tidies up after it."""
        self.world.objects.crash_after = writes
        self._advance(self._some_run(data), 8)
        self.world.objects.crash_after = None

    @rule(data=st.data(), writes=st.integers(0, 25), path=paths, file=files)
    def stall(self, data: st.DataObject, writes: int, path: str, file: File) -> None:
        """A run stalls between two writes for longer than its lease; a newer one overtakes it; then it goes on."""

        def overtake() -> None:
            self.world.state.now += timedelta(hours=1)
            self.holes_allowed = True
            self.tree[path] = file
            self.push()
            self._exhaust(self.world.start())

        stalled = self._some_run(data)
        self.world.objects.interrupt(writes, overtake)
        self._advance(stalled, 8)
        self.world.objects.interrupt(None, overtake)

    # What the outside world does

    @rule(data=st.data())
    def lose_a_blob(self, data: st.DataObject) -> None:
        self.world.repository.lost_blobs.add(data.draw(st.sampled_from(sorted(self.world.repository.blobs))))

    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        """Somebody overwrites or removes an object of the store."""
        objects = self.world.objects
        if keys := [key for key in sorted(objects.objects) if key.startswith(("content/", "raw/", "attachments/"))]:
            self.holes_allowed = True
            key = data.draw(st.sampled_from(keys))
            if data.draw(st.booleans()):
                objects.delete([key])
            else:
                objects.put(key, objects.objects[key].body + b" ")

    @rule(failure=st.sampled_from([RepositoryUnavailable("503"), RepositoryRateLimited(EPOCH)]))
    def github_fails(self, failure: Exception) -> None:
        self.world.repository.failures.append(failure)

    @rule(data=st.data())
    def deliver(self, data: st.DataObject) -> None:
        """Some of the store's events reach the index: late, doubled, in any order."""
        pending = self.index.pending()
        chosen = data.draw(st.lists(st.sampled_from(pending), max_size=6)) if pending else []
        self.index.deliver(chosen)

    # What must hold

    @invariant()
    def every_document_of_the_manifest_is_there(self) -> None:
        if self.holes_allowed or not hasattr(self, "world"):
            return
        for entry in self._manifest().documents if MANIFEST_KEY in self.world.objects.objects else []:
            assert entry.key in self.world.objects.objects

    @invariant()
    def the_store_never_goes_back_to_an_older_commit(self) -> None:
        if hasattr(self, "world") and MANIFEST_KEY in self.world.objects.objects:
            at = self.world.repository.order.index(self._manifest().commit_sha)
            assert at >= self.newest
            self.newest = at

    @rule(data=st.data())
    def quiet(self, data: st.DataObject) -> None:
        """Everything ends; one reconcile runs; all events arrive. Then the statement holds."""
        self._settle(lambda events: data.draw(st.permutations(events)))

    def teardown(self) -> None:
        if hasattr(self, "world"):
            try:
                self._settle(lambda events: [*reversed(events), *events])
            finally:
                self.index.close()

    def _settle(self, reorder: Callable[[list[int]], list[int]]) -> None:
        for run in list(self.runs):
            self._exhaust(run)
        self.runs.clear()
        self.world.repository.failures.clear()
        self.world.repository.lost_blobs.clear()
        self.world.state.now += timedelta(hours=1)
        self._exhaust(self.world.start())
        self.holes_allowed = False
        self.index.deliver(reorder(self.index.pending()))
        self._check_store()
        self._check_index()
        self._check_silence()
        assert self.world.sync() == ["plan", "finish"]
        self.the_store_never_goes_back_to_an_older_commit()

    def _check_store(self) -> None:
        manifest = self._manifest()
        served = manifest.by_path
        content = {path: file for path, file in self.head.items() if not path.startswith("tools/")}
        for path, file in content.items():
            if file.kind == "published":
                assert path in served
                self._check_document(served[path].key, path, {file})
            elif file.kind in UNREADABLE and path in served:
                self._check_document(served[path].key, path, self.versions[path])
            else:
                assert path not in served
        assert self.kept <= set(served)
        self.kept = set(served)
        assert set(served) <= set(content)
        objects = self.world.objects.objects
        assert {key for key in objects if key.startswith("content/")} == {entry.key for entry in manifest.documents}
        assert {key for key in objects if key.startswith("raw/")} == {f"raw/{path}" for path in served}
        assert {key for key in objects if key.startswith("attachments/")} == {item.key for item in manifest.attachments}
        attached = {item.path for item in manifest.attachments}
        assert attached <= set(self.head_images)
        if any("![](img/crab.png)" in file.body for file in content.values() if file.kind == "published"):
            assert ("img/crab.png" in attached) == ("img/crab.png" in self.head_images)
        for item in manifest.attachments:
            assert objects[item.key].body == self.head_images[item.path]
        assert not set(manifest.former_refs) & set(manifest.by_ref)
        assert set(manifest.former_refs.values()) <= set(served)
        graph = Graph.model_validate_json(objects[manifest.graph_key or ""].body)
        assert {node.ref for node in graph.nodes} == set(manifest.by_ref)
        assert len(manifest.by_ref) == len(manifest.documents)

    def _check_document(self, key: str, path: str, versions: set[File]) -> None:
        document = Document.model_validate_json(self.world.objects.objects[key].body)
        assert document.path == path and key == f"content/{document.content_type}/{document.id}.json"
        assert (document.title, document.content) in {(file.title, file.body) for file in versions}
        raw = self.world.objects.objects[f"raw/{path}"].body
        assert raw in {file.raw() for file in versions}

    def _check_index(self) -> None:
        """The events alone bring every published document in and all else out; the versions agree after reconciling."""
        wanted = {entry.ref: entry.generation for entry in self._manifest().documents}
        assert self.index.live().keys() == wanted.keys()
        self.index.reconcile()
        live = self.index.live()
        assert live.keys() == wanted.keys() and all(live[ref] >= wanted[ref] for ref in wanted)

    def _check_silence(self) -> None:
        """Nothing of an unpublished file is anywhere but its path in the operators' reports."""
        for key, stored in self.world.objects.objects.items():
            assert CANARY.encode() not in stored.body, key
        assert CANARY not in json.dumps(self.world.repository.statuses)

    def _manifest(self) -> Manifest:
        return Manifest.model_validate_json(self.world.objects.objects[MANIFEST_KEY].body)

    def _some_run(self, data: st.DataObject) -> Iterator[str]:
        """One that is under way, or a new one."""
        under_way = data.draw(st.integers(0, len(self.runs)))
        return self.runs[under_way] if under_way < len(self.runs) else self.world.start()

    def _advance(self, run: Iterator[str], steps: int) -> None:
        for _ in range(steps):
            try:
                next(run)
            except (StopIteration, Crash):
                if run in self.runs:
                    self.runs.remove(run)
                return

    def _exhaust(self, run: Iterator[str]) -> None:
        try:
            for _ in run:
                pass
        except Crash:
            pass


def test_the_store_converges_on_the_published_tree_and_the_index_on_the_store(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL)
    run_state_machine_as_test(
        Sync,
        settings=settings(
            max_examples=500,
            stateful_step_count=30,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
