"""Findings about a whole tree, judged the same way by the sync and before a push, and counted in one way. Pure.

Findings quote links and lines as they are written, and say which page is not published: they are for editors and
operators, never for readers.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.graph import Broken, LinkResolver, ToDocument, ToFile, names_of
from commonplace.documents.content.paths import Exclusions, is_markdown_by_another_suffix, is_servable
from commonplace.repository.headings import leads, no_such_place
from commonplace.repository.link import Link
from commonplace.repository.problems import KINDS, LFS_POINTER, SEVERITIES, Problem, Severity, Tally
from commonplace.repository.slugs import FRONT_PAGES, is_markdown, slug, stem

OF_LINKS = frozenset({"broken-link", "link-to-unpublished", "broken-content"})
"""Codes of what readers see broken: they may name other files."""
DELIBERATE = frozenset({"publish-false"})
"""Codes of pages that nobody misses: the answer to a question, and no finding."""


@dataclass(frozen=True, slots=True)
class Finding:
    path: str
    problem: Problem

    def facts(self) -> dict[str, Any]:
        """For programs."""
        names = ("line", "column", "severity", "code", "field", "message", "hint", "written")
        return {"path": self.path} | {name: getattr(self.problem, name) for name in names}


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one code."""

    code: str
    findings: Sequence[Finding]

    @property
    def severity(self) -> Severity:
        return KINDS[self.code][0]

    @property
    def title(self) -> str:
        """What is wrong with each, in words."""
        return KINDS[self.code][1]


@dataclass(frozen=True, slots=True)
class Skip:
    """A file of a folder with content that is not published as it stands."""

    reason: str
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A published document, as far as findings need it."""

    ref: DocumentRef
    title: str
    aliases: Sequence[str]
    tags: Sequence[str]
    problems: Sequence[Problem]
    """Of its own file."""
    links: Sequence[Link]
    tag_lines: Mapping[str, int] = field(default_factory=dict)
    anchors: Collection[str] | None = None
    """Fragments that lead somewhere; None where they are not known."""

    @property
    def content_type(self) -> str:
        return self.ref.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree that has been read: every path is in one of these."""

    pages: Mapping[str, Page]
    skipped: Mapping[str, Skip]
    misplaced: Collection[str]
    """Files that would be published in another folder or with another suffix."""
    files: Mapping[str, int]
    """Every file of the tree and its bytes."""
    pointers: Collection[str] = ()
    """Files that are served and are pointers of Git LFS."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What there is to mend in a tree, by path and line, and what became of its files."""

    findings: Sequence[Finding]
    published: Mapping[str, DocumentRef]
    skipped: Mapping[str, Skip] = field(default_factory=dict)
    attachments: Collection[str] = ()
    """Paths of the files that are served with the documents."""
    exclusions: Exclusions = field(default_factory=Exclusions)

    @property
    def tally(self) -> Tally:
        return Tally.of(finding.problem for finding in self.findings)

    def of(self, *severities: Severity) -> tuple[Finding, ...]:
        """Findings of these severities, most severe first, then as they stand in the tree."""
        chosen = [finding for finding in self.findings if finding.problem.severity in severities]
        return tuple(sorted(chosen, key=lambda finding: SEVERITIES.index(finding.problem.severity)))

    def groups(self) -> list[Group]:
        """Findings by code, most severe first, then most frequent."""
        by_code = groupby(sorted(self.findings, key=_code), key=_code)
        groups = [Group(code, tuple(found)) for code, found in by_code]
        return sorted(groups, key=lambda one: (SEVERITIES.index(one.severity), -len(one.findings), one.code))

    def below(self, folder: str) -> "Findings":
        """Of this folder, or of this one file, alone."""

        def inside(path: str) -> bool:
            return not folder or path == folder or path.startswith(f"{folder}/")

        return replace(
            self,
            findings=tuple(finding for finding in self.findings if inside(finding.path)),
            published={path: ref for path, ref in self.published.items() if inside(path)},
            skipped={path: skip for path, skip in self.skipped.items() if inside(path)},
            attachments=tuple(path for path in self.attachments if inside(path)),
        )


def find(tree: Tree, exclusions: Exclusions) -> Findings:
    """Everything that is wrong in a tree, and between its files."""
    used: set[str] = set()
    found = [
        *(
            Finding(path, skip.problem)
            for path, skip in tree.skipped.items()
            if skip.problem and skip.problem.code not in DELIBERATE
        ),
        *(Finding(path, misplaced(path, exclusions)) for path in tree.misplaced),
        *(Finding(path, problem) for path, page in tree.pages.items() for problem in page.problems),
        *_collisions(tree.pages),
        *_tags(tree.pages),
        *_links(tree, used.add),
    ]
    return Findings(
        findings=tuple(sorted(found, key=lambda one: (one.path, one.problem.line or 0, one.problem.code))),
        published={path: page.ref for path, page in sorted(tree.pages.items())},
        skipped=tree.skipped,
        attachments=tuple(sorted(used)),
        exclusions=exclusions,
    )


