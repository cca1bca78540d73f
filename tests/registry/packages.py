"""Files that others wrote, out of packages of the npm registry: what generators are tried on.

`packages.json` beside this module pins each package by version and hash. A package is downloaded once for each version,
nothing of it is run, and of its files only the named ones are kept. Without npm or its registry a test is left out
aloud; in CI it fails, for nobody reads there what was left out.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest

from commonplace_local.locks import held
from infra.node import command, provide_node

PINNED = Path(__file__).with_name("packages.json")
FOLDER = PINNED.parents[2] / ".tools" / "registry"
DOWNLOAD_SECONDS = 600
MAX_FILE_BYTES = 64_000_000


class NotInstalled(Exception):
    """There is no npm, the package did not come, or it is not the one that is pinned."""


def file_of(package: str, path: str) -> Path:
    """A file of a package, or a test that is left out; `path` is as `packages.json` names it."""
    try:
        return installed(package) / path
    except NotInstalled as missing:
        told = f"No {package}: {missing}"
    if os.environ.get("CI", "").lower() in ("", "0", "false"):
        pytest.skip(told)
    pytest.fail(told)


def installed(package: str) -> Path:
    """The folder with the named files. Raises NotInstalled. Nothing is downloaded that is there already."""
    pinned = json.loads(PINNED.read_text())[package]
    wanted = hashlib.sha256(json.dumps(pinned, sort_keys=True).encode()).hexdigest()
    folder = FOLDER / f"{package.strip('@').replace('/', '+')}-{pinned['version']}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with held(FOLDER / "install.lock"):
        stamp = folder / "installed"
        if not stamp.exists() or stamp.read_text() != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
                _unpack(_downloaded(package, pinned, Path(scratch)), pinned["files"], folder)
            stamp.write_text(wanted)
    return folder


def _downloaded(package: str, pinned: dict[str, Any], scratch: Path) -> Path:
    if provide_node() is None:
        raise NotInstalled("there is no Node.js; `make setup-all` brings one")
    words = command(["npm", "pack", f"{package}@{pinned['version']}", "--ignore-scripts", "--silent"])
    try:
        done = subprocess.run(words, cwd=scratch, capture_output=True, text=True, check=False, timeout=DOWNLOAD_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"`npm pack` did not end well: {error}") from error
    found = list(scratch.glob("*.tgz"))
    if done.returncode != 0 or len(found) != 1:
        raise NotInstalled(f"`npm pack` failed: {done.stderr[-2000:]}")
    digest = base64.b64encode(hashlib.sha512(found[0].read_bytes()).digest()).decode()
    if f"sha512-{digest}" != pinned["integrity"]:
        raise NotInstalled("the package is not the one whose hash is pinned")
    return found[0]


def _unpack(archive: Path, files: list[str], folder: Path) -> None:
    """Only regular files, by name: no path of the archive decides where anything is written."""
    with tarfile.open(archive) as opened:
        for name in files:
            try:
                member = opened.extractfile(name)
            except KeyError:
                member = None
            if member is None:
                raise NotInstalled(f"there is no {name} in it")
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(member.read(MAX_FILE_BYTES))
