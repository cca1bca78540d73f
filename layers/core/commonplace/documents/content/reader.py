"""The publish gate: bytes of a file become published, unpublished or invalid. Pure; never raises.

It fails closed: only the boolean `publish: true` publishes, and any `draft` but absent, null or false blocks. A laptop
may show everything: there a file that says nothing about publishing is published, too.
"""

import logging
import re
from dataclasses import dataclass, replace
from typing import Any, assert_never

from commonplace.documents.content import diagnosis
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.repository import markdown
from commonplace.repository.blobs import BlobSha, is_lfs_pointer
from commonplace.repository.links import Contents, read_contents
from commonplace.repository.markdown import (
    LINE_END,
    ParsedFile,
    Unreadable,
    frontmatter_of,
    parse_or_raise,
    without_frontmatter,
)
from commonplace.repository.outcomes import InvalidBlob, PublishedBlob, UnpublishedBlob
from commonplace.repository.problems import LFS_POINTER, Problem

logger = logging.getLogger(__name__)

PARSER_VERSION = "4"
"""Part of the pipeline's fingerprint: another value means that every file is read again."""

# White space stays inside the lookaheads: outside, the pattern could give some back and slip past them.
_NOT_PUBLISHED = re.compile(rb"(?im)(?:^|[{,])[ \t]*[\"']?publish[\"']?[ \t]*:(?![ \t]*true[ \t]*(?:[#,}]|$))")
_PUBLISHED = re.compile(rb"(?m)^publish[ \t]*:[ \t]*true[ \t]*$")
_SPEAKS_OF_IT = re.compile(r"(?i)publi|draft|private")
"""A word about publishing in frontmatter that cannot be read: what it means is not guessed."""
_LIKE_FRONTMATTER = re.compile(
    r"[\s\ufeff\u00ad\u200b-\u200f\u2060]*+(---|\+\+\+|;;;|[—–][-—–]*(?=\s*\n)|(?:```|~~~)(?=\s*(?:ya?ml|toml|json))|<!--|"
    r"\{|(?=(?:[\w-]+ ?[:=].*\n)*[\"']?(?:publi|draft|private)\w*[\"']?\s*[:=]))",
    re.IGNORECASE,
)
"""The top of a file that may be meant as frontmatter of any kind, and what begins it (nothing: bare fields)."""
_ENDS = {"{": r"\}[ \t]*(?:\n|\Z)(?!\s*[,}\]])", "<!--": "-->"}
_MAY_SAY_NO = Problem(
    "frontmatter-fence",
    "the frontmatter is not read, and has a word about publishing",
    "put the fields between two lines `---` at the very top of the file",
    1,
)
_DRAFT = re.compile(rb"(?im)(?:^|[{,])[ \t]*[\"']?draft[\"']?[ \t]*:(?![ \t]*(?:false|null|~)?[ \t]*(?:[#,}]|$))")


@dataclass(frozen=True, slots=True)
class Published:
    file: ParsedFile


@dataclass(frozen=True, slots=True)
class Unpublished:
    reason: str
    problem: Problem
    """What keeps it back, with line and cure."""


@dataclass(frozen=True, slots=True)
class Invalid:
    problem: Problem


Verdict = Published | Unpublished | Invalid


def judge(raw: bytes, *, everything: bool = False) -> Verdict:
    """Whether a file is published, and what it says if it is. Never raises.

    With `everything`, no word about publishing counts as `publish: true`. Frontmatter that cannot be read and has no
    such word is reported and passed over.
    """
    try:
        return _judge(raw, everything=everything)
    except Unreadable as unreadable:
        problem = diagnosis.of_unreadable(raw, unreadable.problem)
        verdict = _private_or_invalid(raw, problem)
        silent = everything and isinstance(verdict, Invalid) and not _may_say_no(raw)
        file = without_frontmatter(raw, problem) if silent else None
        return Published(file) if file else verdict
    except Exception as error:  # noqa: BLE001 - one file, however odd, must not end a run over all of them
        logger.warning("file could not be judged", extra={"error": type(error).__name__})
        return _private_or_invalid(raw, Problem("unreadable", "the file cannot be read"))


