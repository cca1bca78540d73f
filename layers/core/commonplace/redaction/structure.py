"""Which parts of a Markdown text are code, and which are addresses of links; everything else is prose.

In code only secrets are looked for. What is not surely code is prose: a fence that nobody closed, too.
"""

import re
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt

from commonplace.kernel.markdown_budget import bounded
from commonplace.redaction.views import View

_TICKS = re.compile(r"\\?`+")
_ADDRESS = re.compile(
    r"(?P<web>(?<![\w+.-])(?:[A-Za-z][A-Za-z0-9+.-]{1,20}://|www\.)[^\s<>\"'`|^{}\[\]()\ufffc]{1,2000}"
    r"(?:\([^\s<>\"'`()]{0,300}\)[^\s<>\"'`|^{}\[\]()\ufffc]{0,2000}){0,3}(?<![.,;:!?*_~]))"
    r"|(?<=\]\()\s{0,9}<?(?P<target>[^\s<>()\ufffc]{1,2000})"
    r"|^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{0,9}<?(?P<definition>[^\s<>\ufffc]{1,2000})",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Structure:
    """Stretches of the text as it was written, in order; those of one kind do not overlap."""

    code: tuple[tuple[int, int], ...]
    """What blocks of code hold, and code spans with their backticks. Lines of a fence are prose."""
    addresses: tuple[tuple[int, int], ...]  # URLs, and targets of links and images, outside of code


def read_structure(text: str) -> Structure:
    """Return the structure of a Markdown text. A text of one line has no blocks: an indented tag is a tag."""
    blocks, spans = _code(text)
    code = tuple(sorted((*blocks, *spans)))
    found = _ADDRESS.finditer(View(text).without(code).text)
    addresses = tuple(one.span(one.lastgroup or 0) for one in found)
    return Structure(code, addresses)


@cache
def _blocks() -> MarkdownIt:
    """Blocks alone: time of the parser's inline rules grows with the square of what never closes."""
    return bounded(MarkdownIt("commonmark").enable("table")).disable(["inline", "text_join"])


def _code(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    if "\n" not in text.strip("\n"):
        return [], _code_spans(text, 0, len(text))
    # The parser knows these three ends of lines; other characters that `splitlines` takes for one are none.
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\n|\r", text)), len(text)]
    blocks: list[tuple[int, int]] = []
    spans: set[tuple[int, int]] = set()
    for token in _blocks().parse(text):
        if token.map is None:
            continue
        first, last = token.map
        if token.type == "fence":
            start = starts[min(first + 1, len(starts) - 1)]
            if last - first - 1 > token.content.count("\n") + (token.content[-1:] not in ("", "\n")):
                blocks.append((start, starts[last - 1]))
        elif token.type == "code_block":
            blocks.append((starts[first], starts[min(last, len(starts) - 1)]))
        elif token.type == "inline":
            spans.update(_code_spans(text, starts[first], starts[min(last, len(starts) - 1)]))
    return [(a, b) for a, b in blocks if b > a], sorted(spans)


def _code_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A run of backticks, to the next run that is as long (CommonMark 6.1). A backslash escapes one that opens."""
    runs = list(_TICKS.finditer(text, start, end))
    later: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        later.setdefault(len(runs[index][0].lstrip("\\")), []).append(index)
    spans = []
    index = 0
    while index < len(runs):
        run = runs[index]
        escaped = run[0].startswith("\\")
        opening = run.start() + (2 if escaped else 0)
        length = run.end() - opening
        closing = later.get(length, [])
        while closing and closing[-1] <= index:
            closing.pop()
        if not length or not closing:
            index += 1
            continue
        index = closing[-1] + 1
        spans.append((opening, runs[closing[-1]].end()))
    return spans
