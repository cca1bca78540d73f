"""Whatever happens to pushes and runs: readers see a whole catalogue of some good head, and when everything is quiet,
that of the last one.

A model of a folder is edited at random while runs start, overlap, crash between any two writes, meet a GitHub that
fails, and while hints are lost, doubled and reordered. An oracle that knows what each file is says what must be read.
"""

import logging
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from commonplace.reference import library as reference_keys
from commonplace.reference.library import catalogue_key, catalogues_prefix, manifest_key
from tests.unit.documents.sync.interrupted import InterruptedRuns, holds_whatever_happens
from tests.unit.reference.sync.catalogue_drive import FOLDER, NAME, CatalogueWorld, command, entries, guide

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


class Sync(InterruptedRuns):
    edits = st.tuples(st.sampled_from(PATHS), files)
    damaged = ("reference/", reference_keys.catalogue_blobs_prefix(NAME), reference_keys.catalogue_known_key(NAME))
    world: CatalogueWorld

    @initialize()
    def begin(self) -> None:
        self.begin_with(CatalogueWorld())
        self.tree |= {"commands.json": File("good", "list", "Tide"), "guides/a.md": File("good", "", "Reef")}
        self.beside = b"readme"
        self.heads: dict[str, Shown | None] = {}
        self.push()

    @rule(body=st.sampled_from([b"readme", b"another"]))
    def edit_beside(self, body: bytes) -> None:
        self.beside = body

    def pushed(self) -> None:
        self.head = dict(self.tree)
        raws = {f"{FOLDER}/{path}": file.raw(path) for path, file in self.tree.items()}
        commit = self.world.repository.push(raws | {"README": self.beside, f"{FOLDER}/sources/x.json": b"["})
        self.heads[commit] = shown(self.head)

    @invariant()
    def readers_find_a_whole_catalogue_of_a_good_head(self) -> None:
        if self.begun and not self.holes_allowed and self.world.manifest is not None:
            catalogue = self.world.catalogue
            assert frozenset(self.world.titles.items()) == self.heads[catalogue.commit_sha]
            assert self.world.manifest.versions == {each.entry.id: each.generation for each in catalogue.entries}

    @invariant()
    def the_store_never_goes_back_to_an_older_commit(self) -> None:
        if self.begun and not self.holes_allowed and self.world.manifest is not None:
            self.published(self.world.manifest.commit_sha)

    @rule()
    def quiet(self) -> None:
        """Everything ends; one reconcile runs. Then the statement holds."""
        self._settle()

    def teardown(self) -> None:
        if self.begun:
            self._settle()
            self._check_leftovers()

    def _settle(self) -> None:
        self.end_everything()
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
        prefix = reference_keys.catalogue_blobs_prefix(NAME)
        blobs = {key.rpartition("/")[2] for key in objects if key.startswith(prefix)}
        assert blobs <= set(manifest.files.values())
        assert not [key for key, stored in objects.items() if CANARY.encode() in stored.body]
        assert catalogue_key(NAME, "")[:-5] in manifest.catalogue_key

    def _check_leftovers(self) -> None:
        """The next publication removes what crashes have left: there are its own object, and the one before."""
        self._exhaust(self.world.start(full=True))
        objects = self.world.objects.objects
        if shown(self.head) is not None:
            assert sum(key.startswith(catalogues_prefix(NAME)) for key in objects) <= 2


def test_readers_see_whole_catalogues_alone_and_in_the_end_that_of_the_head(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    holds_whatever_happens(Sync, usual=40, soak=800)
