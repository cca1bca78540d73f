"""Why a page is there, or is not: the judgement of one file of a tree, by its path or an address of it. Pure."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from urllib.parse import unquote, urlsplit

from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.findings import Finding, Findings, Skip, misplaced, not_served
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.content.paths import is_markdown_by_another_suffix, is_servable
from commonplace.kernel.errors import NotFound
from commonplace.repository.problems import Problem
from commonplace.repository.slugs import is_markdown, slug, stem

GITHUB = ("github.com", "www.github.com", "raw.githubusercontent.com")
_WORDS_OF_GITHUB = ("blob", "edit", "raw", "blame", "tree", "commits")
_BLOCKING = ("excluded", "unsupported-suffix")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one file."""

    path: str
    ref: DocumentRef | None
    """Its document, when it is published."""
    served: bool
    """True for an attachment that a published document shows or links."""
    reasons: Sequence[Problem]
    """Why it is not published; empty when it is."""
    findings: Sequence[Problem]
    """What else is to mend in it."""

    @property
    def published(self) -> bool:
        return self.ref is not None or self.served

    def found(self) -> list[Finding]:
        """Reasons, then the rest."""
        return [Finding(self.path, problem) for problem in (*self.reasons, *self.findings)]


def judge_path(findings: Findings, path: str, size: int | None = None, skip: Skip | None = None) -> Judgement:
    """The judgement of a file that the tree holds. `skip`: what its bytes say, when findings do not hold it.

    Raises NotFound for a path that nothing is known of, naming the nearest ones.
    """
    about = [finding.problem for finding in findings.findings if finding.path == path]
    ref = findings.published.get(path)
    served = path in findings.attachments
    skip = findings.skipped.get(path) or skip
    reasons: list[Problem] = []
    if ref is None and not served:
        if is_markdown_by_another_suffix(path) or (is_markdown(path) and findings.exclusions.excludes(path)):
            reasons.append(misplaced(path, findings.exclusions))
        if skip:
            reasons.append(skip.problem or Problem("unreadable", skip.reason))
        elif not reasons:
            reasons.append(_of_another_file(findings, path, size))
    others = [problem for problem in about if problem not in reasons and problem.code not in _BLOCKING]
    return Judgement(path, ref, served, tuple(reasons), tuple(others))


def judge_address(findings: Findings, what: str) -> list[Judgement]:
    """The judgements of a path, or of every file that an address may mean. Raises NotFound."""
    known = {*findings.published, *findings.skipped, *findings.attachments, *(one.path for one in findings.findings)}
    paths = [what] if what in known or is_path(what) else paths_of(findings, what)
    return [judge_path(findings, path) for path in paths]


def is_path(what: str) -> bool:
    """Whether it is meant as a path of the repository, and as no address."""
    return "://" not in what and not what.startswith("/") and "." in what.rpartition("/")[2]


def paths_of(findings: Findings, address: str, others: Iterable[str] = ()) -> list[str]:
    """Files that an address of the site, of the API or of GitHub means, or a name such as `pattern/tea`.

    A page that is not published has no address, so every file is named that would have this one. `others`: files that
    findings do not hold. Raises NotFound.
    """
    known = list(dict.fromkeys((*findings.published, *findings.skipped, *findings.attachments, *others)))
    known += [path for path in dict.fromkeys(one.path for one in findings.findings) if path not in set(known)]
    parts = urlsplit(address)
    segments = [unquote(one) for one in parts.path.split("/") if one]
    if parts.hostname in GITHUB:
        return [_of_github(segments, set(known), raw=parts.hostname == GITHUB[-1])]
    name = segments[-1] if segments else ""
    if found := [path for path in known if "/".join(segments).endswith(path) and "/" in path]:
        return found[:1]
    content_type = next((one for one in reversed(segments[:-1]) if one in ONTOLOGY.types), None)
    identifier = re.sub(r"\.(?:md|html|json)\Z", "", name)
    published = [
        path
        for path, ref in findings.published.items()
        if ref == f"{content_type}/{identifier}" or (content_type is None and ref.endswith(f"/{identifier}"))
    ]
    if published:
        return published
    attachments = [path for path in known if not is_markdown(path) and path.rpartition("/")[2].lower() == name.lower()]
    alike = [path for path in known if is_markdown(path) and slug(stem(path)) == slug(identifier)]
    typed = [path for path in alike if content_type == ONTOLOGY.type_of_path(path)]
    if found := typed or alike or attachments:
        return found
    raise unknown(address, identifier, known)


def unknown(address: str, name: str, known: Collection[str]) -> NotFound:
    """The error for what is no file of the tree."""
    by_stem = {stem(path).casefold(): path for path in known}
    near = [by_stem[one] for one in get_close_matches(stem(name).casefold(), by_stem, n=3, cutoff=0.6)]
    hint = f"nearest: {', '.join(near)}" if near else "name a path from the top of the repository"
    return NotFound(f"there is no such file: {address}", hint=hint)


def _of_github(segments: Sequence[str], known: Collection[str], *, raw: bool) -> str:
    """`owner/name/blob/{branch}/{path}`, where a branch may have slashes; without `blob` on the host of raw files."""
    rest = list(segments[2:])
    if not raw and rest[:1] and rest[0] in _WORDS_OF_GITHUB:
        rest = rest[1:]
    if raw and rest[:2] == ["refs", "heads"]:
        rest = rest[2:]
    candidates = ["/".join(rest[start:]) for start in range(1, len(rest))]
    return next((path for path in candidates if path in known), candidates[0] if candidates else "")


def _of_another_file(findings: Findings, path: str, size: int | None) -> Problem:
    """Of a file that is no Markdown, or of which nothing is known but its name."""
    told = next((one.problem for one in findings.findings if f"`{path}`" in one.problem.message), None)
    if told and told.code == "attachment-not-served":
        return replace(told, line=None)
    if size is not None and not is_servable(path, size):
        return not_served(path, size)
    if is_markdown(path):
        raise unknown(path, path, [*findings.published, *findings.skipped])
    hint = "link to it from a published document, or show it there; a page ends in `.md`"
    return Problem("not-linked", "no published document shows or links the file", hint)
