"""How often who may call: classes of calls, tokens and addresses, headers, and no bucket shared by two tenants."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import RateLimited
from commonplace.identity.principals import Principal
from commonplace.interfaces.mcp.declaring import Caller, Cost
from commonplace.interfaces.mcp.throttle import SHARED_FACTOR, Throttle
from commonplace.limits.quota import Limiter
from tests.unit.mcp.world import ByToken, Clock, Counters, World, body_of, call, legacy, modern

LIMITS: Mapping[Cost, int] = {"read": 3, "search": 2, "write": 1}
ACCOUNTS = {name: Principal(subject="0xone", organisation="garden", token=name) for name in ("t1", "t2")}


def world(read: int = 3, search: int = 2) -> World:
    limits: Mapping[Cost, int] = {**LIMITS, "read": read, "search": search}
    return World(limits=limits, principals=ByToken(ACCOUNTS))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_reads_searches_and_writes_are_counted_apart() -> None:
    here = world()
    for name, calls in (("echo", 3), ("find", 2), ("keep", 1)):
        answers = [body_of(here.ask(modern("tools/call", call(name, text="x"))))["result"] for _ in range(calls + 1)]
        assert [answer.get("isError", False) for answer in answers] == [False] * calls + [True]


@pytest.mark.parametrize("era", [modern, legacy])
def test_a_tool_called_too_often_tells_the_model_when_to_come_back(era: Any) -> None:
    here = world(search=1)
    here.ask(era("tools/call", call("find", text="x")))
    answer = here.ask(era("tools/call", call("find", text="x")))
    text = body_of(answer)["result"]["content"][0]["text"]
    assert answer["statusCode"] == 200
    assert text.startswith("RATE_LIMITED: More than 1 searches in 60 seconds. Try again in 60 seconds.")
    assert text.count("Try again") == 1


@pytest.mark.parametrize("era", [modern, legacy])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {}),
        ("prompts/get", {"name": "ask", "arguments": {"topic": "x"}}),
        ("resources/read", {"uri": "mcp://probe/fixed"}),
        ("nothing/known", {}),
        ("tools/call", {"name": "nothing"}),
    ],
)
def test_every_other_request_is_a_read_and_429_when_there_are_too_many(
    era: Any, method: str, params: dict[str, Any]
) -> None:
    here = world(read=1)
    here.ask(era("ping"))
    answer = here.ask(era(method, params, id="mine"))
    assert (answer["statusCode"], answer["headers"]["retry-after"]) == (429, "60")
    body = body_of(answer)
    assert (body["id"], body["error"]["code"], body["error"]["data"]["code"]) == ("mine", 429, "RATE_LIMITED")


def test_notifications_are_counted_too() -> None:
    here = world(read=1)
    statuses = [here.ask(legacy("notifications/initialized", id=None))["statusCode"] for _ in range(2)]
    assert statuses == [202, 429]


@pytest.mark.parametrize("era", [modern, legacy])
@pytest.mark.parametrize(
    ("method", "params", "name", "left"),
    [
        ("tools/list", {}, "mcp-reads", (3, 2)),
        ("tools/call", call("find", text="x"), "mcp-searches", (2, 1)),
        ("tools/call", call("narrate", text="x"), "mcp-reads", (3, 2)),
    ],
)
def test_answers_tell_what_is_left(
    era: Any, method: str, params: dict[str, Any], name: str, left: tuple[int, int]
) -> None:
    """Streams as well, whose headers are ready before the tool is counted."""
    told = world().ask(era(method, params))["headers"]
    assert (told["ratelimit-limit"], told["ratelimit-remaining"]) == tuple(map(str, left))
    assert told["ratelimit-policy"] == f'"{name}";q={left[0]};w=60'
    assert told["ratelimit-reset"] == "60"


def test_without_limits_there_are_no_headers_of_limits() -> None:
    assert not [name for name in World().ask(modern("tools/list"))["headers"] if name.startswith("ratelimit")]


def test_a_refused_call_tells_of_the_limit_that_refused_it() -> None:
    here = world(read=1)
    here.ask(modern("tools/list"))
    assert here.ask(modern("tools/list"))["headers"]["ratelimit-remaining"] == "0"


def test_a_new_minute_is_a_new_allowance() -> None:
    here = world(read=1)
    first = [here.ask(modern("tools/list"))["statusCode"] for _ in range(2)]
    here.clock.now += 60
    assert [*first, here.ask(modern("tools/list"))["statusCode"]] == [200, 429, 200]


def test_somebody_unknown_is_counted_by_address() -> None:
    here = world(read=1)
    addresses = ["192.0.2.1", "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]
    statuses = [here.ask(modern("tools/list", address=address))["statusCode"] for address in addresses]
    assert statuses == [200, 429, 200, 200, 429, 200]


def test_tokens_are_counted_apart_wherever_they_come_from() -> None:
    here = world(read=1)
    asked = [("t1", "192.0.2.1"), ("t1", "192.0.2.2"), ("t2", "192.0.2.1")]
    statuses = [
        here.ask(modern("tools/list", headers=bearer(token), address=address))["statusCode"] for token, address in asked
    ]
    assert statuses == [200, 429, 200]


def test_the_tokens_of_one_address_have_a_ceiling() -> None:
    throttle = Throttle(Limiter(Counters(), Clock()), {"read": 2, "search": 0, "write": 0})
    callers = [Caller(Principal(subject=f"{number}", token=f"{number}"), "192.0.2.1") for number in range(11)]
    for caller in callers[:-1]:
        throttle.spend(caller, "read")
        throttle.spend(caller, "read")
    with pytest.raises(RateLimited):
        throttle.spend(callers[-1], "read")
    elsewhere = Caller(callers[-1].principal, "192.0.2.2")
    throttle.spend(elsewhere, "read")
    assert SHARED_FACTOR == 10


def test_what_a_token_asks_in_vain_is_not_taken_from_its_neighbours() -> None:
    throttle = Throttle(Limiter(Counters(), Clock()), {"read": 1, "search": 0, "write": 0})
    greedy, modest = (Caller(Principal(subject=name, token=name), "192.0.2.1") for name in ("greedy", "modest"))
    throttle.spend(greedy, "read")
    for _ in range(50):
        with pytest.raises(RateLimited):
            throttle.spend(greedy, "read")
    throttle.spend(modest, "read")


def test_a_toolset_may_have_limits_of_its_own_and_keeps_the_others() -> None:
    throttle = Throttle(Limiter(Counters(), Clock()), LIMITS, toolsets={"memory": {"write": 3}})
    caller = Caller(Principal(subject="0xone", token="t1"), "192.0.2.1")
    for _ in range(3):
        throttle.spend(caller, "write", "memory")
    with pytest.raises(RateLimited, match="More than 3 writes in 60 seconds"):
        throttle.spend(caller, "write", "memory")
    throttle.spend(caller, "write", "knowledge")
    with pytest.raises(RateLimited, match="More than 1 writes"):
        throttle.spend(caller, "write", "knowledge")
    throttle.spend(caller, "search", "memory")
    throttle.spend(caller, "search", "memory")
    with pytest.raises(RateLimited, match="More than 2 searches"):
        throttle.spend(caller, "search", "knowledge")


def test_an_agent_that_signs_in_by_itself_may_call_more_often() -> None:
    throttle = Throttle(Limiter(Counters(), Clock()), LIMITS, service_factor=4)
    agent = Caller(Principal(subject="agent:learner", token="t1"), "192.0.2.1")
    person = Caller(Principal(subject="0xone", token="t2"), "192.0.2.1")
    for _ in range(8):
        throttle.spend(agent, "search")
    with pytest.raises(RateLimited, match="More than 8 searches"):
        throttle.spend(agent, "search")
    throttle.spend(person, "search")
    throttle.spend(person, "search")
    with pytest.raises(RateLimited, match="More than 2 searches"):
        throttle.spend(person, "search")


def test_zero_is_no_limit() -> None:
    here = world(read=0)
    assert all(here.ask(modern("tools/list"))["statusCode"] == 200 for _ in range(20))
    assert here.counters.totals == {}


def test_the_counters_are_not_those_of_the_rest_api_and_hold_no_name() -> None:
    here = world()
    here.ask(modern("tools/list", headers=bearer("t1")))
    assert {key.partition("#")[0] for key in here.counters.totals} == {"mcp-reads", "mcp-reads-address"}
    assert not [key for key in here.counters.totals if "t1" in key or "192.0.2.1" in key or "0xone" in key]


NAMES = st.text(st.sampled_from("ab,|:\"'[]\\# null"), max_size=5)
PRINCIPALS = st.builds(
    Principal,
    subject=st.none() | NAMES,
    organisation=st.none() | NAMES,
    token=st.none() | NAMES,
)


def bucket(principal: Principal) -> frozenset[str]:
    """Where a call of this account is counted, apart from its address's ceiling."""
    counters = Counters()
    Throttle(Limiter(counters, Clock()), LIMITS).spend(Caller(principal, "192.0.2.1"), "read")
    return frozenset(key for key in counters.totals if "address" not in key.partition("#")[0])


@given(one=PRINCIPALS, other=PRINCIPALS)
def test_two_tenants_or_tokens_never_share_a_bucket(one: Principal, other: Principal) -> None:
    def who(principal: Principal) -> tuple[str | None, ...] | None:
        if principal.token is not None:
            return "token", principal.organisation, principal.token
        return ("subject", principal.organisation, principal.subject) if principal.subject is not None else None

    assert (bucket(one) == bucket(other)) == (who(one) == who(other))
    assert bucket(one).isdisjoint(bucket(other)) or who(one) == who(other)
