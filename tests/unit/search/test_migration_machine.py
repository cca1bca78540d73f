"""Whatever is written, unpublished, built, crashed, swapped and rolled back: readers see what is published.

The oracle keeps, beside the store, which documents a reader may still see as they were: those with a message that no
writer has taken, and those that changed while no writer with the current index's settings was running.
"""

import logging
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from commonplace.documents.index_source import StoredDocuments
from commonplace.kernel.errors import InvalidInput
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.filters import Filters
from commonplace.search.indexer import Indexer
from commonplace.search.migration import Migration, Swapped, Target
from commonplace.search.model import IndexMismatch
from commonplace.search.operations import Operations
from commonplace.search.query import Query
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.generations import FakeCluster, FakeGenerations
from tests.fakes.store import Crash, FakeObjectStore
from tests.unit.search.records import document, message, publish, versions

NAMES = [f"note/{letter}" for letter in "abcdef"]
MODELS = {"old": FakeEmbeddings("1"), "new": FakeEmbeddings("2")}
SETTINGS = [("old",), ("old", "new"), ("new",), ("new", "old")]
"""EMBEDDING_PROVIDER, and EMBEDDING_PROVIDER_NEXT where there is one."""


class Migrations(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = FakeObjectStore()
        self.cluster = FakeCluster(Path(self.folder.name))
        self.generation = 0
        self.published: dict[str, int] = {}
        self.pending: list[str] = []
        """Changed documents whose message no writer has taken."""
        self.behind: set[str] = set()
        """Changed documents that the current index may have as they were."""
        self.configured: tuple[str, ...] = ("old",)
        for name in NAMES[:4]:
            self.published[name] = 1
        self.publish(dict.fromkeys(NAMES[:4], True))
        self.deliver_all()

    # What authors and the queue do

    @rule(changes=st.dictionaries(st.sampled_from(NAMES), st.booleans(), min_size=1, max_size=3))
    def publish(self, changes: dict[str, bool]) -> None:
        """New editions (True), and what is taken back."""
        self.generation += 1
        for name, there in changes.items():
            self.published.pop(name, None)
            if there:
                self.published[name] = self.generation
        documents = [
            document(name, f"edition{generation} of {name}", generation=generation, title=f"Title {name[-1]}")
            for name, generation in self.published.items()
        ]
        publish(self.store, documents, generation=self.generation)
        self.pending += list(changes)
        self.behind |= set(changes)

    @rule(data=st.data())
    def deliver(self, data: st.DataObject) -> None:
        """Some messages, in any order, some of them twice."""
        if self.pending:
            self._take(data.draw(st.lists(st.sampled_from(sorted(set(self.pending))), min_size=1, max_size=4)))

    @rule()
    def deliver_all(self) -> None:
        self._take(list(dict.fromkeys(self.pending)))

    @rule(changes=st.dictionaries(st.sampled_from(NAMES), st.booleans(), min_size=1, max_size=2))
    def publish_and_deliver(self, changes: dict[str, bool]) -> None:
        self.publish(changes)
        self.deliver_all()

    @rule()
    def look_on_schedule(self) -> None:
        try:
            self._operations().reconcile()
        except IndexMismatch:
            return
        if self._current_is_written():
            self.behind.clear()

    # What operators do

    @rule(configured=st.sampled_from(SETTINGS))
    def configure(self, configured: tuple[str, ...]) -> None:
        self.configured = configured

    @rule(writes=st.integers(1, 4), anew=st.booleans())
    def build(self, writes: int, anew: bool) -> None:
        left = writes

        def enough() -> bool:
            nonlocal left
            left -= 1
            return left <= 0

        self._try(lambda: self._migration().build(enough, anew=anew))

    @rule(writes=st.integers(0, 5), what=st.sampled_from(["build", "verify", "swap", "rollback"]))
    def crash(self, writes: int, what: str) -> None:
        """The process ends between two writes."""
        before = self.cluster.roles.get("current")
        self.cluster.crash_after = writes
        try:
            self._try(getattr(self._migration(), what))
        except Crash:
            pass
        finally:
            self.cluster.crash_after = None
        if self.cluster.roles.get("current") != before:
            self.behind.clear()

    @rule()
    def verify(self) -> None:
        self._try(self._migration().verify)

    @rule()
    def swap(self) -> None:
        if self._changed(lambda: self._migration().swap()):
            assert list(self._file().incomplete()) == []

    @rule(configured=st.sampled_from(SETTINGS))
    def change_of_model(self, configured: tuple[str, ...]) -> None:
        """From the new setting to the swap, without a hitch."""
        self.configured = configured
        self._try(self._migration().build)
        self.swap()

    @rule()
    def rollback(self) -> None:
        self._changed(lambda: self._migration().rollback())

    @rule()
    def clean_up(self) -> None:
        self._migration().cleanup()

    @rule(failing=st.sampled_from(["", "old", "new"]))
    def models(self, failing: str) -> None:
        """One of the models does not answer for a while."""
        for name, model in MODELS.items():
            model.failing = name == failing

    # What must hold

    @invariant()
    def readers_see_what_is_published(self) -> None:
        if not hasattr(self, "cluster") or "current" not in self.cluster.roles:
            return
        held = self._held()
        for name in NAMES:
            if name not in self.behind:
                assert held.get(name) == self.published.get(name), name

    @invariant()
    def there_is_always_an_index_that_answers(self) -> None:
        if hasattr(self, "cluster") and self.generation:
            assert self.cluster.roles["current"] in self.cluster.indexes

    def teardown(self) -> None:
        if not hasattr(self, "cluster"):
            return
        try:
            self._settle()
        finally:
            self.cluster.close()
            self.folder.cleanup()

    def _settle(self) -> None:
        """Everything is quiet: the wanted index is built and taken, every message arrives, the schedule looks once."""
        self.models("")
        operations = self._operations()
        self.deliver_all()
        for event in ({"step": "begin"}, {"step": "build"}, {"step": "swap"}):
            operations.step(event)
        operations.reconcile()
        assert self._current_is_written()
        assert self._held() == self.published
        current = self.cluster.indexes[self.cluster.roles["current"]]
        model = next(model for model in MODELS.values() if current.model == f"fake@{model.revision}/64")
        reader = FakeGenerations(self.cluster, model).shared_engine()
        assert list(reader.incomplete()) == []
        for name in NAMES:
            hits = [hit.id for hit in reader.candidates(Query.of(f"Title {name[-1]}"), None, Filters(), 9).named]
            assert (name in hits) == (name in self.published)
        for name, generation in self.published.items():
            (shown,) = reader.fetch([(name, None)], Query.of(f"edition{generation}")).values()  # type: ignore[list-item]
            assert shown.chunk is not None and f"edition{generation} " in shown.chunk.text

    def _take(self, names: list[str]) -> None:
        try:
            failed = self._operations().take([message(name, name) for name in dict.fromkeys(names)])
        except IndexMismatch:
            return  # the queue keeps them
        assert failed == []
        self.pending = [name for name in self.pending if name not in names]
        if self._current_is_written():
            self.behind -= set(names)

    def _try(self, action: Callable[[], object]) -> object:
        try:
            return action()
        except InvalidInput as refusal:
            assert refusal.hint
            return None

    def _changed(self, action: Callable[[], object]) -> bool:
        """Whether another index answers now: it was compared with what is published."""
        changed = isinstance(self._try(action), Swapped)
        if changed:
            self.behind.clear()
        return changed

    def _held(self) -> dict[str, int]:
        return {str(record): version for record, version in versions(self._file()).items()}

    def _file(self) -> EmbeddedEngine:
        return self.cluster.engine(self.cluster.roles["current"], None)

    def _current_is_written(self) -> bool:
        current = self.cluster.indexes[self.cluster.roles["current"]]
        return any(FakeGenerations(self.cluster, MODELS[name]).wanted() == current for name in self.configured)

    def _migration(self) -> Migration:
        models = [MODELS[name] for name in self.configured]
        targets = [Target(FakeGenerations(self.cluster, model), model) for model in models]
        return Migration(StoredDocuments(self.store), targets, records_per_write=2)

    def _operations(self) -> Operations:
        models = [MODELS[name] for name in self.configured]
        sides = [FakeGenerations(self.cluster, model).shared_engine() for model in models]
        indexers = [
            Indexer(StoredDocuments(self.store), side, model, rebuilds=False)
            for side, model in zip(sides, models, strict=True)
        ]
        return Operations(indexers, self._migration())


def test_current_is_what_is_published_and_readers_never_see_anything_else(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    run_state_machine_as_test(
        Migrations,
        settings=settings(
            max_examples=examples(10, soak=500),
            stateful_step_count=30,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
