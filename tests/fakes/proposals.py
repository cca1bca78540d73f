"""Pull requests, in memory."""

from dataclasses import dataclass, replace

from commonplace.documents.proposals.github import GitHubProposals
from commonplace.documents.proposals.proposal import Proposal, Proposed
from commonplace.kernel.errors import Conflict


@dataclass(frozen=True, slots=True)
class Opened:
    proposal: Proposal
    proposed: Proposed


class FakeProposals(GitHubProposals):
    """`files` are what the served branch holds. `failures` are raised by the next calls, one each."""

    def __init__(self, files: dict[str, str] | None = None) -> None:
        self.files = dict(files or {})
        self.opened: dict[str, Opened] = {}
        self.failures: list[Exception] = []

    def propose(self, proposal: Proposal) -> Proposed:
        if self.failures:
            raise self.failures.pop(0)
        if found := self.opened.get(proposal.branch):
            if found.proposal.fingerprint != proposal.fingerprint:
                raise Conflict("Another proposal has been made under this key.")
            return replace(found.proposed, created=False)
        if proposal.path.casefold() in map(str.casefold, self.files):
            raise Conflict(f"A file stands at {proposal.path} already.")
        if proposal.path in [one.proposal.path for one in self.opened.values()]:
            raise Conflict("This is proposed already, and waits for its review.")
        number = len(self.opened) + 1
        url = f"https://github.com/reef/garden/pull/{number}"
        proposed = Proposed(number, url, proposal.path, proposal.branch, created=True)
        self.opened[proposal.branch] = Opened(proposal, proposed)
        return proposed
