"""A hint that the branch may have moved: counts it, and sees to it that a run starts or that the running one goes on.

Standard library only: the webhook function carries no third-party package.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from commonplace.kernel.errors import Unavailable
from commonplace.repository.ports import RunState, SyncState, Workflow

logger = logging.getLogger(__name__)

STARTING = timedelta(seconds=60)
"""So long a claim without an execution counts as a run that is just being started."""
CLAIM_ATTEMPTS = 3
"""The claim may change hands between looking and taking; each round then looks again."""


@dataclass(frozen=True, slots=True)
class Hint:
    reason: str
    """`push`, `schedule` or `operator`."""
    commit_sha: str | None = None
    """Names the run; what is synced is whatever the branch's head is by then."""
    delivery: str | None = None
    full: bool = False
    """Read everything anew, whatever is known."""


@dataclass(frozen=True, slots=True)
class Started:
    run: str


@dataclass(frozen=True, slots=True)
class Queued:
    """The running run goes round once more before it ends."""

    run: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    reason: str


COMMIT_DIGITS = 12
"""Of the commit in the name of a catalogue's run: Step Functions takes 80 characters."""


class Poker:
    """Pokes one source over its run state and the workflow engine: the knowledge base, or the catalogue `source`."""

    def __init__(
        self,
        state: SyncState,
        workflow: Workflow,
        source: str = "",
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._state = state
        self._workflow = workflow
        self._source = source
        self._now = now

    def poke(self, hint: Hint) -> Started | Queued | Duplicate:
        """Raises Unavailable when no run could be started; the hint stays open, so a redelivery does the work."""
        if duplicate := self._duplicate(hint):
            return duplicate
        self._state.poke(hint.delivery)
        for _ in range(CLAIM_ATTEMPTS):
            run = self._name(hint)
            if self._state.claim(run):
                return self._start(run, hint)
            holder = self._state.read()
            if holder.running is None:
                continue
            if self._is_alive(holder):
                return self._queued(holder.running, hint)
            if self._state.claim(run, replacing=holder.running):
                logger.warning("took over from a run that ended without a word", extra={"run": holder.running})
                return self._start(run, hint)
        raise Unavailable("Runs change hands too fast to join one. The hint is kept.")

    def _name(self, hint: Hint) -> str:
        """Of an execution: no two are ever called alike, of whatever source."""
        attempt = self._state.next_attempt()
        if not self._source:
            return f"{hint.commit_sha or 'reconcile'}-{attempt}"
        return f"{self._source}-{(hint.commit_sha or 'reconcile')[:COMMIT_DIGITS]}-{attempt}"

    def _duplicate(self, hint: Hint) -> Duplicate | None:
        number = self._state.delivery(hint.delivery) if hint.delivery else None
        if number is None:
            return None
        state = self._state.read()
        if number <= state.done:
            return Duplicate("the run for this delivery is done")
        if self._is_alive(state):
            return Duplicate("the run for this delivery has not ended yet")
        return None

    def _is_alive(self, state: RunState) -> bool:
        """Whether a run holds the claim and will look at the hints before it ends."""
        if state.running is None:
            return False
        since = state.running_since
        starting = since is not None and self._now() - since < STARTING
        return starting or self._workflow.is_running(state.running)

    def _start(self, run: str, hint: Hint) -> Started:
        try:
            given = {"source": self._source, "run": run, "reason": hint.reason, "full": hint.full}
            self._workflow.start(run, given)
        except Exception as error:
            self._state.release(run)
            logger.error("the run could not be started", extra={"run": run, "error": type(error).__name__})
            raise Unavailable("The run could not be started. The hint is kept: send it again.") from error
        return Started(run)

    def _queued(self, run: str, hint: Hint) -> Queued:
        if hint.full:
            raise Unavailable(
                "A run is under way, and a full one cannot join it.",
                hint="Ask again when it has ended.",
                retry_after_seconds=60,
            )
        return Queued(run)
