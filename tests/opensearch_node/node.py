"""A node of this process: it listens on the loopback interface alone and ends with its owner, however that ends.

OpenSearch refuses to run as root, so root lends it a number that no account has.
"""

import json
import os
import re
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from commonplace_local.errors import CommandError
from commonplace_local.project import PROJECT
from tests.opensearch_node.java import Java, find_java
from tests.opensearch_node.program import ensure_program

UID = 10900
"""A bare number: the node needs neither an account nor a group of that name."""

HOME_VARIABLE = "COMMONPLACE_OPENSEARCH_HOME"
FAST = "-XX:TieredStopAtLevel=1"
"""Only the first of two compilers: up in two thirds of the time, and slower ever after. For tests, not for figures."""

NO_ORIGIN = "https://nobody.invalid"
"""No page can have this origin (RFC 6761); pages of every other origin are refused with 403."""

START_SECONDS = 240
"""On a busy machine a start takes ten times what it takes on a quiet one."""

LOOK_SECONDS = 0.2
LINES_SHOWN = 12
KEEPER = Path(__file__).with_name("keeper.py")
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_UNWANTED = re.compile(r"-Xlog:gc|HeapDump|ErrorFile|-Xloggc")
"""These write into the program's folder, where a node may not write."""


class NoAnswer(Exception):
    """The node does not answer, or not with success; `status` is None when nothing came back."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def ask(url: str, path: str, body: Any = None, *, method: str | None = None, seconds: float = 60) -> Any:
    """Return the parsed answer. A list is sent as one JSON object a line. Raises NoAnswer."""
    lines = "".join(json.dumps(line) + "\n" for line in (body if isinstance(body, list) else [body]))
    kind = "application/x-ndjson" if isinstance(body, list) else "application/json"
    data = None if body is None else lines.encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": kind}, method=method)
    try:
        with _DIRECT.open(request, timeout=seconds) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            raise NoAnswer(f"{error.code}: {error.read(2000).decode(errors='replace')}", error.code) from error
    except (OSError, ValueError) as error:
        raise NoAnswer(str(error)) from error


def can_enter(path: Path) -> bool:
    """Return whether the node's user gets to this file or folder: every folder above it must let others pass."""
    if os.geteuid() != 0:
        return True
    path = path.resolve()
    there = [folder.stat() for folder in (path, *path.parents) if folder.exists()]
    return all(state.st_mode & (stat.S_IXUSR if state.st_uid == UID else stat.S_IXOTH) for state in there)


def program_home() -> Path:
    """Return the folder of the program: the one that a variable names, the project's own, or one in /var/tmp."""
    if given := os.environ.get(HOME_VARIABLE):
        return Path(given)
    inside = PROJECT / ".tools" / "opensearch"
    shared = Path("/var/tmp", f"commonplace-opensearch-{os.geteuid()}")  # one for each user, since its content is run
    if can_enter(inside):
        return inside
    if shared.exists() and shared.stat().st_uid != os.geteuid():
        raise CommandError(f"{shared} belongs to another user.", f"Name a folder in {HOME_VARIABLE}.")
    return shared


