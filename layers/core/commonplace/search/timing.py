"""How long the stages of a search took."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopwatch:
    """Runs from when it is made. `clock` tells seconds; what is told is milliseconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self.stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the time inside to that of the stage."""
        started = self._clock()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + (self._clock() - started) * 1000

    def whole(self) -> float:
        """Since the beginning."""
        return (self._clock() - self._started) * 1000
