"""Snippets: the part of a chunk that shows why it was found."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from commonplace.search.text import fold_in_place, plain, query_terms

SNIPPET_CHARACTERS = 300

_WINDOW = 0.75
"""The share of a snippet that its words are looked for in; the rest is for what stands before the first."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """What is shown, and where the words that were found stand in it: start and end, in characters."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Occurrence:
    start: int
    end: int
    term: int
    """Which of the query's words it is a form of."""


def snippet(markdown: str, query: str, matched: Sequence[str] = (), size: int = SNIPPET_CHARACTERS) -> Snippet:
    """About `size` characters around the query's words, cut between words, with `…` where text was left out.

    `matched` are the words that the engine found, folded; they are marked. Without them the best window is looked for
    by words that begin like the query's, and nothing is marked.
    """
    text = plain(markdown).replace("\n", " ")
    whole = len(text) <= size
    found = list(_occurrences(text, query_terms(query), matched)) if matched or not whole else []
    start, end = (0, len(text)) if whole else _span(text, found, size)
    shown = text[start:end].lstrip()
    before = "… " if start else ""
    shift = len(before) - (end - len(shown))
    marks = tuple((at.start + shift, at.end + shift) for at in found if matched and start <= at.start and at.end <= end)
    return Snippet(before + shown.rstrip() + (" …" if end < len(text) else ""), marks)


def _span(text: str, found: Sequence[_Occurrence], size: int) -> tuple[int, int]:
    start = _best_start(text, found, size)
    end = start + size
    if end >= len(text):
        return _word_start(text, len(text) - size), len(text)
    cut = text.rfind(" ", start, end + 1)
    return start, cut if cut > start else end


def _best_start(text: str, found: Sequence[_Occurrence], size: int) -> int:
    """Where the window with most of the different terms begins, a little before the first of them."""
    best, best_value = 0, 0.0
    last, window = 0, int(size * _WINDOW)
    inside: Counter[int] = Counter()
    for position, at in enumerate(found):
        while last < len(found) and found[last].start < at.start + window:
            inside[found[last].term] += 1
            last += 1
        value = sum(1 for count in inside.values() if count) + (last - position) / 100
        if value > best_value:
            best, best_value = at.start, value
        inside[at.term] -= 1
    return _word_start(text, best - size // 5) if best_value else 0


def _occurrences(text: str, terms: Sequence[str], matched: Sequence[str]) -> Iterable[_Occurrence]:
    return _matches(text, terms, matched) if matched else _likely(text, terms)


def _matches(text: str, terms: Sequence[str], matched: Sequence[str]) -> Sequence[_Occurrence]:
    folded = fold_in_place(text)
    found = [
        _Occurrence(start, start + len(word), term)
        for word, term in {word: _nearest(word, terms) for word in matched if word.isalnum()}.items()
        for start in _where(folded, word)
    ]
    return sorted(found, key=lambda at: at.start)


def _where(text: str, word: str) -> Iterator[int]:
    """Where the word stands by itself. Looked for as it is: to take a text apart word by word costs ten times that."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not text[max(0, start - 1) : start].isalnum() and not text[end : end + 1].isalnum():
            yield start
        start = text.find(word, end)


def _likely(text: str, terms: Sequence[str]) -> Iterator[_Occurrence]:
    """Where the terms, or other forms of them, begin: all but a short ending must agree."""
    if not terms:
        return
    forms = [
        re.escape(term[: max(4, len(term) - 3)]) + r"\w{0,6}" if len(term) > 3 else re.escape(term) for term in terms
    ]
    pattern = re.compile(r"\b(?:" + "|".join(f"({form})" for form in forms) + r")\b")
    for at in pattern.finditer(fold_in_place(text)):
        yield _Occurrence(at.start(), at.end(), (at.lastindex or 1) - 1)


def _nearest(word: str, terms: Sequence[str]) -> int:
    """The term that is the word, else the one that begins most like it."""
    if word in terms:
        return terms.index(word)
    return max(range(len(terms)), key=lambda term: (_common(word, terms[term]), -term), default=0)


def _common(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _word_start(text: str, position: int) -> int:
    if position <= 0:
        return 0
    space = text.find(" ", position)
    return space + 1 if 0 <= space < position + 80 else position
