"""The records that were read before: one that comes up again in its version costs no request."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

from commonplace.search.model import RecordId

T = TypeVar("T")


class RecordMemory(Generic[T]):
    """The memory of one process, by index, record and version. The one that was wanted longest ago goes first.

    Who ranks records says in which versions they were found (`check`), before what is remembered of them is used.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, RecordId], tuple[int, T]] = OrderedDict()
        self._lock = Lock()

    def check(self, index: str, versions: Iterable[tuple[RecordId, int]]) -> None:
        """Forgets those of other versions."""
        with self._lock:
            for record, version in versions:
                kept = self._kept.get((index, record))
                if kept is not None and kept[0] != version:
                    del self._kept[index, record]

    def known(self, index: str, wanted: Sequence[RecordId]) -> dict[RecordId, T]:
        """Those of the wanted that are remembered."""
        found: dict[RecordId, T] = {}
        with self._lock:
            for record in wanted:
                if kept := self._kept.get((index, record)):
                    found[record] = kept[1]
                    self._kept.move_to_end((index, record))
        return found

    def remember(self, index: str, read: Mapping[RecordId, tuple[int, T]]) -> None:
        with self._lock:
            for record, kept in read.items():
                self._kept[index, record] = kept
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)

    def forget(self) -> None:
        """All of it."""
        with self._lock:
            self._kept.clear()