def parse(raw: bytes) -> ParsedFile | Problem | None:
    """A file whatever the gate says (None: it has no frontmatter); for checks on the author's own machine."""
    return markdown.parse(raw, ONTOLOGY.fields)


def contents_of(file: ParsedFile) -> Contents:
    """Return links, those of fields that embed among them, tags of the body, anchors and problems of a file."""
    return read_contents(file, _is_embed)


def _is_embed(field: str) -> bool:
    spec = ONTOLOGY.fields.get(ONTOLOGY.field_name(field) or "")
    return spec is not None and spec.kind == "embed"


def _judge(raw: bytes, *, everything: bool) -> Verdict:
    file = parse_or_raise(raw, ONTOLOGY.fields)
    if file is None and is_lfs_pointer(raw):
        return Invalid(LFS_POINTER)
    if file is None and everything and raw.strip():
        if _may_say_no(raw):
            return Unpublished("without `publish: true`", _MAY_SAY_NO)
        file = without_frontmatter(raw)
    if file is None:
        return Unpublished("no frontmatter" if raw.strip() else "empty file", diagnosis.of_a_text(raw))
    if reason := _held_back(file, everything=everything):
        return Unpublished(reason, diagnosis.of_a_page(raw, file))
    return Published(file)


def _may_say_no(raw: bytes) -> bool:
    """Whether what looks like frontmatter, and is not read, has a word about publishing."""
    text = LINE_END.sub(b"\n", raw).decode("utf-8", "replace")
    if (opening := _LIKE_FRONTMATTER.match(text)) is None:
        return False
    end = _ENDS.get(opening[1], rf"\n{re.escape(opening[1])}[ \t]*(?:\n|\Z)")
    closing = re.compile(end).search(text, opening.end())
    return _SPEAKS_OF_IT.search(text, opening.end(), closing.end() if closing else len(text)) is not None


def _held_back(file: ParsedFile, *, everything: bool) -> str | None:
    values: dict[str, list[Any]] = {"publish": [], "draft": []}
    for name, value in file.frontmatter.items():
        values.get(name.strip().casefold(), []).append(value)
    if any(value is not None and value is not False for value in values["draft"]):
        return "draft"
    if everything and not values["publish"]:
        return "without `publish: true`" if diagnosis.is_private(file.frontmatter) else None
    if "publish" not in file.frontmatter or any(value is not True for value in values["publish"]):
        return "without `publish: true`"
    return None


def _private_or_invalid(raw: bytes, problem: Problem) -> Verdict:
    """What cannot be read keeps its last good version, unless it says itself that it is private."""
    block = frontmatter_of(raw)
    if _NOT_PUBLISHED.search(block):
        return Unpublished("unreadable, and says that publish is not true", _private(problem, block))
    if _DRAFT.search(block):
        return Unpublished("unreadable, and says that it is a draft", _private(problem, block))
    return Invalid(problem)


def _private(problem: Problem, block: bytes) -> Problem:
    """Nobody misses the page, unless it says both."""
    if _PUBLISHED.search(block):
        return problem
    message = f"{problem.message}; the page is not published"
    return replace(problem, code="unreadable-and-private", message=message)


def outcome_of(blob_sha: BlobSha, verdict: Verdict) -> PublishedBlob | UnpublishedBlob | InvalidBlob:
    """The verdict on a blob's bytes, to be kept."""
    match verdict:
        case Published():
            return PublishedBlob(blob_sha=blob_sha)
        case Unpublished(reason, problem):
            return UnpublishedBlob(blob_sha=blob_sha, reason=reason, problem=problem)
        case Invalid(problem):
            return InvalidBlob(blob_sha=blob_sha, problem=problem)
        case never:
            assert_never(never)
