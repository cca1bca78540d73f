"""`commonplace hive` over the functions of a real `commonplace dev`."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.running_dev import Dev, commonplace

pytestmark = pytest.mark.laptop

TEXTS = (
    "Ask Maria Gonzalez (maria@tidepool.example.org) before the pool of the nightly job is set to ten.",
    "Lock rows in one order, or two transactions wait for each other for ever.",
    "A retry without jitter brings every client back at the same moment.",
)


@dataclass
class Shell:
    """Somebody beside a laptop cloud."""

    folder: Path
    data: Path

    def hive(self, *words: str, org: str = "team") -> str:
        done = commonplace("hive", *words, "--data", str(self.data), "--org", org, at=self.folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr.startswith("Server: http://127.0.0.1:")
        return done.stdout


@pytest.fixture
def shell(team: Dev, tmp_path: Path) -> Shell:
    return Shell(tmp_path, team.data)


def test_what_a_file_holds_is_stripped_reviewed_written_out_and_restored(shell: Shell) -> None:
    file = shell.folder / "learned.jsonl"
    file.write_text("\n".join(json.dumps({"content": text, "category": "tooling"}) for text in TEXTS), encoding="utf-8")
    assert shell.hive("seed", file.name) == "3 of 3: 3 queued.\n"
    assert shell.hive("seed", file.name) == "3 of 3: 3 known already.\n"
    queue = json.loads(shell.hive("pending", "--json"))
    waiting = {one["content"]: one["id"] for one in queue["contributions"]}
    assert queue["waiting"] == 3
    assert {*waiting} == {"Ask [NAME] ([EMAIL]) before the pool of the nightly job is set to ten.", *TEXTS[1:]}
    first, second, third = waiting.values()
    assert "redactions: 1 EMAIL, 1 NAME" in " ".join(shell.hive("show", first).split())
    assert shell.hive("approve", first, second).splitlines() == [f"{first}: approved.", f"{second}: approved."]
    shell.hive("reject", third, "--reason", "Known already")
    assert "contributed 3: 2 approved, 1 rejected, 0 pending" in shell.hive("stats")

    lines = shell.hive("export").splitlines()
    assert {json.loads(line)["content"] for line in lines} == {*list(waiting)[:2]}
    (shell.folder / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert shell.hive("seed", "items.jsonl", org="other") == "2 of 2: 2 queued.\n"
    restored = json.loads(shell.hive("pending", "--json", org="other"))["contributions"]
    assert {one["content"] for one in restored} == {*list(waiting)[:2]}


def test_a_rule_approves_what_comes_after_it(shell: Shell) -> None:
    shell.hive("rules", "add", "--category", "config", "--confidence", "0.5", org="ruled")
    shell.hive("rules", "pattern", "PROJ-[0-9]+", org="ruled")
    file = shell.folder / "ruled.md"
    file.write_text("---\ncategory: config\n---\nSet the timeout of PROJ-4711 to ten seconds.\n", encoding="utf-8")
    assert shell.hive("seed", file.name, org="ruled") == "1 of 1: 1 approved.\n"
    (line,) = shell.hive("export", org="ruled").splitlines()
    assert json.loads(line)["content"] == "Set the timeout of [REDACTED] to ten seconds."
