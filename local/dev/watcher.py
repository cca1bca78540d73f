"""Tells when the folder or the branch behind it has changed."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from watchfiles import Change, watch

from local.dev.source import Source

logger = logging.getLogger(__name__)

QUIET_MS = 100
"""A burst of saves counts as one once nothing has changed for so long."""
LONGEST_BURST_MS = 1000
WAKE_MS = 300
"""How soon a stop is noticed."""
START_SECONDS = 30


class Watcher:
    """Calls `changed` from a thread of its own, once per burst of changes."""

    def __init__(self, source: Source, changed: Callable[[], None]) -> None:
        self._folders = _folders(source)
        self._source = source
        self._changed = changed
        self._stopping = threading.Event()
        self._watching = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        """Returns when no later change can be missed."""
        self._thread.start()
        self._watching.wait(START_SECONDS)

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        bursts = watch(
            *self._folders,
            watch_filter=self._matters,
            debounce=LONGEST_BURST_MS,
            step=QUIET_MS,
            stop_event=self._stopping,
            rust_timeout=WAKE_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
        try:
            for burst in bursts:
                self._watching.set()
                if burst:
                    self._changed()
        except OSError as error:
            logger.error("The folder cannot be watched: %s. Saved files are not picked up.", error)
        finally:
            self._watching.set()

    def _matters(self, _change: Change, path: str) -> bool:
        """Files of the folder, and in the repository only what moves a branch."""
        git_dir, common_dir = self._source.git_dir, self._source.common_dir
        changed = Path(path)
        for inside in (git_dir, common_dir):
            if inside is not None and changed.is_relative_to(inside):
                return _moves_a_branch(changed.relative_to(inside))
        return ".git" not in changed.parts


def _folders(source: Source) -> list[Path]:
    wanted = {folder for folder in (source.work_tree, source.git_dir, source.common_dir) if folder}
    return [folder for folder in wanted if not wanted & set(folder.parents)]


def _moves_a_branch(path: Path) -> bool:
    if path.suffix == ".lock":
        return False
    return path.parts[:1] in {("HEAD",), ("packed-refs",)} or path.parts[:2] in {("refs", "heads"), ("refs", "remotes")}
