"""What is kept at the head of a branch: the knowledge base, and each catalogue beside it.

Standard library only: the webhook function carries no third-party package.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from commonplace.repository.poke import Duplicate, Hint, Queued, Started

Outcome = Started | Queued | Duplicate


@dataclass(frozen=True, slots=True)
class Followed:
    name: str
    """Of the catalogue; empty for the knowledge base."""
    repository: str
    """`owner/name`."""
    branch: str
    poke: Callable[[Hint], Outcome]


def poke_each(followed: Sequence[Followed], hint: Hint) -> dict[str, Outcome]:
    """By name. One that cannot be poked keeps no other from it; its error is raised when all have had their turn."""
    outcomes: dict[str, Outcome] = {}
    failed: Exception | None = None
    for one in followed:
        try:
            outcomes[one.name] = one.poke(hint)
        except Exception as error:  # noqa: BLE001  whatever it is, the others have their turn first
            failed = failed or error
    if failed is not None:
        raise failed
    return outcomes
