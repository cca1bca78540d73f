"""A publication told to its operators. Pure."""

from collections import Counter
from datetime import datetime

from commonplace.documents.sync.publication import Publication
from commonplace.documents.sync.report import Counts, Note, Report, SkippedFile
from commonplace.repository.plan import Plan

UNKNOWN_TYPE = "unknown-type"


def report_of(publication: Publication, *, run: str, plan: Plan, generation: int, finished_at: datetime) -> Report:
    refs = {entry.path: entry.ref for entry in publication.entries}
    notes = [
        Note(ref=refs[path], path=path, problem=problem)
        for path, problems in sorted(publication.problems.items())
        if path in refs
        for problem in problems
    ]
    unknown = Counter(note.problem.message for note in notes if note.problem.code == UNKNOWN_TYPE)
    broken = publication.graph.broken
    return Report(
        run=run,
        commit_sha=plan.commit_sha,
        generation=generation,
        started_at=plan.started_at,
        finished_at=finished_at,
        counts=Counts(
            documents=len(publication.entries),
            stored=len(publication.stored),
            unchanged=len(publication.entries) - len(publication.stored),
            removed=len(publication.removed),
            attachments=len(publication.attachments),
            problems=len(notes),
            broken_links=len(broken),
        ),
        stored=publication.stored,
        removed=publication.removed,
        skipped=[
            SkippedFile(path=item.path, reason=item.reason, problem=item.problem, kept_last_good=item.kept_last_good)
            for item in publication.skipped
        ],
        skipped_by_reason=dict(Counter(item.reason for item in publication.skipped).most_common()),
        notes=notes,
        broken_links=list(broken),
        unknown_types=dict(unknown),
        pending=publication.pending,
    )
