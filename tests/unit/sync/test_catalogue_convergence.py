"""Whatever happens to pushes and runs: readers see a whole catalogue of some good head, and when everything is quiet,
that of the last one.

A model of a folder is edited at random while runs start, overlap, crash between any two writes, meet a GitHub that
fails, and while hints are lost, doubled and reordered. An oracle that knows what each file is says what must be read.
"""

import logging
from collections.abc import Iterator
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

from commonplace.reference.keys import catalogue_key, catalogues_prefix, manifest_key
from commonplace.sync import keys
from commonplace.sync.ports import RepositoryRateLimited, RepositoryUnavailable
from tests.fakes.repository import EPOCH
from tests.fakes.store import Crash
from tests.unit.sync.catalogue_drive import FOLDER, NAME, CatalogueWorld, command, entries, guide

PATHS = ["commands.json", "more/commands.json", "guides/a.md", "guides/b.md", "troubleshooting/c.md"]
IDS = ["list", "get", "put"]
CANARY = "canary-of-what-is-not-published"

Shown = frozenset[tuple[str, str]]
"""Ids and titles of a whole catalogue."""


@dataclass(frozen=True)
class File:
    """What a test file is: the oracle reads this, the code under test reads the bytes."""

    kind: str
    id: str
    title: str
    related: str | None = None

    def raw(self, path: str) -> bytes:
        if path.endswith(".md"):
            if self.kind == "malformed":
                return b"---\ntitle: [\n---\n# Broken\n"
            title = f"{self.title} {CANARY}" if self.kind == "hidden" else self.title
            return guide(title, publish="false" if self.kind == "hidden" else "true")
        if self.kind == "malformed":
            return b'{"entries": [{"id": '
        related = {"relatedIds": [self.related]} if self.related else {}
        return entries(command(self.id, self.title, **related))

    def entry(self, path: str) -> tuple[str, str] | None:
        """Id and title; None for what is no entry."""
        if path.endswith(".md"):
            return None if self.kind == "hidden" else (path.removesuffix(".md").replace("/", "-"), self.title)
        return self.id, self.title


def shown(tree: dict[str, File]) -> Shown | None:
    """What readers are to see of a head; None for one with errors."""
    found = [entry for path, file in tree.items() if (entry := file.entry(path))]
    ids = [id for id, _ in found]
    related = {file.related for path, file in tree.items() if path.endswith(".json") and file.related}
    broken = any(file.kind == "malformed" for file in tree.values())
    return None if broken or not ids or len(set(ids)) < len(ids) or not related <= set(ids) else frozenset(found)


files = st.builds(
    File,
    kind=st.sampled_from(["good"] * 6 + ["malformed", "hidden"]),
    id=st.sampled_from(IDS),
    title=st.sampled_from(["Tide", "Reef", "Crab"]),
    related=st.sampled_from([None, None, None, *IDS]),
)
paths = st.sampled_from(PATHS)


