"""The packages of Node.js that the tests of the chain need: a native node, and the compiler in JavaScript.

Installed from the lock file beside this module, once for each version of it. What is missing is said aloud: a test is
left out, and in CI it fails.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from commonplace_local.locks import held
from infra.node import command, provide_node

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / ".tools" / "chain"
INSTALL_SECONDS = 600

_SYSTEMS = {"linux": "linux", "darwin": "darwin", "windows": "win32"}
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "arm64": "arm64", "aarch64": "arm64"}

T = TypeVar("T")


class NotInstalled(Exception):
    """There is no Node.js, the packages did not come, or there is none for this machine."""


def installed() -> Path:
    """The folder that holds `node_modules`. Raises NotInstalled. Downloads only what the lock file changed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with held(FOLDER / "install.lock"):
        stamp, wanted = FOLDER / "installed", hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
        if not stamp.exists() or stamp.read_text() != wanted:
            stamp.unlink(missing_ok=True)
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copyfile(HERE / name, FOLDER / name)
            _npm("ci")
            if not _anvil().exists():
                _npm("install", "--no-save", "--no-package-lock", f"{_package()}@{_version()}")
            stamp.write_text(wanted)
    return FOLDER


def anvil() -> Path:
    """The node's own program, not the script around it: ending that would leave the chain running."""
    installed()
    if not _anvil().exists():
        raise NotInstalled(f"there is no {_package()}")
    return _anvil()


def or_skipped(make: Callable[[], T]) -> T:
    """What `make` gives; without the packages the test is left out, and in CI it fails."""
    try:
        return make()
    except NotInstalled as missing:
        told = f"No local chain: {missing}"
    if os.environ.get("CI", "").lower() in ("", "0", "false"):
        pytest.skip(told)
    pytest.fail(told)


def _package() -> str:
    system, machine = platform.system().lower(), platform.machine().lower()
    return f"@foundry-rs/anvil-{_SYSTEMS.get(system, system)}-{_MACHINES.get(machine, machine)}"


def _version() -> str:
    """That of the node in the lock file, which names one platform; the others are released together."""
    wanted = json.loads((HERE / "package.json").read_text())["optionalDependencies"]
    return str(next(iter(wanted.values())))


def _anvil() -> Path:
    folder = FOLDER / "node_modules" / _package() / "bin"
    return folder / ("anvil.exe" if platform.system() == "Windows" else "anvil")


def _npm(*arguments: str) -> None:
    if provide_node() is None:
        raise NotInstalled("there is no Node.js; `make setup-all` brings one")
    words = command(["npm", *arguments])
    try:
        done = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"`npm {arguments[0]}` did not end well: {error}") from error
    if done.returncode != 0:
        raise NotInstalled(f"`npm {arguments[0]}` failed: {done.stderr[-2000:]}")
