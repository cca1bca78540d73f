"""The first heading of a body, for documents without a title. A line scanner: no Markdown parser is loaded for it."""

import re
from collections.abc import Iterator

_ATX = re.compile(r" {0,3}#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}=+[ \t]*\Z")
_MARKUP = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)|[*`]")


def first_heading(body: str) -> str | None:
    """Text of the first level-one heading outside code, or None."""
    previous = ""
    for line in _lines_outside_code(body):
        found = _ATX.match(line)
        if found and found[1]:
            return _text(found[1])
        if previous.strip() and _UNDERLINE.match(line):
            return _text(previous)
        previous = line
    return None


def _lines_outside_code(body: str) -> Iterator[str]:
    fence = ""
    for line in re.split(r"\r\n|\n|\r", body):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        yield line


def _text(heading: str) -> str | None:
    return " ".join(_MARKUP.sub(lambda found: found[1] or "", heading).split()) or None
