"""The session of `commonplace dev`: search engine, first sync and its outcome, pushes of saved files, a clean end."""

import fcntl
import hashlib
import os
import secrets
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import httpx

from commonplace.kernel.environment import WEB_URL, web_url
from commonplace_local.deployment import ENDPOINT_FILE, announced
from commonplace_local.dev.laptop import Laptop, Progress
from commonplace_local.dev.screen import ADD_A_PAGE, Outcome, Screen, Teller, catalogue_lines, judge
from commonplace_local.dev.workspace import Move, SnapshotFailed, Watcher
from commonplace_local.errors import CommandError
from commonplace_local.extras import is_installed, missing_line
from commonplace_local.findings import finding_line, place, sentence, tally_line
from commonplace_local.github.proposals import PullRequest
from commonplace_local.reports import failure_text
from commonplace_local.terminal import clean

STEM = "commonplace-dev"
EXAMPLE_URL = "http://127.0.0.1:9200"
NODE_SECONDS = 30
"""The longest that a node may take for one answer, such as the removal of an index."""

LOOK_SECONDS = 0.2
STALLED_SECONDS = 300
OURS = ("lock", f"{ENDPOINT_FILE}*", "repository*.git", "cloud", "index")
"""The files that `dev` writes into a data folder."""
NOBODY_ELSE = 0o077
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

LOOK_AT_RUNS_SECONDS = 0.05
AGAIN_SECONDS = 1.0
PATHS_TOLD = 20


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """`environment` holds its variables for functions; `label` the user.

    `elsewhere`: the index is not kept with the store, so the one may lack what the other has.
    """

    label: str
    environment: Mapping[str, str] = field(default_factory=dict)
    elsewhere: bool = False


EMBEDDED = SearchEngine("the embedded engine, one file beside the store")


@contextmanager
def search_engine(name: str, url: str | None, data: Path | None) -> Iterator[SearchEngine]:
    """The engine of this name, ready; OpenSearch is the running node at `url`.

    Two knowledge bases on one node have two indexes, and a data folder has the same one each time. Without `data` the
    index is dropped at the end of the block. Raises CommandError when no node answers.
    """
    if name == "embedded":
        yield EMBEDDED
        return
    hint = f"Start a node and name it: --engine opensearch --opensearch-url {EXAMPLE_URL}"
    if url is None:
        raise CommandError("--engine opensearch needs the address of a running node.", hint)
    with ExitStack() as undo:
        try:
            address = web_url(url)
            if address is None:
                raise CommandError(f"--opensearch-url takes {WEB_URL}, and not {url}.", hint)
            node = undo.enter_context(httpx.Client(base_url=address, timeout=NODE_SECONDS, trust_env=False))
            version = node.get("/").raise_for_status().json()["version"]["number"]
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError) as error:
            raise CommandError(f"No OpenSearch answers at {url}: {error}", hint) from error
        token = secrets.token_hex(4) if data is None else hashlib.sha256(str(data).encode()).hexdigest()[:8]
        stem = f"{STEM}-{token}-documents"
        environment = {
            "SEARCH_ENGINE": "opensearch",
            "OPENSEARCH_ENDPOINT": address,
            "OPENSEARCH_SERVICE": "none",  # nothing is signed
            "OPENSEARCH_INDEX": stem,
        }
        try:
            yield SearchEngine(f"OpenSearch {version} at {address}, index {stem}", environment, elsewhere=True)
        finally:
            if data is None:
                with suppress(httpx.HTTPError):  # a node that is gone has no index
                    for index in node.get(f"/{STEM}-{token}-*/_settings?expand_wildcards=all").json():
                        node.delete(f"/{index}")


@contextmanager
def data_folder(given: Path | None) -> Iterator[Path]:
    """The requested folder, held by this process alone; else one that vanishes at the end.

    Within the block this process and its children write what nobody else of this machine may read.
    """
    before = os.umask(NOBODY_ELSE)
    try:
        if given is None:
            with TemporaryDirectory(prefix="commonplace-dev-", ignore_cleanup_errors=True) as folder:
                yield Path(folder)
            return
        with ExitStack() as undo:
            try:
                given.mkdir(parents=True, exist_ok=True)
                lock = undo.enter_context((given / "lock").open("w"))
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _take_from_others(given)
            except BlockingIOError as error:
                hint = "Stop it, or choose another folder with --data."
                raise CommandError(f"Another `commonplace dev` uses {given}.", hint) from error
            except OSError as error:
                hint = "Choose a writable folder with --data."
                raise CommandError(f"The data folder {given} cannot be written: {error.strerror}.", hint) from error
            yield given.resolve()
    finally:
        os.umask(before)


def _take_from_others(folder: Path) -> None:
    """Close to others what is ours, and the folder itself where it holds nothing else."""
    ours = {path for pattern in OURS for path in folder.glob(pattern)}
    alone = ours == set(folder.iterdir())
    for path in (*([folder] if alone else []), *ours, *(below for one in ours for below in one.rglob("*"))):
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~NOBODY_ELSE)


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
    engine: SearchEngine = EMBEDDED,
    beside: Callable[[Laptop, Screen], None] | None = None,
) -> bool:
    """Syncs and shows the outcome; unless `once`, serves until interrupted. False when the sync is not whole.

    `beside` runs in a thread of its own once everything is ready.
    """
    with ExitStack() as undo:
        undo.callback(laptop.stop)
        undo.callback(ignore_signals)
        with screen.working("Starting"):
            laptop.start()
        undo.enter_context(announced(laptop.data, laptop.deployment))
        remembers = laptop.remembers()
        outcome = first_sync(laptop, screen, engine)
        screen.outcome(outcome, verbose=verbose)
        screen.say(f"Searches are answered by {engine.label}")
        if once:
            return not outcome.faults
        laptop.cloud.end_idle()
        if remembers:
            laptop.look_after_records()
        laptop.welcome_readers()
        laptop.api.proposals.arrived = lambda one: screen.say(proposal_line(one))
        screen.addresses(laptop, outcome)
        for line in filter(None, (laptop.asked_of_chains if is_installed("wallets") else "", missing_line())):
            screen.say(line)
        if beside:
            threading.Thread(target=beside, args=(laptop, screen), daemon=True).start()
        keep_up(laptop, screen)
    return True


