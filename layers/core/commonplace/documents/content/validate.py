"""Validation of a whole tree before a push: every finding with its place."""

from collections.abc import Callable, Iterable, Mapping

from commonplace.documents.content.document import reference
from commonplace.documents.content.findings import Findings, Page, Skip, Tree, find
from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.ontology import ONTOLOGY, Ontology
from commonplace.documents.content.paths import Exclusions, assign_ids
from commonplace.documents.content.reader import Invalid, Published, Unpublished, judge


def validate_tree(
    paths: Iterable[str],
    read: Callable[[str], bytes],
    exclusions: Exclusions | None = None,
    ontology: Ontology = ONTOLOGY,
    sizes: Mapping[str, int] | None = None,
) -> Findings:
    """Reads every Markdown file among the paths of a tree and says what is wrong with it and between them.

    `sizes`: bytes of files; one that is not in it counts as small.
    """
    known, exclusions = sorted(paths), exclusions or Exclusions()
    verdicts = {path: judge(read(path)) for path in known if exclusions.is_content(path)}
    files = {path: verdict.file for path, verdict in verdicts.items() if isinstance(verdict, Published)}
    fields = {path: normalise(path, file, ontology) for path, file in files.items()}
    ids = assign_ids({path: one.content_type for path, one in fields.items()})
    pages = {
        path: Page(
            ref=reference(one.content_type, ids[path]),
            title=one.title,
            aliases=one.aliases,
            tags=one.tags,
            problems=one.problems,
            links=one.links,
            tag_lines=one.tag_lines,
        )
        for path, one in fields.items()
    }
    skipped: dict[str, Skip] = {}
    for path, verdict in verdicts.items():
        match verdict:
            case Unpublished(reason, problem):
                skipped[path] = Skip(reason, problem)
            case Invalid(problem):
                skipped[path] = Skip(problem.message, problem)
            case Published():
                pass
    misplaced = [path for path in known if exclusions.is_misplaced(path) and isinstance(judge(read(path)), Published)]
    return find(Tree(pages, skipped, misplaced, {path: (sizes or {}).get(path, 0) for path in known}), exclusions)
