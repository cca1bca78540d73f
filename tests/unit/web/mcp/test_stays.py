"""A warm call of a tool goes from one module of ours into another no more often than it has to."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from commonplace.web.mcp import calls
from tests.stays import stays
from tests.unit.web.mcp.guarded import Guarded, bearer, outcome, resource
from tests.unit.web.mcp.world import call, legacy, modern

MOST = 45


@pytest.mark.parametrize("era", [modern, legacy])
def test_a_trivial_call_by_token_takes_few_stays(era: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Guarded()
    here.realm.account("member")
    token = here.realm.token(resource("/mcp/memory"), "memory:read")
    event = era("tools/call", call("about_memory"), bearer(token), path="/mcp/memory")
    assert outcome(here.ask(event)) == outcome(here.ask(event)) == "ok"
    with ThreadPoolExecutor(1) as threads:  # its thread starts while it is traced
        monkeypatch.setattr(calls, "THREADS", threads)
        found = stays(lambda: here.ask(event))
    assert 20 < found.total() <= MOST, found
