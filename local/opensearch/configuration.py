"""What a node is told: its settings, its Java options, its environment."""

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
