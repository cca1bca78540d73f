"""The course of `commonplace dev`: sync, show, keep up with saved files, end cleanly."""

import fcntl
import os
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TextIO

import httpx

from local.dev.engines import EMBEDDED, SearchEngine
from local.dev.keeping_up import keep_up
from local.dev.laptop import Laptop, Progress
from local.dev.outcome import Outcome, judge
from local.dev.screen import Screen, Teller
from local.dev.workspace import SnapshotFailed
from local.errors import CommandError
from local.opensearch.user import let_pass
from local.operations.deployment import ENDPOINT_FILE, LAPTOP_DATA, announce, withdraw

LOOK_SECONDS = 0.2
STALLED_SECONDS = 300
KEPT = ("lock", f"{ENDPOINT_FILE}*", "repository*.git", "cloud", "index", "opensearch")
"""What a data folder holds of ours."""
NOBODY_ELSE = 0o077
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def data_folder(given: Path | None, *, passable: bool = False) -> Iterator[Path]:
    """The folder that was asked for, held by this process alone; else one that vanishes at the end.

    Within the block this process and its children write what nobody else of this machine may read. A `passable` folder
    lets the user through as whom root runs a node.
    """
    before = os.umask(NOBODY_ELSE)
    try:
        if given is None:
            with _temporary() as folder:
                yield folder
        else:
            with _locked(given, passable=passable):
                yield given.resolve()
    finally:
        os.umask(before)


@contextmanager
def _temporary() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="commonplace-dev-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _locked(folder: Path, *, passable: bool) -> TextIO:
    with ExitStack() as undo:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = undo.enter_context((folder / "lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _take_from_others(folder, passable=passable)
        except BlockingIOError as error:
            hint = "Stop it, or choose another folder with --data."
            raise CommandError(f"Another `commonplace dev` uses {folder}.", hint) from error
        except OSError as error:
            hint = "Choose a folder that you may write to with --data."
            raise CommandError(f"Nothing can be kept in {folder}: {error.strerror}.", hint) from error
        undo.pop_all()
    return lock


def _take_from_others(folder: Path, *, passable: bool) -> None:
    """Of what is there already: what is ours, and the folder itself where it holds nothing else."""
    kept = {path for pattern in KEPT for path in folder.glob(pattern)}
    alone = kept == set(folder.iterdir())
    for path in (*([folder] if alone else []), *kept, *(below for one in kept for below in one.rglob("*"))):
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~NOBODY_ELSE)
    if alone and passable:
        let_pass(folder)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Ctrl-C, a polite kill and a closed terminal all raise KeyboardInterrupt."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_signals() -> None:
    """While things are put away, a second Ctrl-C must not stop that half-way."""
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def serve(
    laptop: Laptop,
    screen: Screen,
    *,
    once: bool,
    verbose: bool,
    data: Path | None,
    engine: SearchEngine = EMBEDDED,
) -> bool:
    """Syncs and shows the outcome; unless `once`, serves until interrupted. False when the sync is not whole."""
    with ExitStack() as undo:
        undo.callback(laptop.stop)
        undo.callback(ignore_signals)
        with screen.working("Starting"):
            laptop.start()
        for folder in {LAPTOP_DATA, data or LAPTOP_DATA}:
            announce(folder / ENDPOINT_FILE, laptop.deployment)
            undo.callback(withdraw, folder / ENDPOINT_FILE)
        remembers = laptop.remembers()
        outcome = first_sync(laptop, screen, engine)
        screen.outcome(outcome, verbose=verbose)
        screen.say(f"Searches are answered by {engine.label}")
        if once:
            return not outcome.faults
        if remembers:
            laptop.look_after_memory()
        laptop.welcome_agents()
        screen.addresses(laptop.url, laptop.mcp_url, outcome)
        screen.say(laptop.asked_of_chains)
        keep_up(laptop, screen)
    return True


def first_sync(laptop: Laptop, screen: Screen, engine: SearchEngine = EMBEDDED) -> Outcome:
    """Pushes the folder as it is, or, when the store of an earlier start may be at it already, asks for a look."""
    began = time.monotonic()
    try:
        if len(laptop.push_each()) < len(laptop.repositories):
            laptop.poke()
    except SnapshotFailed as error:
        raise CommandError(f"The folder cannot be read: {error}", "Mend that and start again.") from error
    except httpx.HTTPError as error:
        raise CommandError(f"The webhook did not take the push: {error}", "The logs above say why.") from error
    with screen.working("Syncing") as tell:
        follow(laptop, tell)
        if engine.elsewhere:
            laptop.reconcile()
    outcome = judge(laptop)
    screen.say(f"Synced {laptop.source.name} ({laptop.source.branch}) in {time.monotonic() - began:.1f} s")
    return outcome


def follow(laptop: Laptop, tell: Teller) -> None:
    """Waits until nothing runs and nothing waits, telling how far it is. Raises CommandError when nothing moves."""
    seen: Progress | None = None
    moved = time.monotonic()
    while not laptop.idle():
        progress = laptop.progress()
        if progress != seen:
            seen, moved = progress, time.monotonic()
        elif time.monotonic() - moved > STALLED_SECONDS:
            raise CommandError(f"Nothing has moved for {STALLED_SECONDS} s.", "The functions' logs say why.")
        tell(progress)
        time.sleep(LOOK_SECONDS)
