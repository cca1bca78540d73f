"""Queries that found nothing, as maintainers are shown them: one short line, without what may be somebody's own."""

import re
from collections.abc import Callable
from hashlib import sha256

from commonplace.reference.entries import EntryType

MAX_CHARACTERS = 200
"""Of a query, and of a note."""
MAX_GAPS = 1_000
"""Different ones of an organisation; what comes when there are so many is not kept."""
GAP_SECONDS = 90 * 86_400
"""A gap is kept so long after it was reported last."""

_UUID = r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
_PREFIXED = r"\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|AKIA|ASIA|AIza|eyJ)[A-Za-z0-9_.-]{10,}"
_NAMED = r"(?i)\b((?:token|secret|password|passwd|pwd|api[_-]?key|bearer)(?:\s*[=:]\s*|\s+))(\S{6,})"
_WORD = r"[A-Za-z0-9_+=]{16,}"


def kept(text: str) -> str:
    """One line of at most MAX_CHARACTERS, masked."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return masked(" ".join(line.split()))[:MAX_CHARACTERS].strip()


def masked(text: str) -> str:
    """With a name of its kind in place of each e-mail address, key, id, network address and long number."""
    for pattern, put in _MASKS:
        text = pattern.sub(put, text)
    return text


def digest(query: str, type: EntryType | None) -> str:
    """The same for queries that differ in letter case and spaces only. In hexadecimal digits."""
    folded = " ".join(query.casefold().split())
    return sha256(f"{type or ''}\n{folded}".encode("utf-8", "backslashreplace")).hexdigest()


def _secret(found: re.Match[str]) -> str:
    """What follows `token=` and its like, unless it is an ordinary word: people look for `password reset` too."""
    named, value = found[1], found[2]
    ordinary = value.isalpha() and not re.search(r"[=:]", named)
    return found[0] if ordinary or value.startswith(("<", "--")) else f"{named}<token>"


def _mixed(found: re.Match[str]) -> str:
    """A word of letters and digits as no name has them."""
    word = found[0]
    digits = sum(letter.isdigit() for letter in word)
    hexadecimal = digits >= 2 and re.fullmatch(r"[0-9a-fA-F]+", word) is not None
    return "<token>" if hexadecimal or (digits >= 3 and word.strip("0123456789")) else word


_MASKS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"[^\s@]+@[^\s@]+"), "<email>"),
    (re.compile(_UUID), "<id>"),
    (re.compile(_PREFIXED), "<token>"),
    (re.compile(_NAMED), _secret),
    (re.compile(_WORD), _mixed),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"), "<address>"),
    (re.compile(r"\d(?:[ ().-]{0,2}\d){6,}"), "<number>"),
)
