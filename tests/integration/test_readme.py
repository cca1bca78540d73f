"""What README and REST page say happens: `commonplace dev` serves the sample, and the curl lines answer as printed."""

import shutil
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from tests.integration.running_dev import serving
from tests.unit.docs.examples import Example, differences, examples
from tests.unit.docs.pages import ROOT

pytestmark = pytest.mark.laptop

PAGES = (ROOT / "README.md", ROOT / "docs" / "rest-api.md")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving() as dev:
        yield int(dev.url.rsplit(":", 1)[1])


def run(command: tuple[str, ...], port: int) -> str:
    """By curl where there is one; what the line asks for is the same without it."""
    words = [word.replace("127.0.0.1:8787", f"127.0.0.1:{port}") for word in command]
    if shutil.which("curl"):
        return subprocess.run(words, check=True, capture_output=True, timeout=60).stdout.decode()
    if "-d" in words:
        kind = {"content-type": "application/json"}
        return httpx.post(words[-1], content=words[words.index("-d") + 1], headers=kind, timeout=60).text
    return httpx.get(words[-1], timeout=60).text


@pytest.mark.parametrize(
    "example", [example for page in PAGES for example in examples(page)], ids=lambda example: example.name
)
def test_a_curl_line_answers_as_printed(example: Example, port: int) -> None:
    answer = run(example.command, port).replace(f"127.0.0.1:{port}", "127.0.0.1:8787")
    assert differences(example, answer) == []
