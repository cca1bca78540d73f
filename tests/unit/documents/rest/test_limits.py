"""Rate limits: shared counts, leased blocks, and what happens when the counter store is away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.kernel.limits import STORE_PAUSE_SECONDS, Limiter, Quota, network

READS = Quota("reads", 600)


class Counters:
    """A counter store in memory that can be broken."""

    def __init__(self) -> None:
        self.totals: dict[str, int] = {}
        self.calls = 0
        self.broken = False

    def add(self, key: str, amount: int, expires_at: int) -> int:
        self.calls += 1
        if self.broken:
            raise ConnectionError("no route to the table")
        self.totals[key] = self.totals.get(key, 0) + amount
        return self.totals[key]


class Clock:
    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def taken(limiter: Limiter, quota: Quota, times: int, address: str = "192.0.2.1") -> list[bool]:
    allowances = [limiter.take(quota, address) for _ in range(times)]
    return [allowance.allowed for allowance in allowances if allowance]


def test_quota_is_spent_exactly_by_one_process() -> None:
    limiter = Limiter(Counters(), Clock())
    assert taken(limiter, READS, 620) == [True] * 600 + [False] * 20


def test_most_calls_ask_the_shared_counter_nothing() -> None:
    counters = Counters()
    taken(Limiter(counters, Clock()), READS, 600)
    assert counters.calls < 15


def test_refused_client_costs_no_counter_writes() -> None:
    counters = Counters()
    limiter = Limiter(counters, Clock())
    taken(limiter, READS, 600)
    before = counters.calls
    assert taken(limiter, READS, 500) == [False] * 500
    assert counters.calls == before


@given(calls=st.integers(1, 300), processes=st.integers(1, 8), order=st.randoms(use_true_random=False))
def test_processes_together_never_allow_more_than_the_quota(calls: int, processes: int, order: object) -> None:
    counters, clock, quota = Counters(), Clock(), Quota("reads", calls)
    limiters = [Limiter(counters, clock) for _ in range(processes)]
    allowed = sum(taken(order.choice(limiters), quota, 1)[0] for _ in range(calls * 2))  # type: ignore[attr-defined]
    assert allowed <= calls
    assert allowed >= calls / 2 - processes


def test_window_that_ends_gives_a_new_allowance() -> None:
    clock = Clock(1_000_020.0)
    limiter = Limiter(Counters(), clock)
    quota = Quota("searches", 2)
    assert taken(limiter, quota, 3) == [True, True, False]
    clock.now += 60
    assert taken(limiter, quota, 3) == [True, True, False]


def test_allowance_tells_what_is_left_and_when_the_window_ends() -> None:
    limiter = Limiter(Counters(), Clock(1_000_020.5))
    first = limiter.take(READS, "192.0.2.1")
    second = limiter.take(READS, "192.0.2.1")
    assert first and second
    assert (first.remaining, second.remaining) == (599, 598)
    assert first.reset_seconds == 60


def test_two_addresses_have_allowances_of_their_own() -> None:
    limiter = Limiter(Counters(), Clock())
    quota = Quota("searches", 1)
    assert taken(limiter, quota, 2, "192.0.2.1") == [True, False]
    assert taken(limiter, quota, 1, "192.0.2.2") == [True]


def test_broken_counter_store_lets_readers_through_and_is_left_alone_for_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    counters, clock = Counters(), Clock(1_000_020.0)
    counters.broken = True
    limiter = Limiter(counters, clock)
    assert all(taken(limiter, READS, 100))
    assert counters.calls == 1
    assert "192.0.2.1" not in caplog.text
    assert [record.getMessage() for record in caplog.records] == ["rate limits are counted by this process alone"]
    counters.broken = False
    clock.now += STORE_PAUSE_SECONDS
    taken(limiter, READS, 200)
    assert counters.calls > 1


def test_quota_of_zero_is_no_limit() -> None:
    counters = Counters()
    assert Limiter(counters, Clock()).take(Quota("reads", 0), "192.0.2.1") is None
    assert counters.calls == 0


def test_stored_keys_hold_no_address_and_depend_on_the_secret() -> None:
    keys: list[str] = []
    for secret in (b"one", b"two"):
        counters = Counters()
        Limiter(counters, Clock(), secret=secret).take(READS, "192.0.2.1")
        keys.extend(counters.totals)
    assert "192.0.2.1" not in "".join(keys)
    assert len(set(keys)) == 2


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("not:an:address", "not:an:address"),
    ],
)
def test_client_is_an_address_or_its_ipv6_network(address: str, expected: str) -> None:
    assert network(address) == expected
