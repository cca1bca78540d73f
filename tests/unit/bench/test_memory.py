"""Timing the memory's tools: every tool is called, each beside a bare message."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.speed import memory
from tests.unit.memory.tools.teams import Team, team


class AtHand(memory.Server):
    """The tools without a network; the index follows at once."""

    def __init__(self, here: Team) -> None:
        self._here = here

    def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if method == memory.BARE:
            return {}
        result = self._here.call(params["name"], **params["arguments"])
        assert not result.is_error, params
        self._here.world.settle()
        return {"structuredContent": result.structured_content}


def test_every_tool_that_is_timed_answers_and_has_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "FRESH", 1)
    monkeypatch.setattr(memory, "WARM_UP", 0)
    server = AtHand(team(tmp_path))
    server.call("kb_add", content="There is one.", entry_type="fact", roles=["all"], tags=["pattern"])
    rows = memory.measure(server, ["What is there?"], rounds=1)
    named = " ".join(str(row["call"]) for row in rows)
    assert all(tool in named for tool in ("kb_search", "kb_get", "kb_list", "kb_add", "kb_update", "kb_delete"))
    assert {row.get("no answer") for row in rows} == {0, None}
    assert list(rows[0]) == list(rows[-1])
