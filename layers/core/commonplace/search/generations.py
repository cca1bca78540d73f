"""Several indexes of one collection: the one that answers, the one being built, the one to go back to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from commonplace.search.model import Engine

Role = Literal["current", "next", "previous", "spare"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What an index was built under. Kept in the index itself; two indexes with equal facts are interchangeable."""

    schema: str
    """Version of the fields and of the queries over them: another one cannot be read."""
    chunker: str
    model: str
    """Fingerprint of the embedding model, or `none`."""
    mapping: str
    """Hash of mapping and analysis, k-NN parameters included."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One index."""

    name: str
    role: Role
    facts: Facts
    documents: int
    """Live records."""


class Generations(Protocol):
    """The indexes of one collection. Every change of roles is one step for readers. All raise Unavailable."""

    def wanted(self) -> Facts:
        """What an index built under the present configuration is like."""
        ...

    def all(self) -> Sequence[Generation]:
        """Every index of the collection: current, next, previous, then the spare ones by name."""
        ...

    def create_next(self, *, anew: bool = False) -> Generation:
        """The index to build: the one under way when its facts are those wanted, else a new and empty one.

        `anew` drops the one under way first. From now on writes of the index function go to it as well.
        """
        ...

    def engine(self, name: str) -> Engine:
        """An engine that reads and writes this one index, whatever its role."""
        ...

    def settle(self, name: str) -> None:
        """Makes every write visible and gives a freshly built index its serving settings."""
        ...

    def swap(self) -> tuple[str | None, str]:
        """Next becomes current, current becomes previous, in one step. Answers both names, old and new."""
        ...

    def rollback(self) -> tuple[str, str]:
        """Previous becomes current, current becomes next, in one step. Answers both names, old and new."""
        ...

    def drop(self, name: str) -> None:
        """Deletes an index that is not current. Raises InvalidInput for the current one."""
        ...
