"""How the benchmarks of speed measure: what is compared takes turns, so that noise of a moment is in all of it."""

import gc
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from statistics import median
from typing import Protocol, TypeVar

from bench.table import Row, percentile, ratio


class Connection(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Connection)
Ways = Mapping[str, Callable[[], object]]
"""The calls of one round, by name."""
Seconds = dict[str, list[float]]
"""The times that the calls of each name took, round by round."""


@dataclass(frozen=True, slots=True)
class Table:
    """The result that a benchmark yields. Each of `faults` is a missed target, which makes the run end with 1."""

    name: str
    title: str
    rows: Sequence[Row]
    note: str = ""
    faults: Sequence[str] = ()


def by_turns(rounds: Iterable[Ways], *, warm_up: int = 0, skipping: tuple[type[Exception], ...] = ()) -> Seconds:
    """Return the seconds of every call, in an order that changes; the first rounds warm up and are not counted.

    A call that raises one of `skipping` has no time in that round.
    """
    order, taken = random.Random(1), dict[str, list[float]]()
    for number, ways in enumerate(rounds):
        for name in ways:
            taken.setdefault(name, [])
        for name in order.sample([*ways], len(ways)):
            began = time.perf_counter()
            try:
                ways[name]()
            except skipping:
                continue
            if number >= warm_up:
                taken[name].append(time.perf_counter() - began)
    return taken


def cpu_by_turns(ways: Ways, *, blocks: int, calls: int) -> Seconds:
    """Return the CPU seconds of one call, of all threads, for each block of calls; a first block warms up.

    Garbage of one must not be collected in another's time.
    """
    order, taken = random.Random(1), {name: list[float]() for name in ways}
    for number in range(blocks + 1):
        for name in order.sample([*ways], len(ways)):
            call = ways[name]
            gc.collect()
            began = time.process_time()
            for _ in range(calls):
                call()
            if number:
                taken[name].append((time.process_time() - began) / calls)
    return taken


def together(
    connect: Callable[[], C], call: Callable[[C], object], clients: int, *, warm: float = 0.0, seconds: float
) -> list[float]:
    """Return the latencies of the calls that several clients at once got answered in so many seconds.

    Each has a connection of its own. In the `warm` seconds before, the host starts what it needs.
    """
    taken: list[float] = []
    start = time.perf_counter() + warm

    def work() -> None:
        with closing(connect()) as connection:
            while (began := time.perf_counter()) < start + seconds:
                call(connection)
                if began >= start:
                    taken.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def spread(seconds: Sequence[float], before: str = "", unit: str = "") -> dict[str, float]:
    """Return the columns of median and 95th percentile, in milliseconds."""
    return {
        f"{before}p50{unit}": 1000 * median(seconds),
        f"{before}p95{unit}": 1000 * percentile(seconds, 95),
    }


def times(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return the median of the ratios of calls in the same round: noise of a moment is in both."""
    ratios = [found for first, second in zip(one, other, strict=True) if (found := ratio(first, second)) is not None]
    return median(ratios) if ratios else None
