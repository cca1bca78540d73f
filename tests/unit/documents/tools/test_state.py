"""`sync_status`: how fresh the knowledge base is."""

import json
from typing import Any

import pytest

from commonplace.documents.tools import status
from commonplace.kernel.errors import Unavailable
from commonplace.web.mcp.declaration import Answer
from tests.fakes.library import COMMIT, FakeLibrary
from tests.unit.documents.tools.calling import called, data
from tests.unit.documents.tools.worlds import World, world


def sync_status(at: World) -> Answer:
    return called(status.tools(at.services()), "sync_status")


def with_run(**told: Any) -> World:
    at = world()
    at.store.put("metadata/sync.json", json.dumps(told).encode())
    return at


def test_everything_is_well() -> None:
    answer = sync_status(
        with_run(
            status="succeeded",
            checkedAt="2026-03-21T09:30:40Z",
            counts={"problems": 3, "brokenLinks": 1},
            notes=[{"ref": "file/rules", "path": "docs/kitchen/rules.md"}],
        )
    )
    assert data(answer) == {
        "status": "ok",
        "commit": COMMIT,
        "syncedAt": "2026-03-21T09:30:12Z",
        "lagSeconds": 42,
        "documents": 11,
        "lastRun": "succeeded",
        "checkedAt": "2026-03-21T09:30:40Z",
        "problems": 3,
        "brokenLinks": 1,
    }
    for said in (COMMIT, "11 documents", "42 s", "succeeded", "3 problems, 1 of them broken links", "Search answers"):
        assert said in answer.text


def test_a_failed_run_is_told() -> None:
    answer = sync_status(with_run(status="failed", error="LeaseHeld", counts={}))
    assert data(answer)["lastRun"] == "failed"
    assert "LeaseHeld" not in answer.text


def test_before_the_first_sync_there_is_nothing() -> None:
    answer = sync_status(World(FakeLibrary()))
    assert data(answer) == {"status": "ok", "documents": 0}
    assert "Nothing is published yet" in answer.text


def test_an_index_that_does_not_answer_is_told() -> None:
    at = world()
    at.search.unreachable = True
    answer = sync_status(at)
    assert data(answer)["status"] == "degraded"
    assert "Search does not answer" in answer.text


class Broken:
    def search(self, request: Any) -> Any:
        raise AssertionError

    def check(self) -> None:
        raise OSError("no such file")


def test_an_index_that_breaks_is_told_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    at = world()
    at.search = Broken()  # type: ignore[assignment]
    assert data(sync_status(at))["status"] == "degraded"
    assert "the index cannot be checked" in caplog.text


def test_a_store_that_does_not_answer_is_unavailable() -> None:
    at = world()
    at.store.unreachable = True
    with pytest.raises(Unavailable):
        sync_status(at)


def test_everybody_may_ask() -> None:
    (tool,) = status.tools(world().services())
    assert (tool.tier, tool.level, tool.cost) == ("public", "read", "read")
