"""Many entries by `commonplace kb seed`, killed in the middle, and run again."""

import json
import math
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from commonplace.memory.client.client import MemoryServer
from commonplace_local.dev.laptop import Laptop
from tests.examples import examples
from tests.fakes.openai_server import Standin
from tests.fakes.openai_server import running as standing_in
from tests.integration.memory_laptops import agent, serving, without_vectors
from tests.integration.running_dev import COMMAND, wait
from tests.processes import ended

pytestmark = pytest.mark.laptop

ENTRIES = examples(600, soak=5_000)
STORIES, PER_CALL = ENTRIES // 10, 100
SECONDS = 1_200
"""For whatever the import waits for: on a machine with little to do it takes some minutes."""

WORDS = ("tide", "pool", "crab", "route", "cache", "retry", "token", "schema", "queue", "index", "story", "review")


@pytest.fixture
def openai() -> Iterator[Standin]:
    with standing_in() as server:
        yield server


@pytest.fixture
def laptop(tmp_path: Path, openai: Standin) -> Iterator[Laptop]:
    with serving(tmp_path, openai) as laptop:
        yield laptop


@pytest.fixture
def memory(laptop: Laptop) -> Iterator[MemoryServer]:
    with agent(laptop) as server:
        yield server


def seeds(file: Path, entries: int, stories: int) -> Path:
    """Entries with texts of their own: summaries of stories, each the parent of facts that come after it."""
    chance = random.Random(7)
    written: list[dict[str, Any]] = []
    for number in range(entries):
        story, first = number * stories // entries, number * stories % entries < stories
        entry = {"content": f"Lesson {number}: {' '.join(chance.choices(WORDS, k=12))}.", "roles": ["dev"]}
        related = {"entry_type": "summary", "ref": f"s{story}"} if first else {"entry_type": "fact"}
        written.append(entry | related | ({} if first else {"parent_ref": f"s{story}"}))
    file.write_text(yaml.safe_dump(written), encoding="utf-8")
    return file


def seeding(laptop: Laptop, file: Path) -> "subprocess.Popen[str]":
    shell = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")}
    command = [*COMMAND, "kb", "seed", "--url", laptop.url, "--file", str(file), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=shell)


def seeded(laptop: Laptop, file: Path) -> dict[str, Any]:
    """What the command says of the file when it has come to its end."""
    with ended(seeding(laptop, file)) as process:
        said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said
    (told,) = json.loads(said)["files"]
    return {name: told[name] for name in ("total", "imported", "skipped", "errors")}


def test_an_import_that_is_killed_and_run_again_brings_each_entry_once_and_asks_for_each_vector_once(
    laptop: Laptop, memory: MemoryServer, openai: Standin, tmp_path: Path
) -> None:
    file = seeds(tmp_path / "lessons.yaml", ENTRIES, STORIES)
    with ended(seeding(laptop, file)) as process:
        wait(lambda: sum(openai.calls) >= ENTRIES // 2 or process.poll() is not None, SECONDS)
        process.kill()
    laptop.wait(SECONDS)
    half = memory.call("kb_stats", {})["total_entries"]
    assert ENTRIES // 4 < half < ENTRIES

    assert seeded(laptop, file) == {"total": ENTRIES, "imported": ENTRIES - half, "skipped": half, "errors": []}
    laptop.wait(SECONDS)
    stats = memory.call("kb_stats", {})
    assert (stats["total_entries"], stats["cache_size"]) == (ENTRIES, ENTRIES)
    assert stats["by_type"] == {"summary": STORIES, "fact": ENTRIES - STORIES, "template": 0}
    assert len(openai.calls) <= math.ceil(ENTRIES / PER_CALL)
    assert sorted(openai.texts) == sorted(set(openai.texts)), "no text was sent twice"
    assert without_vectors(laptop) == []

    assert seeded(laptop, file) == {"total": ENTRIES, "imported": 0, "skipped": ENTRIES, "errors": []}
    laptop.wait(SECONDS)
    assert sum(openai.calls) == ENTRIES
    assert memory.call("kb_stats", {})["total_entries"] == ENTRIES
    (fact,) = memory.call("kb_list", {"entry_type": "fact", "limit": 1})["entries"]
    number = int(fact["content"].split()[1].rstrip(":"))
    parent = memory.call("kb_get", {"id": fact["parent_id"]})
    assert parent["content"].startswith(f"Lesson {number - number % (ENTRIES // STORIES)}:")
