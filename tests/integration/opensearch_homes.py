"""Folders for nodes of a test: nobody else's, and such that the node's user can enter them, unlike pytest's own."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.opensearch.folders import PROGRAM, find_home, temporary_state
from local.opensearch.node import ensure_engine
from local.opensearch.progress import silently
from tests.opensearch_fixture import or_skipped


@contextmanager
def passable_folder() -> Iterator[Path]:
    folder = temporary_state()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def lent_home() -> Iterator[Path]:
    """A home of its own with the program of the usual one, so that nothing is fetched or unpacked twice."""
    engine = or_skipped(lambda: ensure_engine(find_home(), silently))
    with passable_folder() as folder:
        (folder / PROGRAM).symlink_to(engine.program)
        yield folder
