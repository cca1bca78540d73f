"""Usage lines: `Usage: helios users get <email> [--json]    Show one person`."""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass

MAX_LINE = 600
MAX_WORDS = 20
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]*|\?")
_ARGUMENT = re.compile(r"[<\[({].*|-{1,2}[A-Za-z?].*|\.{3}|…|\||.*[>\])}](?:\.\.\.|…)?|[A-Z][A-Z0-9_-]+(?:\.\.\.)?")
_OPENING = re.compile(r"\s*(?:usage|syntax|e\.g\.|example)\s*:\s*", re.IGNORECASE)
_PROMPT = re.compile(r"\s*[$>%]\s+")
_APART = re.compile(r"(?<=\S)(?:\s*(?:\s{2,}|\t+)[-–—#:]*\s*|\s+[-–—#]\s+|\s*:\s+)(?=\S)")


@dataclass(frozen=True, slots=True)
class Usage:
    """A line that shows how a command is typed."""

    words: tuple[str, ...]
    syntax: str
    summary: str = ""
    plain: bool = True
    """Whether all that follows the words is placeholders and options; else it is an example."""


def usages(text: str) -> Iterator[Usage]:
    """Those of a text's lines, in order."""
    for line in text.splitlines():
        found = usage(line)
        if found is not None:
            yield found


def usage(line: str) -> Usage | None:
    if len(line) > MAX_LINE or not line.strip():
        return None
    opening = _OPENING.match(line) or _PROMPT.match(line)
    said = line[opening.end() :] if opening else line
    parts = _APART.split(said.strip(), maxsplit=1)
    syntax = " ".join(parts[0].split()).strip("`\"'")
    words = name_of(syntax)
    if not words:
        return None
    rest = syntax.split()[len(words) :]
    summary = parts[1].strip() if len(parts) > 1 else ""
    if not (rest or summary or opening):
        return None  # words alone may be anything: a label, an example
    return Usage(words, syntax, summary, _plain(rest))


def name_of(syntax: str) -> tuple[str, ...]:
    """The words before the first placeholder or option."""
    words: list[str] = []
    for word in syntax.split():
        if not _WORD.fullmatch(word) or (words and _ARGUMENT.fullmatch(word)):
            break
        words.append(word)
    return tuple(words)


def options_in(syntax: str) -> list[str]:
    """The flags of a syntax as they are written: `--limit=<number>`."""
    found = re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*(?:=(?:<[^>]*>|[^\s\]]+))?)", syntax)
    return list(dict.fromkeys(found))


def longest(words: tuple[str, ...], known: Container[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The command that a line begins with."""
    beginnings = (words[:count] for count in range(min(len(words), MAX_WORDS), 0, -1))
    return next((one for one in beginnings if one in known), None)


def _plain(rest: list[str]) -> bool:
    depth = 0
    for word in rest:
        if depth == 0 and not _ARGUMENT.fullmatch(word):
            return False
        depth += sum(word.count(sign) for sign in "<[({") - sum(word.count(sign) for sign in ">])}")
        depth = max(depth, 0)
    return True
