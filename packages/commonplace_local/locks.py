"""A lock between processes, held as long as the block runs; the system releases it when its holder dies."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Hold the lock for the block, once no other process holds it."""
    with file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
