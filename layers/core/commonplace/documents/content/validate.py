"""Validation of a whole tree before a push: every problem with its place.

Unlike reports of the sync, findings about links quote the target as written: they are for the author's own eyes.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote

from commonplace.documents.content.graph import Broken, LinkResolver, ToDocument, names_of
from commonplace.documents.content.normalise import Normalised, normalise
from commonplace.documents.content.ontology import ONTOLOGY, Ontology
from commonplace.documents.content.paths import Exclusions, assign_ids
from commonplace.documents.content.reader import Invalid, Published, Unpublished, Verdict, extract_links, judge
from commonplace.repository.link import Link
from commonplace.repository.markdown import ParsedFile
from commonplace.repository.problems import Problem, Severity
from commonplace.repository.slugs import is_markdown, slug, stem

_LINE_END = re.compile(r"\r\n|\n|\r")
_ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    path: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class Report:
    """Findings by path and line, and what the tree holds."""

    findings: tuple[Finding, ...]
    published: Mapping[str, int]
    """Content type -> how many documents would be published."""
    unpublished: int
    unreadable: int

    def of(self, *severities: Severity) -> tuple[Finding, ...]:
        """Findings of these severities, most severe first, then as they stand in the tree."""
        chosen = [finding for finding in self.findings if finding.problem.severity in severities]
        return tuple(sorted(chosen, key=lambda finding: _ORDER[finding.problem.severity]))

    def counts(self) -> list[tuple[Severity, str, int]]:
        """(severity, code, how often), most severe first, then most frequent."""
        counted = Counter((finding.problem.severity, finding.problem.code) for finding in self.findings)
        rows = [(severity, code, count) for (severity, code), count in counted.items()]
        return sorted(rows, key=lambda row: (_ORDER[row[0]], -row[2], row[1]))


def validate_tree(
    paths: Iterable[str],
    read: Callable[[str], bytes],
    exclusions: Exclusions | None = None,
    ontology: Ontology = ONTOLOGY,
) -> Report:
    """Reads every Markdown file among the paths of a tree and says what is wrong with it and between them."""
    tree = _Tree(sorted(paths), read, exclusions or Exclusions(), ontology)
    found = sorted(tree.findings(), key=lambda finding: (finding.path, finding.problem.line or 0))
    return Report(
        findings=tuple(found),
        published=Counter(document.content_type for document in tree.documents.values()),
        unpublished=sum(isinstance(verdict, Unpublished) for verdict in tree.verdicts.values()),
        unreadable=sum(isinstance(verdict, Invalid) for verdict in tree.verdicts.values()),
    )


class _Tree:
    def __init__(
        self, paths: list[str], read: Callable[[str], bytes], exclusions: Exclusions, ontology: Ontology
    ) -> None:
        self._paths = paths
        self._exclusions = exclusions
        judged = {path: judge(read(path)) for path in paths if is_markdown(path)}
        self._misplaced = [path for path, verdict in judged.items() if _in_vain(verdict, exclusions.excludes(path))]
        self.verdicts: dict[str, Verdict] = {
            path: verdict for path, verdict in judged.items() if exclusions.is_content(path)
        }
        self._files: dict[str, ParsedFile] = {
            path: verdict.file for path, verdict in self.verdicts.items() if isinstance(verdict, Published)
        }
        self.documents: dict[str, Normalised] = {
            path: normalise(path, file, ontology) for path, file in self._files.items()
        }

    def findings(self) -> Iterator[Finding]:
        for path, verdict in self.verdicts.items():
            if not isinstance(verdict, Published) and verdict.problem:
                yield Finding(path, verdict.problem)
        for path, document in self.documents.items():
            yield from (Finding(path, problem) for problem in document.problems)
        yield from self._misplaced_documents()
        yield from self._collisions()
        yield from self._tags()
        yield from self._links()

    def _misplaced_documents(self) -> Iterator[Finding]:
        hint = "move the file, or take `publish: true` out"
        for path in self._misplaced:
            yield Finding(path, Problem("excluded", "it says `publish: true` in a folder that is left out", hint, 1))

    def _collisions(self) -> Iterator[Finding]:
        ids = assign_ids({path: document.content_type for path, document in self.documents.items()})
        for path, identifier in ids.items():
            if identifier != slug(stem(path)):
                content_type = self.documents[path].content_type
                message = f"another {content_type} has the same file name, or it makes no short id"
                yield Finding(path, Problem("id-collision", message, f"its id is `{identifier}`", 1))

    def _tags(self) -> Iterator[Finding]:
        users: dict[str, list[str]] = defaultdict(list)
        for path, document in self.documents.items():
            for tag in document.tags:
                users[tag].append(path)
        lexicon = self._lexicon()
        for tag, paths in users.items():
            line = self._files[paths[0]].lines.get("tags", 1)
            if len(paths) == 1:
                message = f"no other document has the tag `{tag}`"
                yield Finding(
                    paths[0], Problem("tag-used-once", message, "is it spelt as elsewhere?", line, field="tags")
                )
            if lexicon and slug(tag) not in lexicon:
                message = f"the lexicon has no entry for the tag `{tag}`"
                hint = "write a document of type tag with this name or alias"
                yield Finding(paths[0], Problem("tag-not-in-lexicon", message, hint, line, field="tags"))

    def _lexicon(self) -> set[str]:
        return {
            slug(name)
            for path, document in self.documents.items()
            if document.content_type == "tag"
            for name in (stem(path), document.title, *document.aliases)
        }

    def _links(self) -> Iterator[Finding]:
        files = [path for path in self._paths if not is_markdown(path)]
        names = names_of((path, document.title, document.aliases) for path, document in self.documents.items())
        published = LinkResolver(self.documents, files, names)
        everything = LinkResolver((path for path in self._paths if is_markdown(path)), files)
        for path, file in self._files.items():
            lines: list[str] | None = None
            for link in extract_links(file):
                resolution = published.resolve(path, link)
                if not isinstance(resolution, Broken):
                    continue
                private = isinstance(everything.resolve(path, link), ToDocument)
                lines = lines or _LINE_END.split(file.body)
                column = _column(file, lines, link)
                yield Finding(path, replace(_broken(link, resolution, private), line=link.line, column=column))


def _in_vain(verdict: Verdict, excluded: bool) -> bool:
    return excluded and isinstance(verdict, Published)


def _broken(link: Link, resolution: Broken, private: bool) -> Problem:
    target = "".join(char if char.isprintable() else "?" for char in link.target[:200])
    if private:
        hint = "publish it, or take the link out; readers see a link that leads nowhere"
        return Problem("link-to-unpublished", f"`{target}` is not published", hint)
    if link.kind == "image" or (link.kind == "embed" and "." in target.rpartition("/")[2]):
        return Problem("missing-attachment", f"there is no file `{target}`", "add the file, or correct the path")
    suggestion = f"did you mean `{resolution.suggestion}`?" if resolution.suggestion else "correct the path"
    return Problem("broken-link", f"there is no document or file `{target}`", suggestion)


def _column(file: ParsedFile, lines: list[str], link: Link) -> int | None:
    """Where the target stands in its line of the body, if it stands there as it was read."""
    index = link.line - file.body_line
    line = lines[index] if 0 <= index < len(lines) else ""
    for spelling in (link.target, quote(link.target), link.target.replace(" ", "%20")):
        if (position := line.find(spelling)) >= 0:
            return position + 1
    return None
