"""Runs that overlap, stall, crash between any two writes and meet a GitHub that fails, over a tree that people edit."""

from abc import abstractmethod
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from commonplace.repository.ports import RepositoryRateLimited, RepositoryUnavailable
from tests.examples import examples
from tests.fakes.repository import EPOCH
from tests.fakes.store import Crash
from tests.unit.documents.sync.drive import Runs

writes = st.one_of(st.integers(0, 9), st.integers(0, 25))
"""As many as a run makes that has one file to take, or all of them."""


class InterruptedRuns(RuleBasedStateMachine):
    """What a model of a tree goes through. Who inherits says what files are, and what must be published of them."""

    edits: ClassVar[st.SearchStrategy[tuple[str, Any]]]
    """Of a path, and what is to stand there."""
    damaged: ClassVar[tuple[str, ...]]
    """Beginnings of the keys that somebody may damage."""
    world: Runs

    def begin_with(self, world: Runs) -> None:
        self.world = world
        self.tree: dict[str, Any] = {}
        self.runs: list[Iterator[str]] = []
        self.newest = 0
        """Place in the branch's history of the newest commit that has been published."""
        self.holes_allowed = False
        """Whether something was damaged, and no run has mended it yet."""

    @property
    def begun(self) -> bool:
        """Invariants are asked for once before anything is."""
        return hasattr(self, "world")

    # What people do

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        path, file = data.draw(self.edits)
        self.tree[path] = file

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        if self.tree:
            del self.tree[data.draw(st.sampled_from(sorted(self.tree)))]

    @rule(hints=st.integers(0, 2))
    def push(self, hints: int = 1) -> None:
        """Pushes; its webhook may never come, or twice."""
        self.pushed()
        for _ in range(hints):
            self.world.state.poke()

    @abstractmethod
    def pushed(self) -> None:
        """Makes the tree the head of the branch."""

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

    @rule(data=st.data(), writes=writes)
    def crash(self, data: st.DataObject, writes: int) -> None:
        """A process ends between two writes, mostly while it has something to do; nobody tidies up after it."""
        if data.draw(st.integers(0, 3)):
            self.edit(data)
            self.push()
        run = self._some_run(data)
        self.world.objects.crash_after = writes
        self._advance(run, 8)
        self.world.objects.crash_after = None

    @rule(data=st.data(), writes=writes)
    def stall(self, data: st.DataObject, writes: int) -> None:
        """A run stalls between two writes for longer than its lease; a newer one overtakes it; then it goes on."""
        path, file = data.draw(self.edits)

        def overtake() -> None:
            self.world.state.now += timedelta(hours=1)
            self.overtaken()
            self.tree[path] = file
            self.push()
            self._exhaust(self.world.start())

        stalled = self._some_run(data)
        self.world.objects.interrupt(writes, overtake)
        self._advance(stalled, 8)
        self.world.objects.interrupt(None, overtake)

    def overtaken(self) -> None:
        """A stalled run may still write after this."""

    # What the outside world does

    @rule(data=st.data())
    def lose_a_blob(self, data: st.DataObject) -> None:
        self.world.repository.lost_blobs.add(data.draw(st.sampled_from(sorted(self.world.repository.blobs))))

    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        """Somebody overwrites or removes an object of the store."""
        objects = self.world.objects
        if found := [key for key in sorted(objects.objects) if key.startswith(self.damaged)]:
            self.holes_allowed = True
            key = data.draw(st.sampled_from(found))
            if data.draw(st.booleans()):
                objects.delete([key])
            else:
                objects.put(key, objects.objects[key].body + b" ")

    @rule(failure=st.sampled_from([RepositoryUnavailable("503"), RepositoryRateLimited(EPOCH)]))
    def github_fails(self, failure: Exception) -> None:
        self.world.repository.failures.append(failure)

    # What tests ask

    def end_everything(self) -> None:
        """Every run ends, the outside world is well again, and one reconcile runs."""
        for run in list(self.runs):
            self._exhaust(run)
        self.runs.clear()
        self.world.repository.failures.clear()
        self.world.repository.lost_blobs.clear()
        self.world.state.now += timedelta(hours=1)
        self._exhaust(self.world.start())

    def published(self, commit: str) -> None:
        """The store never goes back to an older commit."""
        at = self.world.repository.order.index(commit)
        assert at >= self.newest
        self.newest = at

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


def holds_whatever_happens(machine: type[InterruptedRuns], usual: int, soak: int) -> None:
    """Asserts what the machine does, over so many random histories."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples(usual, soak),
            stateful_step_count=30,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
