"""A Markdown file with frontmatter, cut in two: bytes in, values and text out. Pure, and never raises."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from commonplace.repository.frontmatter import FrontmatterError, read_mapping
from commonplace.repository.problems import Problem

MAX_FILE_BYTES = 5_000_000
MAX_FRONTMATTER_BYTES = 64_000
"""Far above what people write (a few kilobytes), far below what makes a YAML parser sweat."""

_NEWLINE = rb"(?:\r\n|\n|\r)"
OPENING = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*" + _NEWLINE)
CLOSING = re.compile(rb"(?<=[\r\n])---[ \t]*(?:\r\n|\n|\r|\Z)")
LINE_END = re.compile(_NEWLINE)
_LOOKS_LIKE_A_FIELD = re.compile(rb"[A-Za-z_][\w -]*:(?:[ \t\r\n]|\Z)")


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
class _Block:
    """Offsets of the frontmatter in the original bytes."""

    start: int
    end: int
    body: int


class Unreadable(Exception):
    """What is wrong with a file that cannot be cut in two."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def parse(raw: bytes, fields: Collection[str] = ()) -> ParsedFile | Problem | None:
    """The file, or what is wrong with it; None for one without frontmatter. Problems name none but these fields."""
    try:
        return parse_or_raise(raw, fields)
    except Unreadable as unreadable:
        return unreadable.problem
    except Exception:  # noqa: BLE001 - one file, however odd, must not end a run over all of them
        return Problem("unreadable", "the file cannot be read")


def parse_or_raise(raw: bytes, fields: Collection[str]) -> ParsedFile | None:
    if len(raw) > MAX_FILE_BYTES:
        limit = f"{MAX_FILE_BYTES // 1_000_000} MB"
        raise Unreadable(Problem("too-large", f"the file is larger than {limit}", hint="split it into several files"))
    block = _find_block(raw)
    _check_encoding(raw)
    if block is None:
        return None
    body = raw[block.body :].decode("utf-8")
    yaml_text = raw[block.start : block.end].decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    try:
        mapping = read_mapping(yaml_text)
    except FrontmatterError as error:
        raise Unreadable(_in_file(error.problem, fields)) from None
    return ParsedFile(
        frontmatter=mapping.values,
        body=body,
        body_line=1 + len(LINE_END.findall(raw, 0, block.body)),
        lines={name: line + 1 for name, line in mapping.lines.items()},
        authored=mapping.authored,
    )


def _find_block(raw: bytes) -> _Block | None:
    opening = OPENING.match(raw)
    if opening is None:
        return None
    closing = CLOSING.search(raw, opening.end())
    if closing is None:
        if _LOOKS_LIKE_A_FIELD.match(raw, opening.end()):
            message = "the frontmatter is never closed"
            raise Unreadable(Problem("unclosed-frontmatter", message, hint="end it with a line `---`", line=1))
        return None
    if closing.start() - opening.end() > MAX_FRONTMATTER_BYTES:
        message = f"the frontmatter is larger than {MAX_FRONTMATTER_BYTES // 1000} kB"
        raise Unreadable(Problem("frontmatter-too-large", message, hint="move text into the body", line=1))
    return _Block(opening.end(), closing.start(), closing.end())


def _check_encoding(raw: bytes) -> None:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + len(LINE_END.findall(raw, 0, error.start))
        message = "the file is not valid UTF-8"
        raise Unreadable(Problem("invalid-utf8", message, hint="save it in the encoding UTF-8", line=line)) from None


def _in_file(problem: Problem, fields: Collection[str]) -> Problem:
    """Lines of the block, counted from 1, become lines of the file: the opening `---` is line 1.

    A field stays named only if it is one of `fields`: what an unclosed block has swallowed may look like one.
    """
    known = problem.field if problem.field in fields else None
    return replace(problem, line=problem.line + 1 if problem.line else 1, field=known)
