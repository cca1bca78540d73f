"""Parsing of a Markdown file into frontmatter and body. Pure; `parse` never raises."""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from commonplace.kernel.yaml import Parsed, Place, YamlError, read
from commonplace.repository.problems import Problem

MAX_FILE_BYTES = 5_000_000
MAX_FRONTMATTER_BYTES = 64_000
"""Far above what people write (a few kilobytes), far below what makes a YAML parser sweat."""
MAX_DEPTH = 8

_NEWLINE = rb"(?:\r\n|\n|\r)"
OPENING = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*" + _NEWLINE)
CLOSING = re.compile(rb"(?<=[\r\n])---[ \t]*(?:\r\n|\n|\r|\Z)")
LINE_END = re.compile(_NEWLINE)
_FIELD = re.compile(rb"[A-Za-z_][\w -]*:(?:[ \t\r\n]|\Z)")
_LIKE_YAML = re.compile(_FIELD.pattern + rb"|[ \t#]|-[ \t]|\Z")
_NAMES = re.compile(rb"(?:^|[\r\n])[ \t{]*[\"']?([A-Za-z_][\w-]*)[\"']?[ \t]*(?:[:=]|\xef\xbc\x9a)")
"""What may be meant as the names of fields; a full-width colon among the marks."""
_SENTENCE = 5
"""Words on one line of a block without known fields that make it prose: more than a value without quotes has."""

_SAID = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file cut in two."""

    frontmatter: dict[str, Any]  # As authored: strings stay strings, dates and `yes` among them
    body: str
    """Exactly as in the file, line endings included: decoded from the original bytes after the frontmatter."""
    body_line: int  # 1-based line at which the body starts
    lines: Mapping[str, int] = field(default_factory=dict)  # Field -> 1-based line in the file
    authored: Mapping[str, Any] = field(default_factory=dict)
    """Field -> its value with numbers and booleans as they were written (`2024`, `[1.10, yes]`), where it has any."""
    problem: Problem | None = None  # Of frontmatter that was passed over


@dataclass(frozen=True, slots=True)
class _Block:
    """Offsets of the frontmatter in the original bytes."""

    start: int
    end: int
    body: int


class Unreadable(Exception):
    """The problem of a file whose frontmatter cannot be separated or read."""

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
    block = _find_block(raw, fields)
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + len(LINE_END.findall(raw, 0, error.start))
        message = "the file is not valid UTF-8"
        raise Unreadable(Problem("invalid-utf8", message, hint="save it in the encoding UTF-8", line=line)) from None
    if block is None:
        return None
    body = raw[block.body :].decode("utf-8")
    yaml_text = raw[block.start : block.end].decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    try:
        parsed = read(yaml_text, max_depth=MAX_DEPTH, max_values=MAX_FRONTMATTER_BYTES, lines_to_depth=1)
    except YamlError as error:
        if _is_prose(raw[block.start : block.end], fields):
            return None
        mending = _SAID["mending"].get(error.problem or "", "put quotes around values with special characters")
        unread = ("malformed-frontmatter", "the frontmatter is not valid YAML", mending)
        code, message, *cures = _SAID["refused"].get(error.reason, unread)
        named = error.key if error.key in fields else None
        message, cure = message.replace("$depth", str(MAX_DEPTH)), cures[0] if cures else None
        raise Unreadable(Problem(code, message, cure, 1 + (error.line or 0), error.column, named)) from None
    if not isinstance(parsed.value, dict | None):
        if _is_prose(raw[block.start : block.end], fields):
            return None
        hint, line = "write `name: value`", 1 + (parsed.line or 0)
        raise Unreadable(Problem("not-a-mapping", "the frontmatter is not a list of fields", hint, line))
    frontmatter: dict[str, Any] = parsed.value or {}
    numbers = {name for name, *_ in parsed.authored}
    return ParsedFile(
        frontmatter=frontmatter,
        body=body,
        body_line=1 + len(LINE_END.findall(raw, 0, block.body)),
        # The opening `---` is line 1 of the file.
        lines={str(name): line + 1 for (name,), line in parsed.lines.items()},
        authored={key: _authored(parsed, (key,), value) for key, value in frontmatter.items() if key in numbers},
    )


def frontmatter_of(raw: bytes) -> bytes:
    """Return the block at the top, readable or not, its line ends normalised; one that is never closed is cut."""
    opening = OPENING.match(raw[:1000])
    if opening is None:
        return b""
    closing = CLOSING.search(raw, opening.end())
    end = closing.start() if closing else opening.end() + MAX_FRONTMATTER_BYTES
    return LINE_END.sub(b"\n", raw[opening.end() : end])


def without_frontmatter(raw: bytes, problem: Problem | None = None) -> ParsedFile | None:
    """Return a file whose frontmatter is absent, or passed over because of a problem; None for one that is no text."""
    opening = OPENING.match(raw) if problem else None
    closing = CLOSING.search(raw, opening.end()) if opening else None
    start = closing.end() if closing else 0
    try:
        body = raw[start:].decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if len(raw) > MAX_FILE_BYTES:
        return None
    return ParsedFile({}, body, 1 + len(LINE_END.findall(raw, 0, start)), problem=problem)


def _authored(parsed: Parsed, place: Place, value: Any) -> Any:
    if isinstance(value, list):
        return [_authored(parsed, (*place, index), item) for index, item in enumerate(value)]
    return parsed.authored.get(place, value)


def _find_block(raw: bytes, fields: Collection[str]) -> _Block | None:
    opening = OPENING.match(raw)
    if opening is None:
        return None
    closing = CLOSING.search(raw, opening.end())
    if closing is None:
        lines = LINE_END.split(raw[opening.end() : opening.end() + MAX_FRONTMATTER_BYTES])
        head = list(takewhile(_LIKE_YAML.match, lines))
        if _FIELD.match(lines[0]) and not _is_prose(b"\n".join(head), fields, text_follows=len(head) < len(lines)):
            message = "the frontmatter is never closed"
            raise Unreadable(Problem("unclosed-frontmatter", message, hint="end it with a line `---`", line=1))
        return None
    if closing.start() - opening.end() > MAX_FRONTMATTER_BYTES:
        if _is_prose(raw[opening.end() : opening.end() + MAX_FRONTMATTER_BYTES], fields):
            return None
        message = f"the frontmatter is larger than {MAX_FRONTMATTER_BYTES // 1000} kB"
        raise Unreadable(Problem("frontmatter-too-large", message, hint="move text into the body", line=1))
    return _Block(opening.end(), closing.start(), closing.end())


def _is_prose(block: bytes, fields: Collection[str], *, text_follows: bool = False) -> bool:
    """Whether a thematic break and a paragraph begin the file: sentences, in which nothing is called like a field."""
    if not text_follows and all(len(line.split()) < _SENTENCE for line in block.splitlines()):
        return False
    return bool(fields) and not any(name.decode() in fields for name in _NAMES.findall(block))
