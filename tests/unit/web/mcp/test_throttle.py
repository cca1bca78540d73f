"""How often who may call: classes of calls, tokens and addresses, headers, and no bucket shared by two tenants."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.identity.principals import Principal
from commonplace.kernel.errors import RateLimited
from commonplace.kernel.limits import Limiter
from commonplace.web.mcp.declaration import Caller, Cost
from commonplace.web.mcp.throttle import SHARED_FACTOR, Throttle
from tests.unit.web.mcp.world import ByToken, Clock, Counters, World, body_of, call, legacy, modern

LIMITS: Mapping[Cost, int] = {"read": 3, "search": 2, "write": 1}
ACCOUNTS = {name: Principal(subject=f"0x{name}", organisation="garden", token=name) for name in ("t1", "t2")}


class CountedCounters(Counters):
    calls = 0

    def add(self, key: str, amount: int, expires_at: int) -> int:
        self.calls += 1
        return super().add(key, amount, expires_at)


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


def with_token(number: int, account: str = "0xgreedy", organisation: str = "garden") -> Caller:
    """Each token comes from a network of its own."""
    who = Principal(subject=account, organisation=organisation, account=account, token=f"{account}-{number}")
    return Caller(who, f"192.0.2.{number}")


FORTY = [with_token(number) for number in range(40)]


def granted(throttle: Throttle, callers: list[Caller], cost: Cost, each: int) -> int:
    """How many calls go through when every caller makes so many."""
    allowed = 0
    for caller in callers * each:
        try:
            throttle.spend(caller, cost, "memory")
        except RateLimited:
            continue
        allowed += 1
    return allowed


@pytest.mark.parametrize(("cost", "most"), [("write", 12), ("read", 90), ("search", 60)])
def test_forty_tokens_of_one_account_may_no_more_than_the_account(cost: Cost, most: int) -> None:
    own: Mapping[str, Mapping[Cost, int]] = {"memory": {"read": 30, "search": 20, "write": 12}}
    throttle = Throttle(Limiter(Counters(), Clock()), LIMITS, toolsets=own, account_factor=3)
    assert granted(throttle, FORTY, cost, 12) == most
    with pytest.raises(RateLimited, match=f"More than {most} [a-z]+ of this account in 60 seconds") as refused:
        throttle.spend(with_token(40), cost, "memory")
    assert refused.value.retry_after_seconds == 60
    throttle.spend(with_token(40, "0xmodest"), cost, "memory")
    throttle.spend(with_token(40, "0xelsewhere", "orchard"), cost, "memory")


def test_an_agents_tokens_are_its_accounts_and_go_together_as_well() -> None:
    throttle = Throttle(Limiter(Counters(), Clock()), LIMITS, service_factor=4, account_factor=3)
    agents = [Caller(Principal(subject="agent:a", account="hash", token=f"{n}"), f"192.0.2.{n}") for n in range(40)]
    assert granted(throttle, agents, "write", 4) == 4
    assert granted(throttle, agents, "search", 8) == 2 * 4 * 3


def test_whoever_comes_with_many_tokens_is_told_by_http_when_to_come_back() -> None:
    tokens = {f"t{n}": Principal(subject="0xone", account="hash", token=f"t{n}") for n in range(40)}
    here = World(limits=LIMITS, principals=ByToken(tokens))
    answers = [
        here.ask(modern("tools/list", headers=bearer(token), address=f"192.0.2.{token[1:]}")) for token in tokens
    ]
    assert [answer["statusCode"] for answer in answers] == [200] * 3 + [429] * 37
    assert answers[-1]["headers"]["retry-after"] == "60"
    assert answers[-1]["headers"]["ratelimit-policy"] == '"mcp-reads-account";q=3;w=60'
    assert body_of(answers[-1])["error"]["data"]["code"] == "RATE_LIMITED"


def test_an_account_that_is_counted_costs_the_store_no_write_for_each_call() -> None:
    counters = CountedCounters()
    throttle = Throttle(Limiter(counters, Clock()), {"read": 600, "search": 0, "write": 0})
    assert granted(throttle, FORTY[:1], "read", 600) == 600
    assert counters.calls < 40


def test_zero_is_no_limit() -> None:
    here = world(read=0)
    assert all(here.ask(modern("tools/list"))["statusCode"] == 200 for _ in range(20))
    assert here.counters.totals == {}


def test_the_counters_are_not_those_of_the_rest_api_and_hold_no_name() -> None:
    known = Principal(subject="0xone", organisation="garden", account="a1", token="t1")
    here = World(limits=LIMITS, principals=ByToken({"t1": known}))
    here.ask(modern("tools/list", headers=bearer("t1")))
    names = {key.partition("#")[0] for key in here.counters.totals}
    assert names == {"mcp-reads", "mcp-reads-account", "mcp-reads-address"}
    told = ("#t1", "#a1", "192.0.2.1", "0xone")
    assert not [key for key in here.counters.totals if any(name in key for name in told)]


NAMES = st.text(st.sampled_from("ab,|:\"'[]\\# null"), max_size=5)
PRINCIPALS = st.builds(
    Principal,
    subject=st.none() | NAMES,
    organisation=st.none() | NAMES,
    account=st.none() | NAMES,
    token=st.none() | NAMES,
)


def buckets(principal: Principal, whose: str) -> frozenset[str]:
    """Where a call is counted by this: the credential, or the account, which are one where there is no credential."""
    counters = Counters()
    Throttle(Limiter(counters, Clock()), LIMITS).spend(Caller(principal, "192.0.2.1"), "read")
    return frozenset(key for key in counters.totals if key.startswith(f"{whose}#"))


@given(one=PRINCIPALS, other=PRINCIPALS)
def test_two_tenants_or_tokens_never_share_a_bucket(one: Principal, other: Principal) -> None:
    def who(principal: Principal) -> tuple[str | None, ...] | None:
        if principal.token is not None:
            return "token", principal.organisation, principal.token
        return account(principal)

    assert (buckets(one, "mcp-reads") == buckets(other, "mcp-reads")) == (who(one) == who(other))
    together, others = buckets(one, "mcp-reads-account"), buckets(other, "mcp-reads-account")
    if together and others:
        assert (together == others) == (account(one) == account(other))


def account(principal: Principal) -> tuple[str | None, ...] | None:
    if principal.account is not None:
        return "account", principal.account
    return ("subject", principal.organisation, principal.subject) if principal.subject is not None else None
