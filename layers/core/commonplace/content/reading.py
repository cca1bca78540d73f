"""Bytes of a file -> published, unpublished or invalid. Pure, and never raises.

The gate fails closed: only the boolean `publish: true` publishes, and any `draft` other than
absent, null or false blocks.
"""

import hashlib
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from commonplace.content.document import BlobSha
from commonplace.content.frontmatter import FrontmatterError, read_mapping
from commonplace.content.ontology import ONTOLOGY
from commonplace.content.problems import Problem

logger = logging.getLogger(__name__)

PARSER_VERSION = "1"
"""Part of the pipeline's fingerprint: another value means that every file is read again."""

MAX_FILE_BYTES = 5_000_000
MAX_FRONTMATTER_BYTES = 64_000
"""Far above what people write (a few kilobytes), far below what makes a YAML parser sweat."""

_NEWLINE = rb"(?:\r\n|\n|\r)"
_OPENING = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*" + _NEWLINE)
_CLOSING = re.compile(rb"(?<=[\r\n])---[ \t]*(?:\r\n|\n|\r|\Z)")
_LINE_END = re.compile(_NEWLINE)
_LOOKS_LIKE_A_FIELD = re.compile(rb"[A-Za-z_][\w -]*:(?:[ \t\r\n]|\Z)")
# White space stays inside the lookaheads: outside, the pattern could give some back and slip past them.
_NOT_PUBLISHED = re.compile(rb"(?im)(?:^|[{,])[ \t]*[\"']?publish[\"']?[ \t]*:(?![ \t]*true[ \t]*(?:[#,}]|$))")
_DRAFT = re.compile(rb"(?im)(?:^|[{,])[ \t]*[\"']?draft[\"']?[ \t]*:(?![ \t]*(?:false|null|~)?[ \t]*(?:[#,}]|$))")


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file cut in two."""

    frontmatter: dict[str, Any]
    """As authored: strings stay strings, dates and `yes` among them."""
    body: str
    """Exactly as in the file, line endings included: decoded from the original bytes after the frontmatter."""
    body_line: int
    """1-based line at which the body starts."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Field -> 1-based line in the file."""
    authored: Mapping[str, str] = field(default_factory=dict)
    """Field -> text of a number or boolean as written (`2024`, `1.10`), so that a title can stay what it was."""


@dataclass(frozen=True, slots=True)
class Published:
    file: ParsedFile


@dataclass(frozen=True, slots=True)
class Unpublished:
    reason: str
    problem: Problem | None = None
    """Set when the frontmatter cannot be read but says that the file is private."""


@dataclass(frozen=True, slots=True)
class Invalid:
    problem: Problem


Verdict = Published | Unpublished | Invalid


@dataclass(frozen=True, slots=True)
class _Block:
    """Offsets of the frontmatter in the original bytes."""

    start: int
    end: int
    body: int


class _Unreadable(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def git_blob_sha(raw: bytes) -> BlobSha:
    """The id that Git gives these bytes."""
    return BlobSha(hashlib.sha1(b"blob %d\0%b" % (len(raw), raw), usedforsecurity=False).hexdigest())


def judge(raw: bytes) -> Verdict:
    """Whether a file is published, and what it says if it is. Never raises."""
    try:
        return _judge(raw)
    except _Unreadable as unreadable:
        return _private_or_invalid(raw, unreadable.problem)
    except Exception as error:  # noqa: BLE001 - one file, however odd, must not end a run over all of them
        logger.warning("file could not be judged", extra={"error": type(error).__name__})
        return _private_or_invalid(raw, Problem("unreadable", "the file cannot be read"))


def parse(raw: bytes) -> ParsedFile | Problem | None:
    """A file whatever the gate says (None: it has no frontmatter); for checks on the author's own machine."""
    try:
        return _parse(raw)
    except _Unreadable as unreadable:
        return unreadable.problem
    except Exception:  # noqa: BLE001 - the same boundary as in `judge`
        return Problem("unreadable", "the file cannot be read")


def _judge(raw: bytes) -> Verdict:
    file = _parse(raw)
    if file is None:
        return Unpublished("no frontmatter" if raw.strip() else "empty file")
    return _gate(file)


def _gate(file: ParsedFile) -> Verdict:
    values: dict[str, list[Any]] = {"publish": [], "draft": []}
    for name, value in file.frontmatter.items():
        values.get(name.strip().casefold(), []).append(value)
    if any(value is not None and value is not False for value in values["draft"]):
        return Unpublished("draft")
    if "publish" not in file.frontmatter or any(value is not True for value in values["publish"]):
        return Unpublished("publish is not true")
    return Published(file)


def _parse(raw: bytes) -> ParsedFile | None:
    if len(raw) > MAX_FILE_BYTES:
        limit = f"{MAX_FILE_BYTES // 1_000_000} MB"
        raise _Unreadable(Problem("too-large", f"the file is larger than {limit}", hint="split it into several files"))
    block = _find_block(raw)
    _check_encoding(raw)
    if block is None:
        return None
    body = raw[block.body :].decode("utf-8")
    yaml_text = raw[block.start : block.end].decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    try:
        mapping = read_mapping(yaml_text)
    except FrontmatterError as error:
        raise _Unreadable(_in_file(error.problem)) from None
    return ParsedFile(
        frontmatter=mapping.values,
        body=body,
        body_line=1 + len(_LINE_END.findall(raw, 0, block.body)),
        lines={name: line + 1 for name, line in mapping.lines.items()},
        authored=mapping.authored,
    )


def _find_block(raw: bytes) -> _Block | None:
    opening = _OPENING.match(raw)
    if opening is None:
        return None
    closing = _CLOSING.search(raw, opening.end())
    if closing is None:
        if _LOOKS_LIKE_A_FIELD.match(raw, opening.end()):
            message = "the frontmatter is never closed"
            raise _Unreadable(Problem("unclosed-frontmatter", message, hint="end it with a line `---`", line=1))
        return None
    if closing.start() - opening.end() > MAX_FRONTMATTER_BYTES:
        message = f"the frontmatter is larger than {MAX_FRONTMATTER_BYTES // 1000} kB"
        raise _Unreadable(Problem("frontmatter-too-large", message, hint="move text into the body", line=1))
    return _Block(opening.end(), closing.start(), closing.end())


def _check_encoding(raw: bytes) -> None:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + len(_LINE_END.findall(raw, 0, error.start))
        message = "the file is not valid UTF-8"
        raise _Unreadable(Problem("invalid-utf8", message, hint="save it in the encoding UTF-8", line=line)) from None


def _in_file(problem: Problem) -> Problem:
    """Lines of the block, counted from 1, become lines of the file: the opening `---` is line 1.

    A field stays named only if the ontology knows it: what an unclosed block has swallowed may look like one.
    """
    known = problem.field if problem.field in ONTOLOGY.fields else None
    return replace(problem, line=problem.line + 1 if problem.line else 1, field=known)


def _private_or_invalid(raw: bytes, problem: Problem) -> Verdict:
    """What cannot be read keeps its last good version, unless it says itself that it is private."""
    opening = _OPENING.match(raw[:1000])
    if opening is None:
        return Invalid(problem)
    start = opening.end()
    closing = _CLOSING.search(raw, start)
    end = closing.start() if closing else min(len(raw), start + MAX_FRONTMATTER_BYTES)
    block = _LINE_END.sub(b"\n", raw[start:end])
    if _NOT_PUBLISHED.search(block):
        return Unpublished("unreadable, and says that publish is not true", problem)
    if _DRAFT.search(block):
        return Unpublished("unreadable, and says that it is a draft", problem)
    return Invalid(problem)
