"""What the index has just taken, told in passing: whoever waits for a change learns when to look.

A change is a hint, like every event here. It may be told twice, late, or not at all, and the order says little; what is
true is in the store. So a reader asks the store before it tells anybody, and looks there now and then all the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from commonplace.search.records import RecordId

CHANGES_PER_NOTE = 500
"""Told together: a first sync of 20,000 documents is some hundred notes, not 20,000."""

Kind = Literal["written", "removed"]


@dataclass(frozen=True, slots=True)
class Change:
    """One record that the index holds now in this version, or holds no more."""

    record: RecordId
    kind: Kind
    version: int
    """Of the record that was written, or of its tombstone."""
    added: bool | None = None
    """Whether the index had not held the record before; None where that does not apply."""


class ChangeLog(Protocol):
    """Where changes are told."""

    def append(self, changes: Sequence[Change]) -> None:
        """Tells these changes, any number of them. May raise: the caller has done its work already, and goes on."""
        ...


class ChangeFeed(Protocol):
    """Where changes are heard. Raises Unavailable."""

    def position(self) -> str:
        """The end of what was told until now, as a text that only the feed reads."""
        ...

    def since(self, position: str) -> tuple[list[Change], str]:
        """Some of what was told after the position, oldest first, and the position after that.

        It answers at once, with an empty list when there is nothing new. After very many changes it answers the first
        of them; the next call goes on. Raises ValueError for a text that is no position.
        """
        ...


def notes(changes: Sequence[Change]) -> Iterator[Sequence[Change]]:
    """The changes in runs that are told together."""
    return (changes[start : start + CHANGES_PER_NOTE] for start in range(0, len(changes), CHANGES_PER_NOTE))
