"""A real browser: Chromium of the machine, else one that is fetched; and axe, which reads its pages."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest
from playwright.sync_api import Browser, sync_playwright

from commonplace_local.locks import held
from infra.node import command, provide_node

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / ".tools" / "chromium"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL_SECONDS = 600
UNPACK = "import('@sparticuz/chromium').then(async ({default: own}) => console.log(await own.executablePath()))"
LIBRARIES = "al2023/lib"
"""Beside the fetched program: what it needs of a system, for one that has little."""
FOREIGN = "elsewhere.test"
"""The host of another site, whose name server says that it is this machine (DNS rebinding)."""
ARGUMENTS = (
    "--no-sandbox",
    f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1",
    "--disable-features=LocalNetworkAccessChecks",  # most browsers let pages of the Internet call this machine
)


class NotInstalled(Exception):
    """There is no browser, and none came."""


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser that ends with the block. Without one the test is left out aloud, and in CI it fails."""
    executable = _or_skipped()
    with sync_playwright() as playwright:
        own = environment(executable)
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS, env={**own})
        try:
            yield browser
        finally:
            browser.close()


def environment(program: Path) -> dict[str, str]:
    """What the program is started with."""
    libraries = program.parent / LIBRARIES
    more = {"LD_LIBRARY_PATH": str(libraries)} if libraries.exists() and not _starts(program) else {}
    return {**os.environ, **more}


def provided() -> Path:
    """The program. Raises NotInstalled."""
    named = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    return Path(named) if named else _fetched()


def _or_skipped() -> Path:
    try:
        return provided()
    except NotInstalled as missing:
        return _left_out(f"No Chromium: {missing}. `apt-get install chromium` brings one.")


def _left_out(told: str) -> NoReturn:
    if os.environ.get("CI", "").lower() in ("", "0", "false"):
        pytest.skip(told)
    pytest.fail(told)


def axe() -> str:
    """The program of axe-core, to be run in a page. Without it the test is left out aloud, and in CI it fails."""
    try:
        return (packages(HERE, FOLDER) / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    except NotInstalled as missing:
        return _left_out(f"No axe-core: {missing}.")


def _fetched() -> Path:
    """From the packages that the lock file names, once. Its libraries come along for machines that have none."""
    program = FOLDER / "chromium"
    if sys.platform != "linux":
        raise NotInstalled("it is fetched on Linux only")
    packages(HERE, FOLDER)
    with held(FOLDER / "install.lock"):
        if not program.exists():
            _run(FOLDER, "node", "--input-type=module", "--eval", UNPACK)
    if not program.exists():
        raise NotInstalled("the package holds none for this machine")
    return program


def packages(source: Path, folder: Path) -> Path:
    """Where the packages are that the lock file of a folder names, installed once for each. Raises NotInstalled."""
    if provide_node() is None:
        raise NotInstalled("it is fetched with Node.js, and there is none")
    done, wanted = folder / "installed.json", (source / "package-lock.json").read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder / "install.lock"):
        if not done.exists() or done.read_bytes() != wanted:
            for file in (source / "package.json", source / "package-lock.json", HERE / ".npmrc"):
                shutil.copyfile(file, folder / file.name)
            _run(folder, "npm", "ci")
            done.write_bytes(wanted)
    return folder / "node_modules"


def _run(folder: Path, *words: str) -> None:
    # Unpacked as for a function on AWS, so that its libraries are unpacked as well.
    environment = {**os.environ, "TMPDIR": str(folder), "AWS_LAMBDA_JS_RUNTIME": "nodejs22.x"}
    try:
        done = subprocess.run(
            command(list(words)),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"`{words[0]}` did not end well: {error}") from error
    if done.returncode != 0:
        raise NotInstalled(f"`{words[0]}` failed: {done.stderr[-1000:]}")


def _starts(program: Path) -> bool:
    """Whether the system has every library that the program needs."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
