"""After the first sync: every saved file becomes a push, and its writer is told what came of it."""

import threading
import time
from collections.abc import Iterator

import httpx

from commonplace.sync.report import SkippedFile
from local.dev.laptop import Laptop
from local.dev.screen import Screen
from local.dev.watcher import Watcher
from local.dev.workspace import Move, SnapshotFailed
from local.operations.report_text import failure_text

LOOK_SECONDS = 0.05
AGAIN_SECONDS = 1.0
PATHS_TOLD = 20


def keep_up(laptop: Laptop, screen: Screen) -> None:
    """Runs until interrupted."""
    changed = threading.Event()
    changed.set()  # what was saved during the first sync
    watcher = Watcher(laptop.source, changed.set)
    watcher.start()
    screen.say(f"ready: {laptop.url} (watching {laptop.source.folder}; Ctrl-C ends it)")
    try:
        _follow_saves(laptop, screen, changed)
    finally:
        watcher.stop()


def _follow_saves(laptop: Laptop, screen: Screen, changed: threading.Event) -> None:
    shown: Move | None = None
    began = 0.0
    while True:
        if changed.wait(LOOK_SECONDS if shown else None):
            changed.clear()
            move = _push(laptop, screen, changed)
            if move and shown:
                shown = Move(shown.before, move.after)
            elif move:
                shown, began = move, time.monotonic()
        elif shown and laptop.idle():
            for line in told(laptop, shown, time.monotonic() - began):
                screen.say(line)
            shown = None


def _push(laptop: Laptop, screen: Screen, changed: threading.Event) -> Move | None:
    """A folder in motion (a checkout, a file being replaced) is looked at again a moment later."""
    try:
        return laptop.push()
    except SnapshotFailed as error:
        screen.say(f"The folder cannot be read just now, trying again: {error}")
        time.sleep(AGAIN_SECONDS)
        changed.set()
    except httpx.HTTPError as error:
        screen.say(f"The webhook did not take the push: {error}. The next save, or the hourly look, repairs that.")
    return None


def told(laptop: Laptop, move: Move, seconds: float) -> Iterator[str]:
    """What became of the files that were saved."""
    summary, report = laptop.summary(), laptop.report()
    if summary is None or summary.status == "failed":
        cause = failure_text(summary.error) if summary else "it never finished"
        yield f"saved {move.after[:7]}: the run failed: {cause}"
        return
    counts = summary.counts
    yield f"saved {move.after[:7]}: {counts.stored} stored, {counts.removed} removed, indexed in {seconds:.1f} s"
    if report is None or report.commit_sha != move.after:
        return
    listed = laptop.api.repository.changed_paths(move.before, move.after)
    paths = {path for kind in ("added", "modified") for path in listed[kind]}
    lines = [f"  {item.path}: {_fate(item)}, {item.reason}" for item in report.skipped if item.path in paths]
    lines += [
        f"  {note.path}: {note.problem.message}"
        for note in report.notes
        if note.path in paths and note.problem.severity != "note"
    ]
    yield from lines[:PATHS_TOLD]


def _fate(item: SkippedFile) -> str:
    return "served as it was before" if item.kept_last_good else "not published"