def misplaced(path: str, exclusions: Exclusions) -> Problem:
    """Of a file that would be published elsewhere, or under another name."""
    if is_markdown_by_another_suffix(path):
        name = path.rpartition("/")[2]
        better = name.rpartition(".")[0] if is_markdown(name.rpartition(".")[0]) else f"{name.rpartition('.')[0]}.md"
        suffix = f".{name.rpartition('.')[2]}"
        message = f"only `.md` and `.markdown` are read, not `{suffix}`"
        return Problem("unsupported-suffix", message, f"rename the file `{better}`", 1)
    pattern = exclusions.by(path) or ""
    if path.rpartition("/")[2].startswith("."):
        message = "a file whose name begins with a dot is not read, whatever it says"
        return Problem("excluded", message, "remove the dot from its name, or remove `publish: true`", 1)
    message = f"nothing in `{pattern}` is read, whatever the file says"
    return Problem("excluded", message, "move the file to another folder, or remove `publish: true`", 1)


def _code(finding: Finding) -> str:
    return finding.problem.code


def _collisions(pages: Mapping[str, Page]) -> Iterator[Finding]:
    named: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, page in pages.items():
        named[page.content_type, slug(stem(path))].append(path)
    for (content_type, name), paths in named.items():
        if len(paths) < 2 or not name or name in FRONT_PAGES:
            continue  # every folder may have a front page: its id takes the folder in, which is nothing to mend
        for path in paths:
            other = next(one for one in paths if one != path)
            identifier = pages[path].ref.partition("/")[2]
            message = f"the id `{name}` is taken: `{other}` is a {content_type} of that name, too"
            cure = f"rename one of the files, or refer to this one by `{identifier}`"
            yield Finding(path, Problem("id-collision", message, cure, 1))


def _tags(pages: Mapping[str, Page]) -> Iterator[Finding]:
    users: dict[str, list[str]] = defaultdict(list)
    for path, page in pages.items():
        for tag in page.tags:
            users[tag].append(path)
    lexicon = {
        slug(name)
        for path, page in pages.items()
        if page.content_type == "tag"
        for name in (stem(path), page.title, *page.aliases)
    }
    for tag, paths in users.items():
        line = pages[paths[0]].tag_lines.get(tag, 1)
        if len(paths) == 1:
            message, hint = f"no other document has the tag `{tag}`", "is it spelt as elsewhere?"
            yield Finding(paths[0], Problem("tag-used-once", message, hint, line, field="tags"))
        if lexicon and slug(tag) not in lexicon:
            message = f"the lexicon has no entry for the tag `{tag}`"
            hint = "write a document of type tag with this name or alias"
            yield Finding(paths[0], Problem("tag-not-in-lexicon", message, hint, line, field="tags"))


def _links(tree: Tree, use: Callable[[str], None]) -> Iterator[Finding]:
    """Links that lead nowhere; `use` is told of the files that are served because of the others."""
    files = [path for path in tree.files if not is_markdown(path)]
    names = names_of((path, page.title, page.aliases) for path, page in tree.pages.items())
    published = LinkResolver(tree.pages, files, names)
    everything = LinkResolver((path for path in tree.files if is_markdown(path)), files)
    anchors = {path: None if page.anchors is None else frozenset(page.anchors) for path, page in tree.pages.items()}
    for path, page in tree.pages.items():
        for link in page.links:
            match published.resolve(path, link):
                case ToFile(target):
                    if target in tree.pointers:
                        message = f"`{target}` is a pointer of Git LFS, without its content"
                        yield Finding(path, replace(LFS_POINTER, message=message, line=link.line))
                    if is_servable(target, tree.files[target]):
                        use(target)
                    else:
                        yield Finding(path, not_served(target, tree.files[target], link.line))
                case Broken() as broken:
                    private = isinstance(everything.resolve(path, link), ToDocument)
                    yield Finding(path, replace(_broken(link, broken, private), line=link.line))
                case ToDocument(target):
                    there = anchors[target]
                    if link.fragment and there is not None and not leads(link.fragment, there):
                        yield Finding(path, no_such_place(link.fragment, link.line))


def not_served(path: str, size: int, line: int | None = None) -> Problem:
    if is_servable("", size):
        if path.rpartition("/")[2].startswith("."):
            message, cure = f"the name of `{path}` begins with a dot, and it is not served", "take the dot off its name"
            return Problem("attachment-not-served", message, cure, line)
        message = f"`{path}` is in a folder whose name begins with a dot, and is not served"
        return Problem("attachment-not-served", message, "move it to another folder", line)
    message = f"`{path}` has {size / 1_000_000:.1f} MB, and no more than 4.5 MB are served"
    return Problem("attachment-not-served", message, "make it smaller, or put it elsewhere and link to it", line)


def _broken(link: Link, broken: Broken, private: bool) -> Problem:
    target = "".join(char if char.isprintable() else "?" for char in link.target[:200])
    if private:
        hint = "publish it, or take the link out; readers see a link that leads nowhere"
        return Problem("link-to-unpublished", f"`{target}` is not published", hint)
    if link.kind == "image" or (link.kind == "embed" and "." in target.rpartition("/")[2]):
        return Problem("broken-content", f"there is no file `{target}`", "add the file, or correct the path")
    suggestion = f"did you mean `{broken.suggestion}`?" if broken.suggestion else "correct the path"
    problem = Problem("broken-link", f"there is no document or file `{target}`", suggestion)
    return replace(problem, code="broken-content") if link.kind == "embed" else problem


def types_of(published: Iterable[DocumentRef]) -> dict[str, int]:
    """Content type -> how many documents."""
    counted: dict[str, int] = defaultdict(int)
    for ref in published:
        counted[ref.partition("/")[0]] += 1
    return dict(sorted(counted.items()))
