"""How the long steps (fetching, assembling, starting) say what they do."""

from typing import Protocol


class Tell(Protocol):
    """Is called about once a second with the step under way and for how many seconds it has been."""

    def __call__(self, step: str, seconds: float = 0.0) -> None: ...


def silently(step: str, seconds: float = 0.0) -> None:
    """Says nothing."""
