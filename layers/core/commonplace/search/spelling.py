"""Did you mean: the query with its unknown words replaced by words of the index.

Pure: an engine provides its vocabulary and a measure of distance. Nothing is proposed that the caller could not find.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, product
from typing import Protocol

from commonplace.search.query import Query
from commonplace.search.text import STOP_WORDS, WORDS, fold

SUGGESTIONS = 3
SHORTEST_WORD = 3
MOST_WORDS = 5
"""Misspelt words that are looked after in one query; of a query with more of them none is."""

SENTENCE = 4
"""Telling words above which a query is a sentence. Whoever writes one uses words that the index may well not have; so
only long words that are nearly right are believed to be misspelt. On the judged set of `bench/retrieval` this takes
suggestions for well-written sentences from 33 of 119 to 5, and those for misspelt queries from 34 of 36 to 33."""

TRIED = 8
"""How many corrections of a word are checked with the filters, best first."""


_WORD = re.compile(r"[^\W_]+")


class Vocabulary(Protocol):
    """The words of the live records of an index. Words are folded as by `search.text.fold`, and not stemmed."""

    def known(self, word: str) -> bool:
        """Return whether a record has the word in any form."""
        ...

    def near(self, word: str, *, anywhere: bool = False) -> Iterable[tuple[str, int]]:
        """Words that may have been meant, in any order, and in how many records each occurs.

        Those that begin with one of the word's first two letters, and `anywhere` any others as well.
        """
        ...

    def findable(self, word: str) -> bool:
        """Return whether a record that passes the request's filters has this very word."""
        ...


def edits_allowed(word: str, *, in_sentence: bool = False) -> int:
    """Return how many mistakes a word of this length is believed to have."""
    if in_sentence:
        return 1 if len(word) >= 7 else 0
    return 1 if len(word) <= 5 else 2


FUNCTION_WORDS = frozenset(WORDS["function"])
"""Folded words of Spanish, French, German, Portuguese and Italian that are right where they stand."""

DROPPED_ENDING = 0.5
"""What it costs a correction to be only the beginning of the word: `vitalk` is sooner `vitalik` than `vital`."""


def correctable(word: str) -> bool:
    """Return whether a word can be misspelt at all: numbers, versions and abbreviations of two letters cannot, and
    small words of other languages are not.
    """
    return len(word) >= SHORTEST_WORD and word.isalpha() and word not in FUNCTION_WORDS


def distance(one: str, other: str, most: int) -> int:
    """Return the edits from one word to the other, a swap of neighbours being one; beyond `most`, any larger number.

    The library is loaded with the first misspelt word: most processes never meet one.
    """
    from rapidfuzz.distance import OSA

    return OSA.distance(one, other, score_cutoff=most)


def suggest(query: Query, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Corrected queries, best first; none when every word is known, or when nothing better is findable."""
    in_sentence = len(query.words) > SENTENCE
    worth = [word for word in query.words if correctable(word) and edits_allowed(word, in_sentence=in_sentence)]
    unknown = [word for word in worth if not vocabulary.known(word)]
    if not 0 < len(unknown) <= MOST_WORDS:
        return ()
    corrections = {}
    for word in unknown:
        allowed = edits_allowed(word, in_sentence=in_sentence)
        best = ranked(word, vocabulary.near(word), allowed)
        best = best or ranked(word, vocabulary.near(word, anywhere=True), allowed)
        if best and best[0] in STOP_WORDS:
            continue
        telling = (other for other in best[:TRIED] if other not in STOP_WORDS)
        if findable := list(islice(filter(vocabulary.findable, telling), SUGGESTIONS)):
            corrections[word] = findable
    return combined(query.text, corrections)


def ranked(word: str, near: Iterable[tuple[str, int]], allowed: int) -> list[str]:
    """The words that this one may be a misspelling of: fewest edits first, then those that more records have."""
    found = []
    for other, records in near:
        if other == word or not correctable(other) or abs(len(other) - len(word)) > allowed:
            continue
        edits = distance(word, other, allowed)
        if edits <= allowed and (penalty := _first_letter(word, other, edits)) is not None:
            found.append((edits + penalty + DROPPED_ENDING * word.startswith(other), -records, other))
    return [other for _, _, other in sorted(found)]


def combined(query: str, corrections: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The query with every way of correcting its words, the best of each first; never the query itself."""
    ways = sorted(product(*(range(len(words)) for words in corrections.values())), key=lambda way: (sum(way), way))
    made = (
        rewritten(query, {word: corrections[word][at] for word, at in zip(corrections, way, strict=True)})
        for way in ways
    )
    different = (text for text in dict.fromkeys(made) if fold(text) != fold(query))
    return tuple(islice(different, SUGGESTIONS))


def rewritten(query: str, corrections: Mapping[str, str]) -> str:
    """The query as it was typed, with some words replaced: `Tidle POLS?` becomes `Tide POOLS?`."""
    return _WORD.sub(lambda found: _in_the_case_of(found.group(), corrections.get(fold(found.group()))), query)


def _in_the_case_of(typed: str, correction: str | None) -> str:
    if correction is None:
        return typed
    if typed.isupper():
        return correction.upper()
    return correction.capitalize() if typed[:1].isupper() else correction


def _first_letter(word: str, other: str, edits: int) -> float | None:
    """The first letter is seldom wrong: what it costs when it is, and None when it is not believed to be."""
    if word[0] == other[0]:
        return 0.0
    swapped = word[:2] == other[1::-1]
    return 0.5 if edits == 1 and (swapped or len(word) > 4) else None
