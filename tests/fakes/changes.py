"""A change feed in a list."""

from collections.abc import Sequence

from commonplace.kernel.errors import Unavailable
from commonplace.search.source import Change


class FakeChanges:
    """Tells and hears changes in this process; can be unreachable."""

    def __init__(self) -> None:
        self.told: list[Change] = []
        self.unreachable = False

    def append(self, changes: Sequence[Change]) -> None:
        self._check()
        self.told += changes

    def position(self) -> str:
        self._check()
        return str(len(self.told))

    def since(self, position: str) -> tuple[list[Change], str]:
        self._check()
        found = self.told[int(position) :]
        return found, str(len(self.told))

    def _check(self) -> None:
        if self.unreachable:
            raise Unavailable("The change feed does not answer.")
