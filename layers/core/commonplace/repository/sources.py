"""The branches that a deployment follows, and the context that the sync function passes to each capability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonplace.kernel.objects import ObjectStore
    from commonplace.kernel.parallel import Parallel
    from commonplace.repository.ports import Repository, SyncState
    from commonplace.repository.settings import SyncSettings

STATUS_CONTEXT = "commonplace/sync"  # Of the commit statuses of the knowledge base


class InFolder(Protocol):
    """A capability's content in a folder of a branch."""

    @property
    def repository(self) -> str: ...

    @property
    def branch(self) -> str: ...

    @property
    def folder(self) -> str: ...


@dataclass(frozen=True, slots=True)
class BranchSource:
    """A branch, or a folder of it, that is brought into the store by runs of its own."""

    name: str  # Empty for the knowledge base
    repository: str  # `owner/name`
    branch: str
    folder: str = ""  # The folder of the branch that is this source's alone, without a slash at either end
    status: str = STATUS_CONTEXT  # Context of the commit statuses that report the outcome of runs

    @property
    def state_partition(self) -> str:
        """Of the table of activity, where the state of its runs is. A catalogue's outlives a move to another branch."""
        return f"sync#reference#{self.name}" if self.name else f"sync#{self.repository}#{self.branch}"


@dataclass(frozen=True, slots=True)
class StepContext:
    """The context of the steps of one event. `repository` counts the calls of this event."""

    environ: Mapping[str, str]
    settings: SyncSettings
    source: BranchSource
    sources: Sequence[BranchSource]
    objects: ObjectStore
    repository: Repository
    state: SyncState
    parallel: Parallel

    @property
    def folders_of_others(self) -> tuple[str, ...]:
        others = [one for one in self.sources if one is not self.source]
        return folders_within(others, self.source.repository, self.source.branch)


def folders_within(sources: Iterable[InFolder], repository: str, branch: str) -> tuple[str, ...]:
    """Folders of a branch that these sources have for themselves, each with a slash at its end."""
    return tuple(
        f"{one.folder}/"
        for one in sources
        if one.folder and one.repository.casefold() == repository.casefold() and one.branch == branch
    )
