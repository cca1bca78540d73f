"""What a story taught, over the real `commonplace dev` that is stopped and started again."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.repositories import Clone
from tests.integration.running_dev import commonplace, garden, started

pytestmark = pytest.mark.laptop

FIXTURES = Path(__file__).parents[1] / "fixtures" / "memory"
STORY = """\
story_id: WRKF-1021
title: Node execution metrics
summary: Clean implementation; the schema of events was late.
tags: [wrkf, metrics]
recommendations:
  - Check for naming conflicts before creating new types.
  - content: Write tests along with the code, not after it.
    roles: [dev, qa]
reuse:
  - The retry metrics of the client package fit every node.
failures:
  - Verification failed on an unused import; run the linter after each file.
"""
LEARNED = 5


class Shell:
    """Somebody in a folder of stories, beside a laptop cloud."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"

    def kb(self, *words: str, org: str) -> "subprocess.CompletedProcess[str]":
        place = () if words[0] == "parse" else ("--data", str(self.data), "--org", org)
        return commonplace("kb", *words, *place, at=self.folder)

    def right(self, *words: str, org: str) -> str:
        done = self.kb(*words, org=org)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def story(self, name: str) -> Path:
        """A folder with the story in it; answers where its record will be."""
        (self.folder / name).mkdir()
        (self.folder / name / "story.yaml").write_text(STORY, encoding="utf-8")
        return self.folder / name / "_implementation" / "LEARNINGS.yaml"

    def memory(self, org: str) -> list[dict[str, Any]]:
        """Everything that the organisation remembers but ids and times: parents by their content."""
        entries = yaml.safe_load(self.right("export", org=org))
        contents = {one["id"]: one["content"] for one in entries}
        told = [
            {name: value for name, value in one.items() if name not in ("id", "created_at", "updated_at")}
            | {"parent_id": contents.get(one.get("parent_id"))}
            for one in entries
        ]
        return sorted(told, key=lambda one: str(one["content"]))


def record(file: Path) -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return told


def timeless(told: dict[str, Any]) -> dict[str, Any]:
    """The record without times and its server, its ids replaced by the places where they first stand."""
    places: dict[str, str] = {}
    for one in told["entries"]:
        places.setdefault(one["id"], f"entry {len(places)}")
    entries = [
        one | {name: places[one[name]] for name in ("id", "parent_id") if name in one} for one in told["entries"]
    ]
    told = {
        name: one for name, one in told.items() if name not in ("server", "organisation", "recorded_at", "synced_at")
    }
    return told | {"entries": entries}


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def user(shell: Shell) -> Clone:
    return garden(shell.folder / "garden")


@pytest.fixture(scope="module")
def records(shell: Shell, user: Clone) -> Iterator[dict[str, Path]]:
    """The same story of three organisations: one learns at once, two while the server is stopped."""
    straight, outage, crash = (shell.story(name) for name in ("straight", "outage", "crash"))
    with started(user, shell.data) as dev:
        told = shell.right("learn", "straight/story.yaml", org="straight")
        assert told == f"WRKF-1021: {LEARNED} entries in the memory, see straight/_implementation/LEARNINGS.yaml.\n"
        dev.end()
    for name in ("outage", "crash"):
        done = shell.kb("learn", f"{name}/story.yaml", org=name)
        assert done.returncode == 0, done.stderr
        assert "Warning: the memory cannot be reached." in done.stderr
        assert shell.kb("sync-pending", name, org=name).returncode == 1
    with started(user, shell.data):
        yield {"straight": straight, "outage": outage, "crash": crash}


def test_after_a_stop_of_the_server_everything_is_as_if_there_had_been_none(
    shell: Shell, records: dict[str, Path]
) -> None:
    waiting = record(records["outage"])
    assert (waiting["kb_available"], waiting["pending_sync"]) == (False, True)
    shell.right("sync-pending", "outage", org="outage")
    assert timeless(record(records["outage"])) == timeless(record(records["straight"]))
    assert shell.memory("outage") == shell.memory("straight")
    assert len(shell.memory("straight")) == LEARNED


def test_a_crash_between_delivery_and_the_writing_of_the_file_leads_to_the_same_end(
    shell: Shell, records: dict[str, Path]
) -> None:
    waiting = records["crash"].read_bytes()
    shell.right("sync-pending", "crash", org="crash")
    first = record(records["crash"])
    records["crash"].write_bytes(waiting)
    shell.right("sync-pending", "crash", org="crash")
    assert [one["id"] for one in record(records["crash"])["entries"]] == [one["id"] for one in first["entries"]]
    assert timeless(record(records["crash"])) == timeless(record(records["straight"]))
    assert shell.memory("crash") == shell.memory("straight")


def test_a_record_of_another_organisation_is_delivered_to_this_one_as_well(
    shell: Shell, records: dict[str, Path]
) -> None:
    was = record(records["straight"])
    assert (was["organisation"], was["server"][:17]) == ("straight", "http://127.0.0.1:")
    moved = shell.story("moved")
    moved.parent.mkdir()
    moved.write_bytes(records["straight"].read_bytes())
    done = shell.kb("sync-pending", "moved", org="moved")
    assert done.returncode == 0, done.stderr
    assert f"{LEARNED} entries delivered again: this is another memory than {was['server']}" in done.stderr
    assert shell.memory("moved") == shell.memory("straight")
    assert record(moved)["organisation"] == "moved"


def test_a_gate_that_is_passed_makes_the_failure_certain(shell: Shell, records: dict[str, Path]) -> None:
    file = str(records["straight"].relative_to(shell.folder))
    shell.right("validated", file, "--gate", "PASS", org="straight")
    (failure,) = (one for one in shell.memory("straight") if "failure" in one["tags"])
    assert (failure["confidence"], failure["metadata"]["gate_result"]) == (1.0, "PASS")


def test_fifteen_stories_become_what_was_counted_and_can_be_asked_for(shell: Shell, records: dict[str, Path]) -> None:
    shell.right("parse", "lessons", str(FIXTURES / "LESSONS-LEARNED.md"), "-o", "seed-data/lessons.yaml", org="lessons")
    assert shell.right("seed", org="lessons") == "seed-data/lessons.yaml: 70 entries imported, 0 skipped.\n"
    assert shell.right("seed", org="lessons") == "seed-data/lessons.yaml: 0 entries imported, 70 skipped.\n"
    figures = json.loads(shell.right("stats", "--json", org="lessons"))
    assert (figures["total_entries"], figures["by_type"]["summary"], figures["by_type"]["fact"]) == (70, 15, 55)
    asked = ("search", "upload fails at the gateway", "--role", "dev", "--tag", "blocker", "--limit", "3", "--json")
    found = json.loads(shell.right(*asked, org="lessons"))
    best = [entry["content"] for entry in found["entries"]]
    # The summary of the story that the fact belongs to may stand before it.
    assert any(content.startswith("Uploads above 6 MB fail at the gateway.") for content in best[:2])
    assert json.loads(shell.right("stats", "--json", org="straight"))["total_entries"] == LEARNED
