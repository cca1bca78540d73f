"""The node as a process: started, recognised, ended. Nothing is signalled that is not surely ours."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from local.errors import CommandError
from local.opensearch.configuration import Options, environment
from local.opensearch.java import Java
from local.opensearch.user import as_node

KEEPER = Path(__file__).with_name("keeper.py")
PROCESSES = Path("/proc")
"""Linux has it, macOS does not."""

STOP_SECONDS = 40
LOOK_SECONDS = 0.1
LOOKS = 10


@dataclass(frozen=True, slots=True)
class Started:
    """A node that was just started. `owner` is the keeper, when the node is to end with this process."""

    pid: int
    owner: "subprocess.Popen[bytes] | None"


def launch(
    state: Path, program: Path, java: Java, options: Options, *, detached: bool, wipe: Path | None = None
) -> Started:
    """Starts the prepared node and returns at once. Raises CommandError when it cannot even be started."""
    wanted = {
        "command": [str(program / "bin" / "opensearch"), "-p", str(pid_file(state))],
        "environment": environment(state, java, options),
        "folder": str(program),
        "log": str(console(state)),
        "user": as_node(),
        "detached": detached,
        "wipe": str(wipe) if wipe else None,
    }
    keeper = subprocess.Popen(
        [sys.executable, "-I", str(KEEPER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    tell, told = _pipes(keeper)
    with suppress(BrokenPipeError):
        tell.write(json.dumps(wanted).encode() + b"\n")
        tell.flush()
    with told:
        answer = told.readline().decode().strip()
    if not answer.isdigit():
        _close(keeper)
        raise CommandError("OpenSearch could not be started.", f"{wanted['command']}: see what is said above.")
    if detached:
        _close(keeper)
    return Started(int(answer), None if detached else keeper)


def release(owner: "subprocess.Popen[bytes]") -> None:
    """Has the keeper end its node, and waits until both are gone."""
    _close(owner)


def is_ours(pid: int, state: Path) -> bool:
    """Whether this process is the node of this state; numbers are given again after a restart of the machine."""
    for _ in range(LOOKS):
        command = command_of(pid)
        if command:
            return f"-p {pid_file(state)}" in command and "opensearch" in command
        if not _exists(pid):
            return False
        time.sleep(LOOK_SECONDS / LOOKS)  # while a process becomes another program, it has no command line
    return False


def command_of(pid: int) -> str:
    """The command line of a living process; empty when there is none."""
    with suppress(OSError):
        if PROCESSES.is_dir():
            return (PROCESSES / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        return _command_by_ps(pid)
    return ""


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _command_by_ps(pid: int) -> str:
    asked = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def end(pid: int, state: Path, seconds: float = STOP_SECONDS) -> bool:
    """Ends the node, gently first, and waits until it is gone. False when the process is not ours, or gone already."""
    if not is_ours(pid, state):
        return False
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if not _gone(pid, state, seconds):
        kill(pid, state)
    return True


def kill(pid: int, state: Path) -> None:
    """Ends the node at once, as a crash does, and waits until it is gone."""
    if is_ours(pid, state):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _gone(pid, state, STOP_SECONDS)


def pid_file(state: Path) -> Path:
    return state / "pid"


def console(state: Path) -> Path:
    return state / "console.log"


def _gone(pid: int, state: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_ours(pid, state):
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("The keeper was started without pipes.")
    return process.stdin, process.stdout


def _close(keeper: "subprocess.Popen[bytes]") -> None:
    if keeper.stdin and not keeper.stdin.closed:
        with suppress(OSError):
            keeper.stdin.close()
    keeper.wait()
