"""Links in the content of entries that lead nowhere."""

import posixpath
from collections.abc import Collection, Iterable

from commonplace.reference.source.bounds import MAX_PROBLEMS
from commonplace.reference.source.findings import Findings
from commonplace.reference.source.nearest import nearest
from commonplace.reference.source.written import Written
from commonplace.repository.markdown import ParsedFile


def check_links(entries: Iterable[Written], paths: Collection[str], findings: Findings) -> None:
    """`paths`: every file that is there, those that are left out as well. Links to the web are not followed."""
    folders = {folder for path in paths for folder in _folders(path)}
    known = sorted(paths)
    broken = 0
    for one in entries:
        if "](" not in one.entry.content:
            continue
        for target, line in _targets(one):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(one.path), target))
            # Beyond the folder nothing is known: there the rest of the repository begins.
            if path in paths or path in folders or path.startswith(("..", "/")) or path == ".":
                continue
            broken += 1
            near = nearest(path, known) if broken <= MAX_PROBLEMS else None
            hint = f"Did you mean `{near}`?" if near else "Mend the path, or take the link away."
            message = f"A link leads to `{target[:200]}`, which is no file of the catalogue."
            findings.warning("broken-link", message, hint, one.at("content").on(line))


def _targets(one: Written) -> Iterable[tuple[str, int | None]]:
    from commonplace.repository.links import find_links

    file = ParsedFile({}, one.entry.content, one.content_line or 1)
    for link in find_links(file):
        if link.kind in ("link", "image") and not link.target.startswith("/"):
            yield link.target, link.line if one.content_line else None


def _folders(path: str) -> Iterable[str]:
    while path := posixpath.dirname(path):
        yield path
