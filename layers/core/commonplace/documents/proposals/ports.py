"""The port through which a new document is proposed, with its input and its result."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new file to propose."""

    path: str
    """In the repository."""
    text: str
    title: str
    """Of the pull request, and of its commit."""
    body: str
    """Of the pull request, as Markdown."""
    branch: str
    """Named after the key of the request: the same key is the same proposal."""
    fingerprint: str
    """A hash of the request without its date: a repetition has the same, another request has another."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A pull request that is there."""

    number: int
    url: str
    path: str
    branch: str
    created: bool
    """False when it was there already: the request is a repetition."""


class Proposals(Protocol):
    """Pull requests on the knowledge base's repository."""

    def propose(self, proposal: Proposal) -> Proposed:
        """Opens a pull request with one new file, or finds the one that the same branch has, open, merged or closed.

        Never writes to the branch that is served, and never over a file. What a crash has left half done, the same
        proposal finishes. Raises Conflict when the file exists already or the branch says something else, Unavailable
        when GitHub does not take it now, or this deployment's credentials do not allow it.
        """
        ...
