"""The part of a chunk that shows why it was found."""

import re
from collections import Counter
from collections.abc import Sequence

from commonplace.search.text import fold_in_place, plain, query_terms

SNIPPET_CHARACTERS = 300

_WINDOW = 0.75
"""The share of a snippet that its words are looked for in; the rest is for what stands before the first."""


def snippet(markdown: str, query: str, size: int = SNIPPET_CHARACTERS) -> str:
    """About `size` characters around the query's words, cut between words, with `…` where text was left out."""
    text = " ".join(plain(markdown).split())
    if len(text) <= size:
        return text
    start = _best_start(text, query_terms(query), size)
    end = start + size
    if end >= len(text):
        start, end = _word_start(text, len(text) - size), len(text)
    else:
        end = text.rfind(" ", start, end + 1)
        end = end if end > start else start + size
    return ("… " if start else "") + text[start:end].strip() + (" …" if end < len(text) else "")


def _best_start(text: str, terms: Sequence[str], size: int) -> int:
    """Where the window with most of the different terms begins, a little before the first of them."""
    found = _occurrences(text, terms)
    best, best_value = 0, 0.0
    last, window = 0, int(size * _WINDOW)
    inside: Counter[int] = Counter()
    for position, (start, term) in enumerate(found):
        while last < len(found) and found[last][0] < start + window:
            inside[found[last][1]] += 1
            last += 1
        value = sum(1 for count in inside.values() if count) + (last - position) / 100
        if value > best_value:
            best, best_value = start, value
        inside[term] -= 1
    return _word_start(text, best - size // 5) if best_value else 0


def _occurrences(text: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Where the terms, or other forms of them, begin: all but a short ending must agree. With the term's number."""
    if not terms:
        return []
    forms = [
        re.escape(term[: max(4, len(term) - 3)]) + r"\w{0,6}" if len(term) > 3 else re.escape(term) for term in terms
    ]
    pattern = re.compile(r"\b(?:" + "|".join(f"({form})" for form in forms) + r")\b")
    return [(match.start(), (match.lastindex or 1) - 1) for match in pattern.finditer(fold_in_place(text))]


def _forms(term: str) -> str:
    if len(term) < 4:
        return re.escape(term)
    return re.escape(term[: max(4, len(term) - 3)]) + r"\w{0,6}"


def _word_start(text: str, position: int) -> int:
    if position <= 0:
        return 0
    space = text.find(" ", position)
    return space + 1 if 0 <= space < position + 80 else position
