"""A bounded cache of byte strings with a value for each."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class ByteCache(Generic[Key, Value]):
    """The most recently used values that together stay under a number of bytes. Any thread may use it."""

    def __init__(self, max_bytes: int, size: Callable[[Value], int]) -> None:
        self._max_bytes = max_bytes
        self._size = size
        self._bytes = 0
        self._held: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            if (found := self._held.get(key)) is not None:
                self._held.move_to_end(key)
            return found

    def put(self, key: Key, value: Value) -> None:
        """Keeps the value, unless it alone would push most others out."""
        size = self._size(value)
        if size > self._max_bytes // 4:
            return
        with self._lock:
            if (replaced := self._held.pop(key, None)) is not None:
                self._bytes -= self._size(replaced)
            self._held[key] = value
            self._bytes += size
            while self._bytes > self._max_bytes:
                self._bytes -= self._size(self._held.popitem(last=False)[1])

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
            self._bytes = 0
