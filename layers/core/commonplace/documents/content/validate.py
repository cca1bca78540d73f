"""Validation of a whole tree before a push: every finding with its place."""

from collections.abc import Callable, Iterable, Mapping

from commonplace.documents.content.document import reference
from commonplace.documents.content.findings import Findings, Page, Skip, Tree, find
from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.ontology import ONTOLOGY, Ontology
from commonplace.documents.content.paths import Exclusions, assign_ids, unstorable
from commonplace.documents.content.reader import Invalid, Published, Unpublished, judge
from commonplace.repository.blobs import MAX_POINTER_BYTES, is_lfs_pointer
from commonplace.repository.slugs import is_markdown


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
    verdicts |= {
        path: Invalid(problem)
        for path, verdict in verdicts.items()
        if isinstance(verdict, Published) and (problem := unstorable(path))
    }
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
            anchors=one.anchors,
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
    weights = {path: (sizes or {}).get(path, 0) for path in known}
    small = [path for path, size in weights.items() if size < MAX_POINTER_BYTES and not is_markdown(path)]
    pointers = {path for path in small if is_lfs_pointer(read(path))}
    return find(Tree(pages, skipped, misplaced, weights, pointers), exclusions)
