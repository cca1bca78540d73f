"""Functions are killed at random points of real runs; the next run heals what they left behind."""

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.screen import judge
from commonplace_local.dev.source import clone
from tests.examples import examples
from tests.integration.repositories import Clone, document

pytestmark = pytest.mark.laptop

ROUNDS = examples(1, soak=20)
FILES = 12
WAIT_SECONDS = 180
CANARY = "narwhal-that-nobody-may-see"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Clone, Laptop]]:
    folder = tmp_path_factory.mktemp("faults")
    user = Clone(folder / "clone")
    change_everything(user, random.Random(0))
    with Laptop(clone(user.folder), folder / "data", retry_seconds=1) as laptop:
        laptop.push()
        laptop.wait(WAIT_SECONDS)
        yield user, laptop


def change_everything(user: Clone, chance: random.Random) -> set[str]:
    """Every file anew, under another type or unpublished; answers the titles that are published."""
    published = set()
    for number in range(FILES):
        title = f"Page {number} of {chance.randrange(10**6)}"
        kind = chance.choice(["article", "tag", "hidden"])
        text = document(title, f"{title}\n", type=kind)
        if kind == "hidden":
            text = document(title, f"{CANARY}\n", publish=False)
        else:
            published.add(title)
        user.write(f"docs/page-{number}.md", text)
    user.commit()
    return published


def kill_functions_after(laptop: Laptop, writes: int) -> None:
    """Waits for so many requests that write, or for the end of the run, and kills every function process."""
    edge = laptop.cloud._edge
    target, deadline = edge.writes + writes, time.monotonic() + WAIT_SECONDS
    while edge.writes < target and not laptop.idle() and time.monotonic() < deadline:
        threading.Event().wait(0.002)
    killed = laptop.cloud.pids
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    while set(killed) & set(laptop.cloud.pids):  # until the host has seen them dead
        assert time.monotonic() < deadline, "a killed function lives on"
        threading.Event().wait(0.01)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_killed_functions_leave_nothing_that_the_next_run_does_not_mend(world: tuple[Clone, Laptop], seed: int) -> None:
    user, laptop = world
    chance = random.Random(seed)
    published = change_everything(user, chance)
    laptop.push()
    kill_functions_after(laptop, chance.randrange(1, 90))
    laptop.wait(WAIT_SECONDS)
    laptop.poke()
    laptop.wait(WAIT_SECONDS)
    laptop.cloud.invoke("Index", {"source": "commonplace.operator"})
    assert judge(laptop).faults == ()
    manifest = laptop.manifest()
    assert manifest is not None
    assert {entry.title for entry in manifest.documents} == published
    keys = {item.key for item in laptop.store.list("content/")}
    assert keys == {entry.key for entry in manifest.documents}
    assert {item.key for item in laptop.store.list("raw/")} == {f"raw/{entry.path}" for entry in manifest.documents}
    assert laptop.indexed().keys() == set(manifest.by_ref)


def test_nothing_unpublished_survives_the_faults(world: tuple[Clone, Laptop]) -> None:
    _, laptop = world
    for item in laptop.store.list(""):
        found = laptop.store.get(item.key)
        assert found is not None
        assert CANARY.encode() not in found.body, item.key
    assert CANARY not in laptop.logs()
    assert CANARY.encode() not in b"".join(file.read_bytes() for file in Path(laptop.index_file).parent.iterdir())
