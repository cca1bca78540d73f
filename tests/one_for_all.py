"""A server for a whole run of tests, however many workers it has."""

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from commonplace_local.locks import held


class Server(Protocol):
    @property
    def url(self) -> str: ...

    def stop(self) -> object: ...


def serving(temporary: Path, name: str, start: Callable[[], Server]) -> Iterator[str]:
    """The address of the server. It belongs to the test process, or to one of its workers, and ends with it.

    `temporary` is the base of the process's temporary folders, `name` that of the server's files in it.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        yield from _shared(temporary.parent, name, start)
        return
    server = start()
    try:
        yield server.url
    finally:
        server.stop()


def _shared(run: Path, name: str, start: Callable[[], Server]) -> Iterator[str]:
    """One for all workers: the first to need it starts it, and waits for the others before it ends it."""
    note, server = run / f"{name}.url", None
    with (run / f"{name}.users").open("a") as users:
        with held(run / f"{name}.lock"):
            if not note.exists():
                server = start()
                note.write_text(server.url)
            url = note.read_text()
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield url
        finally:
            fcntl.flock(users, fcntl.LOCK_UN)
            if server is not None:
                with held(run / f"{name}.lock"):
                    fcntl.flock(users, fcntl.LOCK_EX)
                    note.unlink()
                    server.stop()
