"""Git objects through long-lived `git cat-file --batch` processes: a blob costs a pipe, not a process."""

import queue
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from local.github.git import GitError, neutral_environment

NAME = re.compile(r"[^\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class GitObject:
    sha: str
    kind: str
    body: bytes


class ObjectReader:
    """Reads objects by id or by any other name that Git resolves. Safe to use from many threads."""

    def __init__(self, git_dir: Path, processes: int = 4) -> None:
        self._git_dir = git_dir
        self._idle: queue.LifoQueue[subprocess.Popen[bytes] | None] = queue.LifoQueue()
        self._count = processes
        for _ in range(processes):
            self._idle.put(None)

    def read(self, name: str) -> GitObject | None:
        """The object, or None when nothing has that name."""
        if not NAME.fullmatch(name):
            return None
        process = self._idle.get()
        try:
            process = process or self._start()
            found = _ask(process, name)
        except (OSError, ValueError) as error:
            if process is not None:
                _end(process)
            process = None
            raise GitError("git cat-file ended") from error
        finally:
            self._idle.put(process)
        return found

    def close(self) -> None:
        """Ends every process; waits for reads that are under way."""
        for _ in range(self._count):
            if (process := self._idle.get()) is not None:
                _end(process)
        for _ in range(self._count):
            self._idle.put(None)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["git", f"--git-dir={self._git_dir}", "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=neutral_environment(),
            start_new_session=True,
        )


def _ask(process: subprocess.Popen[bytes], name: str) -> GitObject | None:
    request, answer = _pipes(process)
    request.write(name.encode("utf-8", "surrogateescape") + b"\n")
    request.flush()
    header = answer.readline()
    if not header:
        raise ValueError("no answer")
    if header.endswith((b" missing\n", b" ambiguous\n")):
        return None
    sha, kind, size = header.decode().split()
    body = answer.read(int(size))
    answer.read(1)
    return GitObject(sha, kind, body)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise ValueError("no pipes")
    return process.stdin, process.stdout


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()