class Sync(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.world = CatalogueWorld()
        self.tree = {"commands.json": File("good", "list", "Tide"), "guides/a.md": File("good", "", "Reef")}
        self.beside = b"readme"
        self.heads: dict[str, Shown | None] = {}
        self.runs: list[Iterator[str]] = []
        self.newest = 0
        self.holes_allowed = False
        self.push()

    # What people do

    @rule(path=paths, file=files)
    def edit(self, path: str, file: File) -> None:
        self.tree[path] = file

    @rule(path=paths)
    def delete(self, path: str) -> None:
        self.tree.pop(path, None)

    @rule(body=st.sampled_from([b"readme", b"another"]))
    def edit_beside(self, body: bytes) -> None:
        self.beside = body

    @rule(hints=st.integers(0, 2))
    def push(self, hints: int = 1) -> None:
        """Pushes; its webhook may never come, or twice."""
        self.head = dict(self.tree)
        raws = {f"{FOLDER}/{path}": file.raw(path) for path, file in self.tree.items()}
        commit = self.world.repository.push(raws | {"README": self.beside, f"{FOLDER}/sources/x.json": b"["})
        self.heads[commit] = shown(self.head)
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

    @rule(data=st.data(), writes=st.integers(0, 14))
    def crash(self, data: st.DataObject, writes: int) -> None:
        """A process ends between two writes; nobody tidies up after it."""
        self.world.objects.crash_after = writes
        self._advance(self._some_run(data), 8)
        self.world.objects.crash_after = None

    @rule(data=st.data(), writes=st.integers(0, 14), path=paths, file=files)
    def stall(self, data: st.DataObject, writes: int, path: str, file: File) -> None:
        """A run stalls between two writes for longer than its lease; a newer one overtakes it; then it goes on."""

        def overtake() -> None:
            self.world.state.now += timedelta(hours=1)
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
        mine = ("reference/", keys.catalogue_blobs_prefix(NAME), keys.catalogue_known_key(NAME))
        if found := [key for key in sorted(objects.objects) if key.startswith(mine)]:
            self.holes_allowed = True
            key = data.draw(st.sampled_from(found))
            if data.draw(st.booleans()):
                objects.delete([key])
            else:
                objects.put(key, objects.objects[key].body + b" ")

    @rule(failure=st.sampled_from([RepositoryUnavailable("503"), RepositoryRateLimited(EPOCH)]))
    def github_fails(self, failure: Exception) -> None:
        self.world.repository.failures.append(failure)

    # What must hold

    @invariant()
    def readers_find_a_whole_catalogue_of_a_good_head(self) -> None:
        if self.holes_allowed or not hasattr(self, "world") or self.world.manifest is None:
            return
        catalogue = self.world.catalogue
        assert frozenset(self.world.titles.items()) == self.heads[catalogue.commit_sha]
        assert self.world.manifest.versions == {each.entry.id: each.generation for each in catalogue.entries}

    @invariant()
    def the_store_never_goes_back_to_an_older_commit(self) -> None:
        if self.holes_allowed or not hasattr(self, "world") or self.world.manifest is None:
            return
        at = self.world.repository.order.index(self.world.manifest.commit_sha)
        assert at >= self.newest
        self.newest = at

    @rule()
    def quiet(self) -> None:
        """Everything ends; one reconcile runs. Then the statement holds."""
        self._settle()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self._settle()
            self._check_leftovers()

    def _settle(self) -> None:
        for run in list(self.runs):
            self._exhaust(run)
        self.runs.clear()
        self.world.repository.failures.clear()
        self.world.repository.lost_blobs.clear()
        self.world.state.now += timedelta(hours=1)
        self._exhaust(self.world.start())
        wanted = shown(self.head)
        report, head = self.world.report, self.world.repository.order[-1]
        assert (report.status, report.commit_sha) == ("refused" if wanted is None else "published", head)
        assert bool(report.errors) == (wanted is None)
        if wanted is not None:
            self.holes_allowed = False
            assert frozenset(self.world.titles.items()) == wanted
            self._check_store()
        if told := [state for commit, state, _ in self.world.repository.statuses if commit == head]:
            assert told[-1] == ("failure" if wanted is None else "success")
        assert self.world.sync() == ["plan", "finish"]

    def _check_store(self) -> None:
        """Only what is of use is there, and nothing of a page that is not published."""
        objects, manifest = self.world.objects.objects, self.world.manifest
        assert manifest is not None
        kept = {key for key in objects if key.startswith(catalogues_prefix(NAME))}
        assert manifest.catalogue_key in kept
        assert {key for key in objects if key.startswith("reference/")} == kept | {manifest_key(NAME)}
        read = {f"{FOLDER}/{path}" for path, file in self.head.items() if file.entry(path)}
        assert manifest.files.keys() == read
        blobs = {key.rpartition("/")[2] for key in objects if key.startswith(keys.catalogue_blobs_prefix(NAME))}
        assert blobs <= set(manifest.files.values())
        assert not [key for key, stored in objects.items() if CANARY.encode() in stored.body]
        assert catalogue_key(NAME, "")[:-5] in manifest.catalogue_key

    def _check_leftovers(self) -> None:
        """The next publication removes what crashes have left: there are its own object, and the one before."""
        self._exhaust(self.world.start(full=True))
        objects = self.world.objects.objects
        if shown(self.head) is not None:
            assert sum(key.startswith(catalogues_prefix(NAME)) for key in objects) <= 2

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


def test_readers_see_whole_catalogues_alone_and_in_the_end_that_of_the_head(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    run_state_machine_as_test(
        Sync,
        settings=settings(
            max_examples=200,
            stateful_step_count=30,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
