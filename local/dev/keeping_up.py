"""After the first sync: every saved file becomes a push, and its writer is told what came of it."""

import threading
import time
from collections.abc import Iterator

import httpx

from commonplace.sync.report import SkippedFile
from local.dev.laptop import Laptop
from local.dev.screen import Screen, catalogue_lines
from local.dev.watcher import Watcher
from local.dev.workspace import Move, SnapshotFailed
from local.operations.report_text import failure_text

LOOK_AT_RUNS_SECONDS = 0.05
AGAIN_SECONDS = 1.0
PATHS_TOLD = 20


def keep_up(laptop: Laptop, screen: Screen) -> None:
    """Runs until interrupted."""
    changed = threading.Event()
    changed.set()  # what was saved during the first sync
    watchers = [Watcher(one.source, changed.set) for one in laptop.repositories]
    folders = ", ".join(str(one.source.folder) for one in laptop.repositories)
    try:
        for watcher in watchers:
            watcher.start()
        screen.say(f"ready: {laptop.url} (watching {folders}; Ctrl-C ends it)")
        _follow_saves(laptop, screen, changed)
    finally:
        for watcher in watchers:
            watcher.stop()


def _follow_saves(laptop: Laptop, screen: Screen, changed: threading.Event) -> None:
    shown: dict[str, Move] = {}
    began, runs = 0.0, _runs(laptop)
    while True:
        if changed.wait(LOOK_AT_RUNS_SECONDS if shown else None):
            changed.clear()
            moves = _push(laptop, screen, changed)
            if not shown:
                began = time.monotonic()
            shown |= {name: Move(shown.get(name, move).before, move.after) for name, move in moves.items()}
        elif shown and laptop.idle():
            seconds, after = time.monotonic() - began, _runs(laptop)
            if laptop.source.name in shown:
                for line in told(laptop, shown[laptop.source.name], seconds):
                    screen.say(line)
            for name in [name for name, run in after.items() if run != runs[name]]:
                for line in told_of_catalogue(laptop, name, seconds):
                    screen.say(line)
            shown, runs = {}, after


def _runs(laptop: Laptop) -> dict[str, tuple[str | None, str | None]]:
    """Which run of each catalogue was the last to find something to do, and how it ended."""
    reports = {one.name: laptop.catalogue_report(one.name) for one in laptop.catalogues}
    return {name: (report.run, report.error) if report else (None, None) for name, report in reports.items()}


def _push(laptop: Laptop, screen: Screen, changed: threading.Event) -> dict[str, Move]:
    """A folder in motion (a checkout, a file being replaced) is looked at again a moment later."""
    try:
        return laptop.push_each()
    except SnapshotFailed as error:
        screen.say(f"The folder cannot be read just now, trying again: {error}")
        time.sleep(AGAIN_SECONDS)
        changed.set()
    except httpx.HTTPError as error:
        screen.say(f"The webhook did not take the push: {error}. The next save, or the hourly look, repairs that.")
    return {}


def told_of_catalogue(laptop: Laptop, name: str, seconds: float) -> Iterator[str]:
    """What became of a catalogue some of whose files were saved."""
    report = laptop.catalogue_report(name)
    first, *more = catalogue_lines(name, report)
    if report is None or report.status != "published":
        yield from (first, *more)
        return
    counts = f"{len(report.added)} added, {len(report.changed)} changed, {len(report.removed)} removed"
    yield f"{first}; {counts}, indexed in {seconds:.1f} s"
    yield from more


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