class OwnedNode:
    """A node whose data goes with it. `fast` trades speed later for an early start."""

    def __init__(self, *, fast: bool = False, heap: str = "512m") -> None:
        self._options = [f"-Xms{heap}", f"-Xmx{heap}", "-XX:-AlwaysPreTouch", *([FAST] if fast else [])]
        self._cluster = f"commonplace-{secrets.token_hex(6)}"
        self._port = 0
        self._keeper: subprocess.Popen[bytes] | None = None
        self.folder: Path | None = None
        """Where its data is; None before the first start."""
        self.pid = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        if not self._port:
            raise RuntimeError("The node does not run.")
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Return when the node is healthy. Raises RequirementMissing, or CommandError with nothing left running."""
        java = find_java(os.environ, enters=can_enter)
        program = ensure_program(program_home(), java)
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="commonplace-node-", dir="/var/tmp"))
        try:
            self._prepare(self.folder, program)
            self._launch(self.folder, program, java)
            self._wait_until_ready(self.folder)
        except BaseException:
            self.stop()
            raise

    restart = start
    """Start a node that was killed again, at the same address and with what it had stored."""

    def stop(self) -> None:
        """End the node, and wait until it and its data are gone."""
        if self._keeper and self._keeper.stdin:
            self._keeper.stdin.close()
            self._keeper.wait()
        self._keeper, self._port = None, 0
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    def kill(self) -> None:
        """End the node as a power cut does."""
        os.kill(self.pid, signal.SIGKILL)
        if self._keeper and self._keeper.stdin:
            self._keeper.wait()  # before its input closes, or it would clear the data away
            self._keeper.stdin.close()
        self._keeper = None

    def _prepare(self, state: Path, program: Path) -> None:
        """Write the node's folders and configuration; what it has stored stays."""
        for name in ("data", "logs", "tmp", "snapshots"):
            (state / name).mkdir(exist_ok=True)
        (state / "logs" / "http.ports").unlink(missing_ok=True)  # an earlier run's would be taken for this one's
        shutil.copytree(program / "config", state / "config", dirs_exist_ok=True)
        options = (program / "config" / "jvm.options").read_text(encoding="utf-8").splitlines(keepends=True)
        wanted = "".join(line for line in options if not _UNWANTED.search(line))
        (state / "config" / "jvm.options").write_text(wanted, encoding="utf-8")
        settings = {
            "cluster.name": self._cluster,
            "node.name": "laptop",
            "discovery.type": "single-node",
            "network.host": "127.0.0.1",  # there is neither a password nor TLS
            "http.port": self._port,
            "transport.port": 0,
            "node.portsfile": True,  # so that it chooses a free port itself and writes down which
            "path.data": str(state / "data"),
            "path.logs": str(state / "logs"),
            "path.repo": [str(state / "snapshots")],
            "http.cors.enabled": True,  # off, it would do what a page asks, and only not let the page read the answer
            "http.cors.allow-origin": NO_ORIGIN,
            "action.auto_create_index": False,  # a write to a missing alias must not make an index of that name
            "cluster.routing.allocation.disk.threshold_enabled": False,
        }
        lines = "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())  # JSON is YAML
        (state / "config" / "opensearch.yml").write_text(lines, encoding="utf-8")
        if os.geteuid() == 0:
            for path in (state, *state.rglob("*")):
                os.chown(path, UID, UID, follow_symlinks=False)

    def _launch(self, state: Path, program: Path, java: Java) -> None:
        wanted = {
            "command": [str(program / "bin" / "opensearch")],
            "environment": {  # nothing of the user's but where programs are: no credentials reach the node
                "PATH": os.environ.get("PATH", os.defpath),
                "HOME": str(state / "tmp"),
                "OPENSEARCH_JAVA_HOME": str(java.home),
                "OPENSEARCH_PATH_CONF": str(state / "config"),
                "OPENSEARCH_TMPDIR": str(state / "tmp"),
                "OPENSEARCH_JAVA_OPTS": " ".join(self._options),
            },
            "folder": str(program),
            "log": str(state / "console.log"),
            "user": {"user": UID, "group": UID, "extra_groups": []} if os.geteuid() == 0 else {},
            "wipe": str(state),
        }
        self._keeper = keeper = subprocess.Popen(
            [sys.executable, "-I", str(KEEPER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert keeper.stdin
        assert keeper.stdout
        with suppress(BrokenPipeError):
            keeper.stdin.write(json.dumps(wanted).encode() + b"\n")
            keeper.stdin.flush()
        with keeper.stdout as output:
            answer = output.readline().decode().strip()
        if not answer.isdigit():
            raise CommandError("OpenSearch could not be started.", f"{wanted['command']}: the error is above.")
        self.pid = int(answer)

    def _wait_until_ready(self, state: Path) -> None:
        deadline = time.monotonic() + START_SECONDS
        trouble = f"OpenSearch was not ready within {START_SECONDS} s."
        while time.monotonic() < deadline:
            if self._keeper is None or self._keeper.poll() is not None:
                trouble = "OpenSearch ended while it started."
                break
            with suppress(OSError, NoAnswer, IndexError):  # it is not there yet
                ports = re.findall(r"^127\.0\.0\.1:(\d+)$", (state / "logs" / "http.ports").read_text(), re.MULTILINE)
                health = ask(
                    f"http://127.0.0.1:{ports[0]}", "/_cluster/health?wait_for_status=yellow&timeout=1s", seconds=5
                )
                if health["cluster_name"] == self._cluster and not health["timed_out"]:
                    self._port = int(ports[0])
                    return
            time.sleep(LOOK_SECONDS)
        console = (state / "console.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise CommandError(trouble, "\n".join(console[-LINES_SHOWN:]))
