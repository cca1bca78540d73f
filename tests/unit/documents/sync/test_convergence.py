"""Whatever happens to pushes, runs and events: when everything is quiet, the store is the published tree of the head.

A model of a repository is edited at random while runs start, overlap, crash between any two writes, meet a GitHub that
fails, and while hints are lost, doubled and reordered. An oracle that knows what each file is (it made them) and never
reads the code under test then says what must be served.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from commonplace.documents.content.document import MANIFEST_KEY, Document, Manifest
from commonplace.documents.content.graph import Graph
from tests.unit.documents.sync.drive import World
from tests.unit.documents.sync.index_feed import IndexFeed
from tests.unit.documents.sync.interrupted import InterruptedRuns, holds_whatever_happens

PATHS = [
    *("index.md", "data/links/index.md", "data/links/Tide & Time – notes.md", "data/concepts/tide.md"),
    *("tags/tide.md", "docs/reef/index.md", "docs/reef/Überblick.md", "notes/a.md", "notes/A.md"),
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


class Sync(InterruptedRuns):
    edits = st.tuples(paths, files)
    damaged = ("content/", "raw/", "attachments/")
    world: World

    @initialize()
    def begin(self) -> None:
        self.begin_with(World())
        self.images: dict[str, bytes] = {"README": b"readme"}
        self.versions: dict[str, set[File]] = {}
        """Every published version a path ever had at a head: any of them may be the last good one."""
        self.index = IndexFeed(self.world.objects)
        self.kept: set[str] = set()
        """Paths served when it was last quiet, and published or unreadable at every head since."""
        for at, path in enumerate(PATHS[:7]):
            self.tree[path] = File("published", f"Page {at}", "article", "![](img/crab.png)\n")
        self.push()

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

    def pushed(self) -> None:
        self.head, self.head_images = dict(self.tree), dict(self.images)
        self.world.repository.push({path: file.raw() for path, file in self.tree.items()} | self.images)
        self.kept = {path for path in self.kept if path in self.head and self.head[path].kind in SERVABLE}
        for path, file in self.tree.items():
            if file.kind == "published":
                self.versions.setdefault(path, set()).add(file)

    def overtaken(self) -> None:
        self.holes_allowed = True

    @rule(data=st.data())
    def deliver(self, data: st.DataObject) -> None:
        """Some of the store's events reach the index: late, doubled, in any order."""
        pending = self.index.pending()
        chosen = data.draw(st.lists(st.sampled_from(pending), max_size=6)) if pending else []
        self.index.deliver(chosen)

    @invariant()
    def every_document_of_the_manifest_is_there(self) -> None:
        if self._is_published and not self.holes_allowed:
            for entry in self._manifest().documents:
                assert entry.key in self.world.objects.objects

    @invariant()
    def the_store_never_goes_back_to_an_older_commit(self) -> None:
        if self._is_published:
            self.published(self._manifest().commit_sha)

    @rule(data=st.data())
    def quiet(self, data: st.DataObject) -> None:
        """Everything ends; one reconcile runs; all events arrive. Then the statement holds."""
        self._settle(lambda events: data.draw(st.permutations(events)))

    def teardown(self) -> None:
        if self.begun:
            try:
                self._settle(lambda events: [*reversed(events), *events])
            finally:
                self.index.close()

    def _settle(self, reorder: Callable[[list[int]], list[int]]) -> None:
        self.end_everything()
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

    @property
    def _is_published(self) -> bool:
        return self.begun and MANIFEST_KEY in self.world.objects.objects

    def _manifest(self) -> Manifest:
        return Manifest.model_validate_json(self.world.objects.objects[MANIFEST_KEY].body)


def test_the_store_converges_on_the_published_tree_and_the_index_on_the_store(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    holds_whatever_happens(Sync, usual=50, soak=1_200)
