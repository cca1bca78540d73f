"""Snippets: the part of a chunk that shows why it was found, and where the query's words stand in it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from commonplace.search.analysis import WORD, terms_of
from commonplace.search.query import Query
from commonplace.search.text import fold_in_place, plain

SNIPPET_CHARACTERS = 300

PART = re.compile(r"[^\W_]+")

_WINDOW = 0.75
"""The share of a snippet that its words are looked for in; the rest is for what stands before the first."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """The text that is shown, and where the words that were found stand in it: start and end, in characters."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Occurrence:
    start: int
    end: int
    term: int
    """Which of the query's words it is a form of."""


def snippet(markdown: str, query: Query, size: int = SNIPPET_CHARACTERS) -> Snippet:
    """About `size` characters around the query's words, cut between words, with `…` where text was left out."""
    text, folded, words = _prepared(markdown)
    found = list(_occurrences(folded, words, query.terms))
    start, end = (0, len(text)) if len(text) <= size else _span(text, found, size)
    shown = text[start:end].lstrip()
    before = "… " if start else ""
    shift = len(before) - (end - len(shown))
    marks = tuple((at.start + shift, at.end + shift) for at in found if start <= at.start and at.end <= end)
    return Snippet(before + shown.rstrip() + (" …" if end < len(text) else ""), marks)


def _span(text: str, found: Sequence[_Occurrence], size: int) -> tuple[int, int]:
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
    start = _word_start(text, best - size // 5) if best_value else 0
    end = start + size
    if end >= len(text):
        return _word_start(text, len(text) - size), len(text)
    cut = text.rfind(" ", start, end + 1)
    return start, cut if cut > start else end


_HEADING = re.compile(r"(?m)^ {0,3}#{1,6}[ \t]+\S.*\w(?=[ \t]*$)")
"""A heading without punctuation at its end: what follows it in a snippet follows a colon."""


@lru_cache(maxsize=500)
def _prepared(markdown: str) -> tuple[str, str, Mapping[str, Sequence[str]]]:
    """Return the text as it is shown, the same folded, and which words of it have a term. Cached, since searches for
    different things show the same passages."""
    text = plain(_HEADING.sub(r"\g<0>:", markdown)).replace("\n", " ")
    folded, words = fold_in_place(text), defaultdict[str, list[str]](list)
    for word in {*WORD.findall(folded)}:
        for term in terms_of(word):
            words[term].append(word)
    return text, folded, words


def _occurrences(folded: str, words: Mapping[str, Sequence[str]], terms: Sequence[str]) -> Iterator[_Occurrence]:
    """Yield where a word of the text, or a part of it that is joined to others, has one of the terms."""
    wanted = {term: place for place, term in enumerate(terms) if term in words}
    known = {word: _inside(word, wanted) for term in wanted for word in words[term]}
    for match in WORD.finditer(folded) if known else ():
        for at in known.get(match.group(), ()):
            yield _Occurrence(match.start() + at.start, match.start() + at.end, at.term)


def _inside(word: str, wanted: Mapping[str, int]) -> Sequence[_Occurrence]:
    """The whole word, else the parts of a compound, where they have one of the terms."""
    whole = terms_of(word)
    if whole[-1] in wanted:
        return [_Occurrence(0, len(word), wanted[whole[-1]])]
    parts = [(part, terms_of(part.group())[0]) for part in PART.finditer(word)] if len(whole) > 1 else []
    return [_Occurrence(part.start(), part.end(), wanted[term]) for part, term in parts if term in wanted]


def _word_start(text: str, position: int) -> int:
    if position <= 0:
        return 0
    space = text.find(" ", position)
    return space + 1 if 0 <= space < position + 80 else position
