"""What is compared takes turns, and what only warms up is not counted."""

from itertools import count

import pytest

from bench.measure import by_turns, cpu_by_turns, times, together


class Busy(Exception):
    """A call without an answer."""


def test_every_way_has_a_time_for_each_round_after_the_warm_up() -> None:
    called: list[str] = []
    ways = {name: lambda name=name: called.append(name) for name in "abc"}
    taken = by_turns([ways] * 10, warm_up=4)
    assert {name: len(seconds) for name, seconds in taken.items()} == dict.fromkeys("abc", 6)
    assert len({tuple(called[at : at + 3]) for at in range(0, 30, 3)}) > 1


def test_a_call_that_is_skipped_has_no_time() -> None:
    calls = count()

    def sometimes() -> None:
        if next(calls) % 2:
            raise Busy

    assert len(by_turns([{"a": sometimes}] * 10, skipping=(Busy,))["a"]) == 5
    with pytest.raises(Busy):
        by_turns([{"a": sometimes}] * 10)


def test_cpu_is_measured_by_the_block() -> None:
    calls: list[None] = []
    taken = cpu_by_turns({"a": lambda: calls.append(None)}, blocks=3, calls=5)
    assert (len(taken["a"]), len(calls)) == (3, 20)


def test_clients_at_once_have_connections_of_their_own() -> None:
    class Connection:
        def __init__(self) -> None:
            opened.append(self)

        def close(self) -> None:
            closed.append(self)

    opened: list[Connection] = []
    closed: list[Connection] = []
    together(Connection, opened.index, 3, seconds=0)
    assert len(opened) == len(closed) == 3


def test_ratios_are_of_the_same_round() -> None:
    assert times([2, 30, 4], [1, 10, 2]) == 2
    assert times([1], [0]) is None
