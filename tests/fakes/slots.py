"""Slots in a list."""

from collections.abc import Callable, Sequence

from commonplace.kernel.limits import Slot


class FakeSlots:
    """`commonplace.kernel.limits.SlotStore` in this process; can be unreachable, and change behind one's back."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.writes = 0
        self.calls = 0
        self.unreachable = False
        self.meanwhile: list[Callable[[], object]] = []
        """Each happens once, between somebody's reading and writing."""

    def read(self) -> tuple[Sequence[Slot], str]:
        self._called()
        return list(self.slots), str(self.writes)

    def replace(self, slots: Sequence[Slot], mark: str) -> bool:
        self._called()
        if self.meanwhile:
            self.meanwhile.pop(0)()
        if mark != str(self.writes):
            return False
        self.slots = list(slots)
        self.writes += 1
        return True

    def _called(self) -> None:
        self.calls += 1
        if self.unreachable:
            raise ConnectionError("no route to the table")
