"""How terms answer to a keyword, and which are most like a word that nothing answers to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import IntEnum
from typing import TYPE_CHECKING

from commonplace.documents.content.document_index import ALIKE
from commonplace.documents.content.terms import forms, parts, squeezed, words

if TYPE_CHECKING:
    from commonplace.documents.content.lexicon import Term

RESEMBLES = 0.75
"""From 0 to 1: how alike a keyword and a name must be for a search. More than for a suggestion: nobody is asked."""

COMPARED = 2_000
"""Terms up to which a word is compared with every one; of more, with those that begin like it."""

LONGEST = 200
"""Characters of a word that are compared."""


class Likeness(IntEnum):
    """How a term answers to a keyword, best first."""

    EXACT = 0
    PREFIX = 1
    WORD = 2
    SUBSTRING = 3
    FUZZY = 4


@dataclass(frozen=True, slots=True)
class Match:
    term: "Term"
    likeness: Likeness


@dataclass(frozen=True, slots=True)
class Comparable:
    """A term, ready to be compared."""

    term: "Term"
    names: tuple[str, ...]
    words: frozenset[str]
    """Of its names."""
    told: str
    """Words of the description, with a space before, between and after."""

    @classmethod
    def of(cls, term: "Term") -> "Comparable":
        entry = term.entry
        named = (entry.title, entry.id, *entry.aliases, *parts(entry.title)) if entry else (term.name,)
        told = words(entry.description or "") if entry else []
        return cls(
            term=term,
            names=tuple(dict.fromkeys(filter(None, map(squeezed, named)))),
            words=frozenset(word for name in named for word in words(name)),
            told=f" {' '.join(told)} ",
        )


def matches(keyword: str, terms: Iterable[Comparable]) -> list[Match]:
    """Terms whose names or description contain or resemble the keyword, best first.

    Of equals, those found by name come first, then those that more documents bear, then the order they came in.
    """
    asked = squeezed(keyword)[:LONGEST]
    if not asked:
        return []
    each = [forms(word) for word in words(keyword)]
    matcher = SequenceMatcher(None, "", asked)
    compared = ((_compared(asked, each, matcher, comparable), comparable.term) for comparable in terms)
    found = [(*how, -term.documents, at, term) for at, (how, term) in enumerate(compared) if how is not None]
    return [Match(term, likeness) for likeness, _, _, _, term in sorted(found, key=lambda one: one[:4])]


def nearest(text: str, terms: Sequence[Comparable], count: int) -> list["Term"]:
    """Terms with a name most like the text, best first; then those that begin with it or share a word with it."""
    wanted = squeezed(text)[:LONGEST]
    if len(terms) > COMPARED:
        terms = [one for one in terms if any(name[:2] == wanted[:2] for name in one.names)]
    matcher = SequenceMatcher(None, "", wanted)
    scored = sorted((-_alike(matcher, one.names, ALIKE), at) for at, one in enumerate(terms))
    alike = [at for score, at in scored[:count] if score]
    telling = {form for word in words(text) if len(word) > 3 for form in forms(word)}
    begun = [at for at, one in enumerate(terms) if len(wanted) > 2 and any(n.startswith(wanted) for n in one.names)]
    sharing = [at for at, one in enumerate(terms) if telling & one.words]
    return [terms[at].term for at in dict.fromkeys((*alike, *begun, *sharing))][:count]


def _compared(
    asked: str, each: Sequence[tuple[str, ...]], matcher: SequenceMatcher[str], with_: Comparable
) -> tuple[Likeness, bool] | None:
    """How alike they are, and whether it is the description alone that says so. `each` are the keyword's words."""
    if any(form in with_.names for form in forms(asked)):
        return Likeness.EXACT, False
    if any(name.startswith(asked) for name in with_.names):
        return Likeness.PREFIX, False
    if all(with_.words.intersection(word) for word in each):
        return Likeness.WORD, False
    if all(any(f" {form} " in with_.told for form in word) for word in each):
        return Likeness.WORD, True
    if any(asked in name for name in with_.names):
        return Likeness.SUBSTRING, False
    if all(word[0] in with_.told for word in each):
        return Likeness.SUBSTRING, True
    return (Likeness.FUZZY, False) if _alike(matcher, with_.names, RESEMBLES) else None


def _alike(matcher: SequenceMatcher[str], names: Iterable[str], least: float) -> float:
    """The likeness of the most similar name, or 0 when none is like it enough."""
    best = 0.0
    for name in names:
        matcher.set_seq1(name)
        if matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least:
            best = max(best, matcher.ratio())
    return best if best >= least else 0.0
