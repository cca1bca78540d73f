"""Rate limits over each store of counters: processes that share one, and an account with many tokens."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import cycle

import pytest

from commonplace.identity.principals import Principal
from commonplace.kernel.errors import RateLimited
from commonplace.kernel.limit_store import DynamoCounters
from commonplace.kernel.limits import CounterStore, Limiter
from commonplace.web.mcp.declaration import Caller, Cost
from commonplace.web.mcp.throttle import Throttle
from tests.aws_fixture import TABLE
from tests.unit.web.mcp.world import Counters

NOW = 1_000_020.0
UNLIMITED: Mapping[Cost, int] = {"read": 0, "search": 0, "write": 0}
OWN: Mapping[str, Mapping[Cost, int]] = {"memory": {"write": 6}}


@pytest.fixture(params=["memory", "dynamodb"])
def counters(request: pytest.FixtureRequest) -> CounterStore:
    if request.param == "memory":
        return Counters()
    client = request.getfixturevalue("dynamodb")
    return DynamoCounters(client, TABLE, clock=lambda: datetime.fromtimestamp(NOW, UTC))


def writes(processes: Iterator[Throttle], callers: list[Caller], each: int) -> int:
    """How many go through when every caller tries so often, each time at the next process."""
    allowed = 0
    for caller in callers * each:
        try:
            next(processes).spend(caller, "write", "memory")
        except RateLimited:
            continue
        allowed += 1
    return allowed


def callers(account: str, organisation: str, tokens: int) -> list[Caller]:
    def one(number: int) -> Principal:
        return Principal(
            subject=account, account=f"hash of {account}", organisation=organisation, token=f"{account}{number}"
        )

    return [Caller(one(number), f"192.0.2.{number}") for number in range(tokens)]


def test_processes_that_share_a_counter_give_forty_tokens_of_an_account_no_more(counters: CounterStore) -> None:
    processes = cycle([Throttle(Limiter(counters, lambda: NOW), UNLIMITED, toolsets=OWN) for _ in range(2)])
    assert writes(processes, callers("0xgreedy", "garden", 40), 2) == 6
    assert writes(processes, callers("0xmodest", "garden", 1), 7) == 6
    assert writes(processes, callers("0xelsewhere", "orchard", 1), 7) == 6
