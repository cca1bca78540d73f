"""A bounded memory of byte strings and what comes with them."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class ByteCache(Generic[Key, Value]):
    """The most recently used values that together stay under a number of bytes."""

    def __init__(self, max_bytes: int, size: Callable[[Value], int]) -> None:
        self._max_bytes = max_bytes
        self._size = size
        self._bytes = 0
        self._held: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        if (found := self._held.get(key)) is not None:
            self._held.move_to_end(key)
        return found

    def put(self, key: Key, value: Value) -> None:
        """Keeps the value, unless it alone would push most others out."""
        if self._size(value) > self._max_bytes // 4:
            return
        if (replaced := self._held.pop(key, None)) is not None:
            self._bytes -= self._size(replaced)
        self._held[key] = value
        self._bytes += self._size(value)
        while self._bytes > self._max_bytes:
            self._bytes -= self._size(self._held.popitem(last=False)[1])

    def clear(self) -> None:
        self._held.clear()
        self._bytes = 0
