"""The analysis of words, the same for both engines: what is indexed and what is looked for are terms of this module.

A term is folded, in one spelling (British and American ones meet) and stemmed. A compound such as `co-operative` gives
the terms of its parts and of the whole, so that it meets `cooperative` and `co operative` alike.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING

from commonplace.search.text import STOP_WORDS, fold

if TYPE_CHECKING:
    from Stemmer import Stemmer

ANALYSIS_VERSION = "1"
"""Of the terms. Stored with the index: another value means that it is built anew."""

LONGEST_TERM = 64

_IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# A word with what is joined to it by hyphens or apostrophes; an ideograph is a word of its own.
WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\W_{_IDEOGRAPH}]+(?:[-'’‐‑][^\W_{_IDEOGRAPH}]+)*")
_JOINT = re.compile(r"[-'’‐‑]")
_POSSESSIVE = re.compile(r"['’]s$")

_SPELLINGS = tuple(
    (re.compile(british), american)
    for british, american in (
        (r"is(e|ed|es|er|ers|ing|ation|ations|ational)$", r"iz\1"),
        (r"ys(e|ed|es|er|ers|ing)$", r"yz\1"),
        (r"(\w[^aeiou]|vi)our(?=$|s$|e[dr]|ing|ful|abl|it|less|hood|al|ist)", r"\1or"),
        (r"([tb])re(s|d)?$", r"\1er\2"),
        (r"ogue(s?)$", r"og\1"),
        (r"([dfc])ence(s?)$", r"\1ense\2"),
        (r"([aeiou][^aeiou]+[aeiou])ll(ed|er|ers|ing)$", r"\1l\2"),
        (r"amme(s?)$", r"am\1"),
        (r"grey", "gray"),
        (r"ae|oe", "e"),
    )
)
"""Applied to what is indexed and to what is looked for alike: that `promise` becomes `promize` does no harm."""

SHORTEST_SPELLING = 5


def terms(text: str) -> list[str]:
    """The terms of a text, in order."""
    return list(chain.from_iterable(map(terms_of, WORD.findall(fold(text)))))


@lru_cache(maxsize=50_000)
def terms_of(word: str) -> tuple[str, ...]:
    """The terms of one folded word of `WORD`: of a compound those of its parts, and that of the whole."""
    parts = _JOINT.split(_POSSESSIVE.sub("", word))
    found = [_stem(_spelt(part[:LONGEST_TERM])) for part in parts]
    if len(parts) > 1:
        found.append(_stem(_spelt("".join(parts)[:LONGEST_TERM])))
    return tuple(found)


def telling(found: Iterable[str]) -> frozenset[str]:
    """The terms without those of words that say nothing about a subject; all of them where nothing else is left."""
    every = frozenset(found)
    return every - stop_terms() or every


@cache
def stop_terms() -> frozenset[str]:
    """The terms of `text.STOP_WORDS`."""
    return frozenset(term for word in STOP_WORDS for term in terms(word))


def plain_terms(text: str) -> list[str]:
    """Return the terms without the wholes of compounds."""
    every = map(terms_of, WORD.findall(fold(text)))
    return [term for found in every for term in (found[:-1] if len(found) > 1 else found)]


def joined(text: str) -> str:
    """The term of all words of a text written as one: `rock pools` as `rockpools`."""
    return _stem(_spelt("".join(part for word in WORD.findall(fold(text)) for part in _JOINT.split(word))))


def _spelt(word: str) -> str:
    if len(word) < SHORTEST_SPELLING or not word.isascii():
        return word
    for british, american in _SPELLINGS:
        word = british.sub(american, word)
    return word


_STEMMING = Lock()


def _stem(word: str) -> str:
    with _STEMMING:  # a stemmer is not safe for threads
        stem: str = _stemmer().stemWord(word)
    return stem or word


@cache
def _stemmer() -> "Stemmer":
    from Stemmer import Stemmer

    return Stemmer("english", 0)
