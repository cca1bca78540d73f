"""A text as rules and models read it, with the way back to the text as it was written.

Invisible characters are left out, full-width and other decimal digits become ASCII, dashes and spaces become one of
each; character references, percent-encoding and Markdown's escapes are resolved. A datum written so is still found.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape
from itertools import pairwise

from commonplace.redaction.model import KINDS

PLACEHOLDER = re.compile(rf"\[(?:{'|'.join(KINDS)})\]")
OPAQUE = "\ufffc"
"""Stands in a view for what no rule may read: a placeholder, or code where only prose is meant."""

_SPECIAL = re.compile(
    r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});"
    r"|%[2-7][0-9A-Fa-f]"
    r"|\\(?=[!-/:-@\[-`{-~])"
    r"|[^\x00-\x7f]+"
)
_CLUSTER = re.compile(r".[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u0900-\u0903\u3099\u309a]*", re.DOTALL)
_DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63\uff0d")
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0")


@dataclass(frozen=True, slots=True)
class View:
    """`text[i]` was written at `starts[i]` to `ends[i]`; without these two, text and original are the same."""

    text: str
    starts: list[int] | None = None
    ends: list[int] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return where a stretch of the view, which is not empty, stands in the text as it was written."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]

    def position(self, offset: int) -> int:
        """Return where in the view the character of the original at `offset` is, or the next one that is shown."""
        return offset if self.starts is None else bisect_left(self.starts, offset)

    def without(self, ranges: Iterable[tuple[int, int]]) -> "View":
        """Return the same with these stretches of the original made opaque; lengths and positions stay."""
        pieces, done = [], 0
        for first, last in sorted(ranges):
            start, end = max(self.position(first), done), self.position(last)
            if end > start:
                pieces += [self.text[done:start], re.sub(r"[^\n]", OPAQUE, self.text[start:end])]
                done = end
        return View("".join((*pieces, self.text[done:])), self.starts, self.ends) if pieces else self


def view_of(text: str) -> View:
    """Return the text as rules read it. Its placeholders are opaque."""
    kept = [found.span() for found in PLACEHOLDER.finditer(text)]
    view = View(text)
    if any(True for _ in _SPECIAL.finditer(text)):
        pieces: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        done = 0
        for found in _SPECIAL.finditer(text):
            pieces.append(text[done : found.start()])
            starts += range(done, found.start())
            ends += range(done + 1, found.start() + 1)
            for shown, start, end in _resolved(text, found):
                pieces.append(shown)
                starts += [start] * len(shown)
                ends += [end] * len(shown)
            done = found.end()
        pieces.append(text[done:])
        starts += range(done, len(text))
        ends += range(done + 1, len(text) + 1)
        view = View("".join(pieces), starts, ends)
    return view.without(kept)


def _resolved(text: str, found: re.Match[str]) -> list[tuple[str, int, int]]:
    """Return what is shown of something special, each part with where it stands."""
    start, end = found.span()
    match text[start]:
        case "&":
            shown = unescape(found[0])
            return [(folded(shown) if shown != found[0] else shown, start, end)]
        case "%":
            return [(chr(int(found[0][1:], 16)).replace("\x7f", ""), start, end)]
        case "\\":
            return []
    cuts = [*(one.start() for one in _CLUSTER.finditer(found[0])), len(found[0])]
    parts = ((found[0][a:b], start + a, start + b) for a, b in pairwise(cuts))
    # Some characters stand for whole sentences, and no datum is written with those.
    return [(shown if len(shown := folded(part)) <= 4 * len(part) else part, a, b) for part, a, b in parts]


def folded(text: str) -> str:
    """Compatibility form, with ASCII digits, dashes and spaces, without what is not seen."""
    if text.isascii():
        return text
    return "".join(map(_folded, unicodedata.normalize("NFKC", text)))


def _folded(character: str) -> str:
    if character.isascii():
        return character
    if character in _DASHES:
        return "-"
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category in ("Cf", "Cs") or character in _FILLERS or "\ufe00" <= character <= "\ufe0f":
        return ""
    return " " if category == "Zs" else character
