"""Calls over many items: one after the other, or in threads."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Parallel:
    """Applies a function to many items; the default does one after the other, the functions' does it in threads."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        return [function(item) for item in items]


class Threads(Parallel):
    """Results come in the order of the items; the first error is raised once the calls under way have ended."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        pool = ThreadPoolExecutor(self._workers)
        try:
            return list(pool.map(function, items))
        finally:
            pool.shutdown(cancel_futures=True)
