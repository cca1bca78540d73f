import threading

import pytest

from commonplace.kernel.parallel import Threads


def test_results_come_in_the_order_of_the_items() -> None:
    gate = threading.Event()

    def slow_first(number: int) -> int:
        if number == 0:
            assert gate.wait(60)
        elif number == 3:
            gate.set()
        return number

    assert Threads(2).map(slow_first, range(5)) == [0, 1, 2, 3, 4]


def test_the_first_error_is_raised_and_what_waits_is_dropped() -> None:
    done: list[int] = []

    def fail_at_two(number: int) -> None:
        if number == 2:
            raise LookupError(number)
        done.append(number)

    with pytest.raises(LookupError):
        Threads(1).map(fail_at_two, range(100))
    assert done[:2] == [0, 1]
