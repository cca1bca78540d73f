"""Carrying on what one call could not finish: for whoever is told of a job's event, or finds one left over."""

from commonplace.memory.jobs import Job
from commonplace.memory.large_imports import LargeImports
from commonplace.memory.parts import Parts
from commonplace.memory.rebuild import Rebuilding
from commonplace.search.indexer import Enough

__all__ = ["Enough", "Parts", "carry_on"]


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
