"""The run state and the workflow engine, in memory."""

from datetime import UTC, datetime, timedelta

from commonplace.repository.ports import LeaseHeld, RunState


class FakeSyncState:
    """What the DynamoDB item does, with a clock that only tests move."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.pokes = 0
        self.done = 0
        self.attempts = 0
        self.generation = 0
        self.running: str | None = None
        self.running_since: datetime | None = None
        self.lease_of: str | None = None
        self.lease_until = self.now
        self.deliveries: dict[str, int] = {}

    def read(self) -> RunState:
        return RunState(self.pokes, self.done, self.running, self.running_since, self.generation)

    def poke(self, delivery: str | None = None) -> int:
        if delivery is not None and delivery in self.deliveries:
            return self.deliveries[delivery]
        self.pokes += 1
        if delivery is not None:
            self.deliveries[delivery] = self.pokes
        return self.pokes

    def delivery(self, delivery: str) -> int | None:
        return self.deliveries.get(delivery)

    def next_attempt(self) -> int:
        self.attempts += 1
        return self.attempts

    def claim(self, run: str, *, replacing: str | None = None) -> bool:
        if self.running not in (None, run, replacing):
            return False
        self.running, self.running_since = run, self.now
        return True

    def finish(self, run: str, seen: int) -> bool:
        if self.running != run:
            return True
        self.done = max(self.done, seen)
        if self.pokes > seen:
            return False
        self.running = self.running_since = None
        return True

    def release(self, run: str) -> None:
        if self.running == run:
            self.running = self.running_since = None

    def lease(self, run: str, seconds: int) -> int:
        if self.lease_of not in (None, run) and self.now < self.lease_until:
            raise LeaseHeld(run)
        self.lease_of, self.lease_until = run, self.now + timedelta(seconds=seconds)
        self.generation += 1
        return self.generation

    def end_lease(self, run: str) -> None:
        if self.lease_of == run:
            self.lease_of = None


class FakeWorkflow:
    """Remembers what was started; a test runs it."""

    def __init__(self) -> None:
        self.started: list[tuple[str, dict[str, object]]] = []
        self.alive: set[str] = set()
        self.refuses = False

    def start(self, name: str, run_input: dict[str, object]) -> None:
        if self.refuses:
            raise ConnectionError("the workflow engine does not answer")
        self.started.append((name, run_input))
        self.alive.add(name)

    def is_running(self, name: str) -> bool:
        return name in self.alive
