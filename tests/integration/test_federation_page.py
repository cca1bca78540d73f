"""What docs/agents/federation.md shows to try happens: two laptops, one question, results of both."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.running_dev import COMMAND, commonplace, serving
from tests.unit.docs.pages import ROOT, blocks

pytestmark = [
    pytest.mark.real,
    pytest.mark.laptop,
    pytest.mark.skipif(shutil.which("curl") is None, reason="The page asks with curl."),
]

MAKE, PARTNER, OWN, ASK, BOTH = [block.text for block in blocks(ROOT / "docs" / "agents" / "federation.md", "sh")][:5]


def run(text: str, at: Path) -> str:
    done = subprocess.run(["bash", "-e", "-c", text], cwd=at, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def options(text: str, at: Path, **urls: str) -> list[str]:
    """Return the words after `dev`, with folders of the test, and ports that are free."""
    _, command, *words = shlex.split(text)
    assert command == "dev"
    if "--port" in words:
        place = words.index("--port")
        del words[place : place + 2]
    for port, url in urls.items():
        words = [word.replace(f"http://127.0.0.1:{port.removeprefix('p')}", url) for word in words]
    return [str((at / word).resolve()) if word.startswith(("../", ".data/")) else word for word in words]


def test_one_question_is_answered_by_both_laptops_of_the_page(tmp_path: Path) -> None:
    at = tmp_path / "project"
    at.mkdir()
    run(MAKE, at)
    with serving(*options(PARTNER, at)) as reef, serving(*options(OWN, at, p8790=reef.url)) as own:
        own.wait_for("All sources: ")
        assert "Partner reef, " in own.output
        text = ASK.replace("commonplace ", f"{COMMAND[0]} ").replace(".data/", f"{at}/.data/")
        said, _, answer = run(text.replace("http://127.0.0.1:8787", own.url), ROOT).partition("\n")
        assert said.startswith("reef: ")
        found = json.loads(answer)["result"]["structuredContent"]
        assert {result["source"] for result in found["results"]} == {"own", "reef"}
        records = commonplace("grants", "records", "--partners", "--data", str(at / ".data/own")).stdout
        assert "partner added" in records
        reef.end()
        with serving(*options(BOTH, at, p8787=own.url)) as both:
            both.wait_for("All sources: ")
            assert "Partner field, " in both.output
