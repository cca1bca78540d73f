"""Runs the steps in the order of the state machine, one at a time, so that a test can stop between any two."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from commonplace.documents.content.document import MANIFEST_KEY, Manifest
from commonplace.documents.content.paths import DEFAULT_EXCLUDES, Exclusions
from commonplace.documents.sync.steps import Steps
from commonplace.repository.ports import LeaseHeld, RepositoryUnavailable
from commonplace.repository.run import RunSteps
from tests.fakes.repository import FakeRepository
from tests.fakes.state import FakeSyncState
from tests.fakes.store import FakeObjectStore


class Clock:
    """Every reading is a second later."""

    def __init__(self) -> None:
        self.time = datetime(2026, 2, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


class Runs:
    """A branch, a store, a run state, and the steps between them."""

    steps: RunSteps

    def __init__(self) -> None:
        self.objects = FakeObjectStore()
        self.repository = FakeRepository()
        self.state = FakeSyncState()

    def push(self, tree: dict[str, bytes]) -> str:
        self.state.poke()
        return self.repository.push(tree)

    def start(self, *, full: bool = False) -> Iterator[str]:
        """A new run, claiming whatever was running before (it is dead or overtaken)."""
        run = f"run-{self.state.next_attempt()}"
        self.state.claim(run, replacing=self.state.running)
        return self.machine(run, full=full)

    def sync(self, *, full: bool = False) -> list[str]:
        """One run from start to end; returns the steps it took."""
        return list(self.start(full=full))

    def machine(self, run: str, *, full: bool = False) -> Iterator[str]:
        """The state machine, each state yielded after it has been done. A failed step fails the run whole."""
        try:
            yield from self._states(run, full)
        except (LeaseHeld, RepositoryUnavailable, LookupError) as error:
            self.steps.fail({"run": run, "error": type(error).__name__})
            yield "fail"

    def _states(self, run: str, full: bool) -> Iterator[str]:
        steps = self.steps
        while True:
            answer = steps.plan({"run": run, "full": full})
            seen = answer["seen"]
            yield "plan"
            if answer["action"] == "wait":
                continue
            if answer["action"] == "archive":
                answer = steps.archive({"run": run})
                yield "archive"
            if answer["action"] == "store":
                for item in self.items(answer["items"]["key"]):
                    steps.store({"run": run, "item": item})
                    yield "store"
            if answer["action"] in {"store", "publish"}:
                answer = steps.publish({"run": run})
                yield "publish"
                if answer["action"] in {"plan", "wait"}:
                    continue
            again = steps.finish({"run": run, "seen": seen})["again"]
            yield "finish"
            if not again:
                return

    def items(self, key: str) -> list[dict[str, Any]]:
        import json

        found = self.objects.get(key)
        assert found is not None
        return list(json.loads(found.body))


class World(Runs):
    """Where the documents of a knowledge base are synced."""

    def __init__(self, logo: str | None = None) -> None:
        super().__init__()
        self.configure(logo)

    def configure(self, logo: str | None, *, everything: bool = False) -> None:
        """As another deployment of the same store has it."""
        self.steps: Steps = Steps(
            self.objects,
            self.repository,
            self.state,
            bucket="store",
            exclusions=Exclusions(DEFAULT_EXCLUDES),
            logo=logo,
            everything=everything,
            now=Clock(),
        )

    def manifest(self) -> Manifest:
        found = self.objects.get(MANIFEST_KEY)
        assert found is not None
        return Manifest.model_validate_json(found.body)


def page(title: str, body: str = "Some text.\n", *, publish: object = True, **fields: object) -> bytes:
    """A Markdown file with frontmatter."""
    lines = [
        f"title: {title}",
        f"publish: {str(publish).lower()}",
        *(f"{name}: {value}" for name, value in fields.items()),
    ]
    return ("---\n" + "\n".join(lines) + "\n---\n" + body).encode()
