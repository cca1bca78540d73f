"""The process of a node: its settings, start, identification and end. Signals go to a process of ours alone."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from local.errors import CommandError
from local.opensearch.folders import as_node
from local.opensearch.java import Java

FAST = "-XX:TieredStopAtLevel=1"
"""Only the first of two compilers: up in two thirds of the time, and slower ever after. For tests, not for figures."""

HEAP = "512m"
ANY_PORT = 0
NO_ORIGIN = "https://nobody.invalid"
"""Nobody can have it (RFC 6761); pages of every other origin are 403."""
FOLDERS = ("data", "logs", "tmp", "snapshots", "config")
_UNWANTED = re.compile(r"-Xlog:gc|HeapDump|ErrorFile|-Xloggc")
"""These write into the program's folder, where a node may not write."""

KEEPER = Path(__file__).with_name("keeper.py")
PROCESSES = Path("/proc")
"""Linux has it, macOS does not."""

STOP_SECONDS = 40
LOOK_SECONDS = 0.1
LOOKS = 10


@dataclass(frozen=True, slots=True)
class Options:
    """How a node is to run. `port` 0 takes any free one; `fast` trades speed later for an early start."""

    port: int = ANY_PORT
    heap: str = HEAP
    fast: bool = False


def prepare(state: Path, program: Path, cluster: str, port: int) -> None:
    """Writes the node's folders and configuration; what it has stored stays."""
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in FOLDERS:
        (state / name).mkdir(exist_ok=True)
    for name in ("pid", "logs/http.ports"):  # what an earlier run left would be taken for this one's
        (state / name).unlink(missing_ok=True)
    shutil.copytree(program / "config", state / "config", dirs_exist_ok=True)
    options = (program / "config" / "jvm.options").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = "".join(line for line in options if not _UNWANTED.search(line))
    (state / "config" / "jvm.options").write_text(kept, encoding="utf-8")
    settings = settings_text(state, cluster, port)
    (state / "config" / "opensearch.yml").write_text(settings, encoding="utf-8")


def settings_text(state: Path, cluster: str, port: int) -> str:
    """`opensearch.yml`; JSON values are YAML. It listens on this machine only: there is neither a password nor TLS."""
    settings = {
        "cluster.name": cluster,
        "node.name": "laptop",
        "discovery.type": "single-node",
        "network.host": "127.0.0.1",
        "http.port": port,
        "transport.port": ANY_PORT,
        "node.portsfile": True,  # so that it chooses a free port itself and tells which
        "path.data": str(state / "data"),
        "path.logs": str(state / "logs"),
        "path.repo": [str(state / "snapshots")],
        "http.cors.enabled": True,  # off, it would do what a page asks, and only not let the page read the answer
        "http.cors.allow-origin": NO_ORIGIN,
        "action.auto_create_index": False,  # a write to a missing alias must not make an index of that name
        "cluster.routing.allocation.disk.threshold_enabled": False,
    }
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())


def environment(state: Path, java: Java, options: Options, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Nothing of the user's but where programs are: no credentials reach the node."""
    flags = [f"-Xms{options.heap}", f"-Xmx{options.heap}", "-XX:-AlwaysPreTouch", *([FAST] if options.fast else [])]
    return {
        "PATH": environ.get("PATH", os.defpath),
        "HOME": str(state / "tmp"),
        "OPENSEARCH_JAVA_HOME": str(java.home),
        "OPENSEARCH_PATH_CONF": str(state / "config"),
        "OPENSEARCH_TMPDIR": str(state / "tmp"),
        "OPENSEARCH_JAVA_OPTS": " ".join(flags),
    }


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
    assert keeper.stdin is not None  # noqa: S101  asked for a pipe
    assert keeper.stdout is not None  # noqa: S101
    with suppress(BrokenPipeError):
        keeper.stdin.write(json.dumps(wanted).encode() + b"\n")
        keeper.stdin.flush()
    with keeper.stdout as told:
        answer = told.readline().decode().strip()
    if not answer.isdigit():
        release(keeper)
        raise CommandError("OpenSearch could not be started.", f"{wanted['command']}: see what is said above.")
    if detached:
        release(keeper)
    return Started(int(answer), None if detached else keeper)


def release(keeper: "subprocess.Popen[bytes]") -> None:
    """Has the keeper end its node, and waits until both are gone."""
    if keeper.stdin and not keeper.stdin.closed:
        with suppress(OSError):
            keeper.stdin.close()
    keeper.wait()


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
        asked = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return ""


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


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