def first_sync(laptop: Laptop, screen: Screen, engine: SearchEngine = EMBEDDED) -> Outcome:
    """Pushes the folder as it is, or, when the store of an earlier start may be at it already, asks for a look."""
    began = time.monotonic()
    try:
        if len(laptop.push_each()) < len(laptop.repositories):
            laptop.poke()
    except SnapshotFailed as error:
        raise CommandError(f"The folder cannot be read: {error}", "Fix this and start again.") from error
    except httpx.HTTPError as error:
        raise CommandError(f"The webhook rejected the push: {error}", "See the logs above.") from error
    with screen.working("Syncing") as tell:
        follow(laptop, tell)
        if engine.elsewhere:
            laptop.reconcile()
    outcome = judge(laptop)
    screen.say(f"Synced {laptop.source.name} ({laptop.source.branch}) in {time.monotonic() - began:.1f} s")
    return outcome


def follow(laptop: Laptop, tell: Teller) -> None:
    """Waits until nothing runs and nothing waits, reporting progress. Raises CommandError when nothing moves."""
    seen: Progress | None = None
    moved = time.monotonic()
    while not laptop.idle():
        progress = laptop.progress()
        if progress != seen:
            seen, moved = progress, time.monotonic()
        elif time.monotonic() - moved > STALLED_SECONDS:
            raise CommandError(f"There was no progress for {STALLED_SECONDS} s.", "See the functions' logs.")
        tell(progress)
        time.sleep(LOOK_SECONDS)


def keep_up(laptop: Laptop, screen: Screen) -> None:
    """Runs until interrupted."""
    changed = threading.Event()
    changed.set()  # what was saved during the first sync
    watchers = [Watcher(one.source, changed.set) for one in laptop.repositories]
    folders = ", ".join(str(one.source.folder) for one in laptop.repositories if not one.source.origin)
    watching = f"watching {folders}" if folders else "fetched again at each start"
    ready = f"ready: {laptop.url} ({watching}; Ctrl-C ends it)"
    empty = laptop.workspace.is_empty
    try:
        for watcher in watchers:
            watcher.start()
        screen.say(f"Nothing to serve yet: {ADD_A_PAGE} ({watching}; Ctrl-C ends it)" if empty else ready)
        _follow_saves(laptop, screen, changed, first=ready if empty else None)
    finally:
        for watcher in watchers:
            watcher.stop()


def _follow_saves(laptop: Laptop, screen: Screen, changed: threading.Event, *, first: str | None = None) -> None:
    """`first` is said once there is something."""
    shown: dict[str, Move] = {}
    began, runs = 0.0, _runs(laptop)
    while True:
        if changed.wait(LOOK_AT_RUNS_SECONDS if shown else None):
            changed.clear()
            moves: dict[str, Move] = {}
            try:
                moves = laptop.push_each()
            except SnapshotFailed as error:  # a folder in motion: a checkout, a file being replaced
                screen.say(f"The folder cannot be read at the moment, retrying: {error}")
                time.sleep(AGAIN_SECONDS)
                changed.set()
            except httpx.HTTPError as error:
                trouble = "The next save, or the hourly check, repairs that."
                screen.say(f"The webhook rejected the push: {error}. {trouble}")
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
            if first and not laptop.workspace.is_empty:
                screen.say(first)
                first = None


def _runs(laptop: Laptop) -> dict[str, tuple[str | None, str | None]]:
    """Which run of each catalogue was the last to find something to do, and how it ended."""
    reports = {one.name: laptop.catalogue_report(one.name) for one in laptop.catalogues}
    return {name: (report.run, report.error) if report else (None, None) for name, report in reports.items()}


def told_of_catalogue(laptop: Laptop, name: str, seconds: float) -> Iterator[str]:
    """Yield what became of a catalogue some of whose files were saved."""
    report = laptop.catalogue_report(name)
    first, *more = catalogue_lines(name, report)
    if report is None or report.status != "published":
        yield from (first, *more)
        return
    counts = f"{len(report.added)} added, {len(report.changed)} changed, {len(report.removed)} removed"
    yield f"{first}; {counts}, indexed in {seconds:.1f} s"
    yield from more


def proposal_line(one: PullRequest) -> str:
    """Return what is said when an agent or a person has proposed a page."""
    return f"Proposal {one.number}: {clean(one.title)}; commonplace proposals apply {one.number}"


def told(laptop: Laptop, move: Move, seconds: float) -> Iterator[str]:
    """Yield what became of the files that were saved."""
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
    fates = {True: "previous version is served", False: "not published"}
    skipped = [item for item in report.skipped if item.path in paths]
    lines = [
        f"  {item.path}{place(item.problem)}: {fates[item.kept_last_good]}, "
        f"{sentence(item.problem) if item.problem else item.reason}"
        for item in skipped
    ]
    apart = paths - {item.path for item in skipped}
    lines += [
        f"  {finding_line(one)}" for one in report.findings if one.path in apart and one.problem.severity != "hint"
    ]
    yield from lines[:PATHS_TOLD]
    if len(lines) > PATHS_TOLD:
        yield f"  ... and {len(lines) - PATHS_TOLD} more: commonplace sync report"
    yield tally_line(report.tally)
