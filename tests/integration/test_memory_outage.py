"""The embedding service is away, and comes back: what agents of a running deployment see meanwhile, and afterwards."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.memory.client.client import MemoryServer
from commonplace_local.dev.laptop import Laptop
from tests.fakes.model_server import Failure
from tests.fakes.openai_server import Standin
from tests.fakes.openai_server import running as standing_in
from tests.integration.memory_laptops import agent, serving, without_vectors
from tests.integration.running_dev import wait

pytestmark = pytest.mark.laptop

BACK_SECONDS = 90
"""A model that did not answer is left alone for 30 seconds, by each process that has noticed."""

ZEBRA, ROUTES, UPLOAD = "Zebra stripes confuse flies.", "Routes match from top to bottom.", "Retry a flaky upload."


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


def fact(content: str) -> dict[str, Any]:
    return {"content": content, "entry_type": "fact", "roles": ["dev"]}


def found(memory: MemoryServer, query: str) -> tuple[list[str], bool]:
    """What is found, and whether by words alone."""
    answer = memory.call("kb_search", {"query": query})
    return [entry["content"] for entry in answer["entries"]], answer["fallback"]


def test_an_outage_of_the_model_costs_only_the_vectors_and_they_come_by_themselves(
    laptop: Laptop, memory: MemoryServer, openai: Standin
) -> None:
    memory.call("kb_add", fact(ZEBRA))
    laptop.wait()
    assert found(memory, "zebra") == ([ZEBRA], False)

    openai.always = Failure(status=503)
    before = len(openai.requests)
    assert found(memory, "zebra stripes") == ([ZEBRA], True)
    assert len(openai.requests) == before + 4, "one call, and three more after 1, 2 and 4 seconds"
    added = [memory.call("kb_add", fact(content)) for content in (ROUTES, UPLOAD)]
    assert [(each["success"], each["duplicate"]) for each in added] == [(True, False)] * 2
    laptop.wait()
    assert found(memory, "routes")[0] == [ROUTES], "found by its words meanwhile"
    assert memory.call("kb_get", {"id": added[1]["id"]})["content"] == UPLOAD
    assert len(without_vectors(laptop)) == 2
    assert memory.call("kb_stats", {})["cache_size"] == 1

    openai.always = None
    wait(lambda: not _completed(laptop), BACK_SECONDS)
    assert without_vectors(laptop) == [], laptop.logs()
    assert memory.call("kb_stats", {})["cache_size"] == 3
    assert [content for content in openai.texts if content in (ROUTES, UPLOAD)] in ([ROUTES, UPLOAD], [UPLOAD, ROUTES])
    wait(lambda: not found(memory, "flaky upload")[1], BACK_SECONDS)
    assert found(memory, "flaky upload") == ([UPLOAD], False), laptop.logs()


def _completed(laptop: Laptop) -> list[str]:
    """What is without vectors after the schedule has come round once more."""
    laptop.cloud.fire("SchedulesComplete")
    laptop.wait()
    return without_vectors(laptop)
