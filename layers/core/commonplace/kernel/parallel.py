"""Many items, one function: one after the other here, side by side where an adapter says so."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Parallel:
    """Applies a function to many items; the default does one after the other, the functions' does it in threads."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        return [function(item) for item in items]
