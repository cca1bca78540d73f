"""Every command of docs/start/tutorial.md runs as shown, in its order, and answers as printed."""

import shlex
import shutil
import signal
import subprocess
from itertools import zip_longest
from pathlib import Path

import httpx
import pytest

from tests.integration.running_dev import COMMAND, EDIT_SECONDS, Serving, commonplace, wait
from tests.unit.docs.examples import PRINTED, Example, differences
from tests.unit.docs.pages import ROOT, Block, blocks

pytestmark = [
    pytest.mark.laptop,
    pytest.mark.skipif(shutil.which("curl") is None, reason="The page asks with curl."),
]

PAGE = ROOT / "docs" / "start" / "tutorial.md"
SHOWN = "127.0.0.1:8787"
STARTS = "commonplace dev "
INDEX = "file/index"
SAVES = "> notes/compost.md\n"


def steps() -> list[tuple[Block, Block | None]]:
    """Return each `sh` block of the page, with the block that follows if that is an answer."""
    found = blocks(PAGE)
    return [
        (block, after if after and after.language in {*PRINTED, "text"} else None)
        for block, after in zip_longest(found, found[1:])
        if block.language == "sh"
    ]


def lacks(printed: Block, command: tuple[str, ...], answer: str) -> list[str]:
    """Return what an answer lacks of what is printed."""
    if printed.language in PRINTED:
        return differences(Example(command, printed.language, printed.text), answer)
    return [line for line in printed.text.splitlines() if line != "..." and line not in answer]


def serve(text: str, at: Path) -> Serving:
    """Start `commonplace dev` as the page does, on a free port and with a data folder of the test."""
    words = shlex.split(text)[2:]
    dev = Serving(*(str(at / word) for word in words), "--data", str(at / "data"))
    dev.wait_for("ready:")
    return dev


def run(block: Block, at: Path, dev: Serving | None) -> str:
    """Run a block in the reader's folder; return what it prints, with the page's port."""
    own = dev.url.removeprefix("http://") if dev else SHOWN
    if block.text.startswith("commonplace "):
        of_this = ("--data", str(at / "data")) if "commonplace search" in block.text else ()
        done = commonplace(*shlex.split(block.text)[1:], *of_this, at=at)
        assert done.returncode == (1 if " why " in block.text else 0), done.stdout + done.stderr
        return done.stdout.replace(own, SHOWN)
    text = block.text.replace(SHOWN, own)
    raw = subprocess.run(["bash", "-e", "-c", text], cwd=at, capture_output=True, text=True, timeout=120, check=True)
    return raw.stdout.replace(own, SHOWN)


def test_the_tutorial_leads_from_an_empty_folder_to_a_cited_answer(tmp_path: Path) -> None:
    shown = steps()
    assert sum(answer is not None for _, answer in shown) >= 6
    assert subprocess.run([*COMMAND, "--version"], check=True, capture_output=True).stdout
    dev: Serving | None = None
    try:
        for block, answer in shown:
            if block.text.startswith(STARTS):
                dev = serve(block.text, tmp_path)
                printed = dev.output.replace(dev.url.removeprefix("http://"), SHOWN)
            else:
                stored = dev.output.count("1 stored") if dev else 0
                printed = run(block, tmp_path, dev)
                if dev and block.text.endswith(SAVES):
                    wait(lambda dev=dev, before=stored: dev.output.count("1 stored") > before, EDIT_SECONDS)
            assert not answer or lacks(answer, (block.text,), printed) == [], printed
        assert dev is not None
        home, barrels = (httpx.get(f"{dev.url}{path}", timeout=60).text for path in ("/", "/d/file/rain-barrels"))
        assert "Our allotment." in home and 'href="/d/file/rain-barrels"' in home
        assert f'href="/d/{INDEX}"' in barrels
        assert {path.name for path in (tmp_path / "notes").iterdir()} == {"index.md", "rain-barrels.md", "compost.md"}
        assert dev.end() == 0, dev.output
    finally:
        if dev and dev.process.poll() is None:
            dev.end(signal.SIGKILL)
