"""A lock between processes, held as long as the block runs; the system releases it when its holder dies."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(file: Path, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Waits until nobody else holds the lock; calls `waiting` when that is not at once."""
    with file.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
