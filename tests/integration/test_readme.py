"""What README and REST page say happens: `commonplace dev` serves the sample, and the curl lines answer as printed."""

import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.unit.docs.examples import Example, differences, examples
from tests.unit.docs.pages import ROOT

pytestmark = pytest.mark.laptop

PAGES = (ROOT / "README.md", ROOT / "docs" / "rest-api.md")
READY = "ready: http://"
START_SECONDS = 180
STOP_SECONDS = 30


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_until_ready(process: subprocess.Popen[bytes], log: Path) -> None:
    """Until it says where to look, which it does once everything is stored and indexed."""
    deadline = time.monotonic() + START_SECONDS
    while READY not in (told := log.read_text(encoding="utf-8")):
        assert process.poll() is None, told
        assert time.monotonic() < deadline, told
        threading.Event().wait(0.5)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    number = free_port()
    log = tmp_path_factory.mktemp("readme") / "dev.log"
    command = [str(Path(sys.executable).with_name("commonplace")), "dev", "--port", str(number)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_until_ready(process, log)
        yield number
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


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
    assert differences(example, run(example.command, port)) == []
