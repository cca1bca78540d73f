"""A warm call of a tool goes from one module of ours into another no more often than it has to."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from commonplace.web.mcp import calls
from commonplace.web.mcp.declaration import Cost
from tests.stays import stays
from tests.unit.web.mcp.guarded import Guarded, bearer, outcome, resource
from tests.unit.web.mcp.world import NO_LIMITS, call, legacy, modern

LIMITS = {"read": 60, "search": 20, "write": 10}


@pytest.mark.parametrize("era", [modern, legacy])
@pytest.mark.parametrize("name", ["about_memory", "recall"])
@pytest.mark.parametrize(("limits", "most"), [(NO_LIMITS, 48), (LIMITS, 54)], ids=["unlimited", "limited"])
def test_a_trivial_call_by_token_takes_few_stays(
    limits: dict[Cost, int], most: int, name: str, era: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Guarded(limits=limits)
    here.realm.account("member")
    token = here.realm.token(resource("/mcp/memory"), "memory:read")
    params = call(name, text="x") if name == "recall" else call(name)
    event = era("tools/call", params, bearer(token), path="/mcp/memory")
    assert outcome(here.ask(event)) == outcome(here.ask(event)) == "ok"
    with ThreadPoolExecutor(1) as threads:  # its thread starts while it is traced
        monkeypatch.setattr(calls, "THREADS", threads)
        found = stays(lambda: here.ask(event))
    assert 20 < found.total() <= most, found
