"""Waiting for a condition, with a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(look: Callable[[], Found], seconds: float = 120) -> Found:
    """The first true answer. Raises `TimeoutError` when there is none in time."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"Nothing became true within {seconds:g} s.")
        time.sleep(0.02)
    return found
