"""Progress reports of long steps: fetching, assembling, starting."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console

PLAIN_INTERVAL_SECONDS = 10.0


class Tell(Protocol):
    """Is called about once a second with the step under way and for how many seconds it has been."""

    def __call__(self, step: str, seconds: float = 0.0) -> None: ...


def silently(step: str, seconds: float = 0.0) -> None:
    """Says nothing."""


@contextmanager
def told(console: Console | None = None) -> Iterator[Tell]:
    """Where steps are reported: standard error unless a console is given."""
    shown = console or Console(stderr=True, highlight=False)
    if not shown.is_terminal:
        yield PlainLines(shown)
        return
    with shown.status("Looking for the node") as line:

        def living(step: str, seconds: float = 0.0) -> None:
            line.update(f"{step}: {seconds:.0f} s" if seconds >= 1 else step)

        yield living


class PlainLines:
    """For a file or a pipe, where a line cannot be written over."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._step, self._seconds = "", 0.0

    def __call__(self, step: str, seconds: float = 0.0) -> None:
        new = step != self._step
        if not new and seconds - self._seconds < PLAIN_INTERVAL_SECONDS:
            return
        self._step, self._seconds = step, seconds
        text = f"{step} ..." if new else f"{step}: {seconds:.0f} s"
        self._console.print(text, markup=False, soft_wrap=True)
