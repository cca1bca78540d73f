"""Carrying on what one call could not finish, and sweeping up after parents that are gone: for the index function."""

from collections.abc import Sequence

from commonplace.memory.entries import EntryId
from commonplace.memory.jobs import Job
from commonplace.memory.large_imports import LargeImports
from commonplace.memory.parts import Enough, Parts
from commonplace.memory.ports import EntryStore
from commonplace.memory.rebuilding import Rebuilding

__all__ = ["Enough", "Parts", "carry_on", "sweep_children", "sweep_lost_parents"]

SWEPT_TOGETHER = 100


def carry_on(parts: Parts, organisation: str, job_id: str, enough: Enough) -> Job | None:
    """Does another stretch of a job, until there is `enough`, and answers how it stands; None when there is none.

    The job is written once, at the end: each write of it is an event, which calls for the next stretch. A stretch that
    is lost is done again without harm, and one that two workers do is counted once. Raises Unavailable when nothing
    could be done: then it is to be tried again later.
    """
    job = parts.jobs.job(organisation, job_id)
    if job is None or job.status != "in_progress":
        return job
    if job.kind == "import":
        return LargeImports(parts).carry_on(job, enough)
    return Rebuilding(parts).carry_on(job, enough)


def sweep_children(store: EntryStore, organisation: str, parent: EntryId) -> int:
    """Takes a parent that is gone out of its children, and says of how many. Does nothing while it is there."""
    if store.get(organisation, parent) is not None:
        return 0
    children = [card.id for card in store.cards(organisation) if card.parent_id == parent]
    _forget(store, organisation, children, parent)
    return len(children)


def sweep_lost_parents(store: EntryStore, organisation: str) -> int:
    """As `sweep_children`, for every parent of the organisation that is gone: what an event that was lost has left."""
    parents = {card.id: card.parent_id for card in store.cards(organisation)}
    children: dict[EntryId, list[EntryId]] = {}
    for id, parent in parents.items():
        if parent is not None and parent not in parents:
            children.setdefault(parent, []).append(id)
    # Cards are not read at one moment: a parent that was added meanwhile is there all the same.
    lost = {parent: ids for parent, ids in children.items() if store.get(organisation, parent) is None}
    for parent, ids in lost.items():
        _forget(store, organisation, ids, parent)
    return sum(map(len, lost.values()))


def _forget(store: EntryStore, organisation: str, ids: Sequence[EntryId], parent: EntryId) -> None:
    for start in range(0, len(ids), SWEPT_TOGETHER):
        store.forget_parent(organisation, ids[start : start + SWEPT_TOGETHER], parent)
