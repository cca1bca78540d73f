"""`commonplace` as its user meets it: a process, its output, its exit code, and what it leaves behind."""

import gc
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import httpx
from typer.testing import CliRunner

from commonplace_local import cli
from tests.integration.repositories import Clone, document
from tests.unit.docs.pages import ROOT

COMMAND = [str(Path(sys.executable).with_name("commonplace"))]
START_SECONDS = 180
EDIT_SECONDS = 120
STOP_SECONDS = 60


def garden(folder: Path) -> Clone:
    user = Clone(folder)
    user.write("index.md", document("Home", "Hello.\n", type="index"))
    user.write("docs/crabs.md", document("Crabs", "Crabs walk sideways.\n", type="article"))
    user.write("docs/hidden.md", document("Hidden", "Nobody sees it.\n", publish=False))
    user.commit("Start")
    return user


class Serving:
    """A running `commonplace dev` on a free port, its output read line by line."""

    def __init__(self, *options: str) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [*COMMAND, "dev", "--port", "0", *options],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    @property
    def url(self) -> str:
        found = re.search(r"^ready: (\S+)", self.output, re.MULTILINE)
        assert found, self.output
        return found[1]

    def wait_for(self, line: str, seconds: float = START_SECONDS) -> None:
        wait(lambda: line in self.output or self.process.poll() is not None, seconds)
        assert line in self.output, self.output

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        code = self.process.wait(STOP_SECONDS)
        self._reader.join(STOP_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))


class Dev(Serving):
    """Of a clone, and with a data folder of its own."""

    def __init__(self, user: Clone, data: Path, *options: str) -> None:
        self.user, self.data = user, data
        super().__init__(str(user.folder), "--data", str(data), *options)


@contextmanager
def serving(*options: str) -> Iterator[Serving]:
    """The sample, ready; ended as a reader ends it."""
    dev = Serving(*options)
    try:
        dev.wait_for("ready:")
        yield dev
    finally:
        try:
            dev.end()
        except subprocess.TimeoutExpired:
            dev.end(signal.SIGKILL)


@contextmanager
def running(folder: Path, *options: str) -> Iterator[Dev]:
    with started(garden(folder / "garden"), folder / "data", *options) as dev:
        yield dev


@contextmanager
def started(user: Clone, data: Path, *options: str) -> Iterator[Dev]:
    """Over any clone; it is ready, and killed at the end if nobody has ended it."""
    dev = Dev(user, data, *options)
    try:
        dev.wait_for("ready:")
        yield dev
    finally:
        if dev.process.poll() is None:
            dev.end(signal.SIGKILL)


def wait(condition: Any, seconds: float) -> None:
    """Until the condition holds or the time is over; the caller asserts."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        threading.Event().wait(0.1)


def separately(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as one that starts a laptop cloud must be."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=START_SECONDS, check=False)


def commonplace(*arguments: str, at: Path = ROOT, input: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, in the folder `at`: a process of its own spends most of its time on imports.

    A command leaves its connections to the end of its process, which is not the end of this one.
    """
    with chdir(at), warnings.catch_warnings(action="ignore", category=ResourceWarning):
        done = CliRunner().invoke(cli.app, arguments, input=input)
        gc.collect()
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def descendants(pid: int) -> set[int]:
    """Living processes below this one."""
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    parents = {int(line.split()[0]): int(line.split()[1]) for line in table.splitlines() if "Z" not in line.split()[2]}
    below = {pid}
    while found := {child for child, parent in parents.items() if parent in below} - below:
        below |= found
    return (below - {pid}) & parents.keys()


def alive(pids: set[int]) -> set[int]:
    table = subprocess.run(["ps", "-A", "-o", "pid=,stat="], capture_output=True, text=True, check=True).stdout
    return pids & {int(line.split()[0]) for line in table.splitlines() if "Z" not in line.split()[1]}


def found(url: str, text: str) -> list[str]:
    answer = httpx.get(f"{url}/api/v1/search", params={"q": text}, timeout=60, trust_env=False)
    return [hit["title"] for hit in answer.json().get("results", [])]
