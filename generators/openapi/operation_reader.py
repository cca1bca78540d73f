"""How one operation is read: references followed, and everything that could not be read told once."""

from dataclasses import dataclass, field
from typing import Any

from generators.generated import Unread
from generators.openapi.pointers import Followed, Pointers

MAX_UNREAD = 20
"""Of one operation."""
BUNDLE = "Put everything into one document (a bundler does that), then generate again."


@dataclass(slots=True)
class Reader:
    """The document as one operation sees it."""

    pointers: Pointers
    where: str
    """`GET /users`."""
    secret_names: frozenset[str] = frozenset()
    """Of headers, cookies and parameters that carry a credential."""
    known: dict[str, Any] = field(default_factory=dict)
    """What was made of a reference once, for all operations of the document."""
    _told: dict[str, Unread] = field(default_factory=dict)

    @property
    def unread(self) -> tuple[Unread, ...]:
        """In the order in which it was met; what is too much is counted."""
        found = tuple(self._told.values())
        more = len(found) - MAX_UNREAD
        return (*found[:MAX_UNREAD], Unread(self.where, f"{more} more parts cannot be read.")) if more > 0 else found

    def tell(self, what: str, hint: str | None = None) -> None:
        self._told.setdefault(what, Unread(self.where, what, hint))

    def follow(self, value: Any) -> Followed:
        """A reference that leads nowhere is told, and has no value."""
        found = self.pointers.follow(value)
        if found.problem:
            self.tell(found.problem, BUNDLE if "another document" in found.problem else None)
        return found

    def mapping(self, value: Any, what: str) -> dict[str, Any]:
        """The object that a value is or refers to; an empty one for anything else, which is told."""
        found = self.follow(value)
        if isinstance(found.value, dict):
            return found.value
        if not found.problem and found.value is not None:
            self.tell(f"{what} is no object.")
        return {}


def mappings(value: Any) -> list[tuple[str, Any]]:
    """Members of an object by name; none of anything else."""
    return sorted(value.items()) if isinstance(value, dict) else []


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
