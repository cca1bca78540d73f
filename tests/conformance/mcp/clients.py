"""MCP clients that run on Node.js, installed from the lock file beside this module, once for each version of it."""

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from commonplace_local.locks import held
from infra.node import command, provide_node

HERE = Path(__file__).parent
FOLDER = HERE.parents[2] / ".tools" / "mcp-clients"
INSTALL_SECONDS = 600
RUN_SECONDS = 240


class NotInstalled(Exception):
    """There is no Node.js, or the packages did not come."""


@dataclass(frozen=True, slots=True)
class Clients:
    """The installed programs. `home` is where they may write, in place of the user's own folder."""

    folder: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """The pinned Node.js is found first, and no proxy of the machine stands before a loopback address."""
        path = os.pathsep.join([str(self.folder / "node_modules" / ".bin"), os.environ.get("PATH", "")])
        return os.environ | {"PATH": path, "HOME": str(self.home), "NO_PROXY": "127.0.0.1,localhost", "CI": "1"}

    def command(self, program: str, *arguments: str) -> list[str]:
        """`program` is a path below `node_modules`, so that no shell and no shebang choose another Node.js."""
        node = shutil.which("node", path=self.environment["PATH"])
        return [str(node), str(self.folder / "node_modules" / program), *arguments]

    def run(
        self, program: str, *arguments: str, seconds: float = RUN_SECONDS, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(program, *arguments),
            env=self.environment | variables,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )


def install(home: Path, here: Path = HERE, folder: Path = FOLDER) -> Clients:
    """Raises NotInstalled. Nothing is downloaded when the lock file `here` is the one of the last time."""
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder / "install.lock"):
        lock = (here / "package-lock.json").read_bytes()
        stamp, wanted = folder / "installed", hashlib.sha256(lock).hexdigest()
        if not stamp.exists() or stamp.read_text() != wanted:
            stamp.unlink(missing_ok=True)
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copyfile(here / name, folder / name)
            _npm_ci(folder)
            stamp.write_text(wanted)
    return Clients(folder, home)


def or_skipped(home: Path, here: Path = HERE, folder: Path = FOLDER) -> Clients:
    """Without npm or its registry tests are left out aloud; in CI they fail: nobody reads there what was left out."""
    try:
        return install(home, here, folder)
    except NotInstalled as missing:
        told = f"No packages of Node.js: {missing}"
    if os.environ.get("CI", "").lower() in ("", "0", "false"):
        pytest.skip(told)
    pytest.fail(told)


def _npm_ci(folder: Path) -> None:
    if provide_node() is None:
        raise NotInstalled("there is no Node.js; `make setup-all` brings one")
    words = command(["npm", "ci"])
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"`npm ci` did not end well: {error}") from error
    if done.returncode != 0:
        raise NotInstalled(f"`npm ci` failed: {done.stderr[-2000:]}")
