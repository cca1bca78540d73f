"""A real browser. Chromium of the machine, else the one that Playwright has downloaded."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser that ends with the block. Skips the test aloud where there is none; on CI that is a failure."""
    with sync_playwright() as playwright:
        executable = found(Path(playwright.chromium.executable_path))
        if executable is None:
            missing()
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def found(downloaded: Path) -> str | None:
    """The executable, or None."""
    own = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    return own or (str(downloaded) if downloaded.exists() else None)


def missing() -> None:
    told = "no Chromium: `apt-get install chromium`, or `python -m playwright install --with-deps chromium`"
    if os.environ.get("CI"):
        pytest.fail(told, pytrace=False)
    pytest.skip(told)
