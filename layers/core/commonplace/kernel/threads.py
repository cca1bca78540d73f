"""Many slow calls side by side."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from commonplace.kernel.parallel import Parallel

Item = TypeVar("Item")
Result = TypeVar("Result")


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
