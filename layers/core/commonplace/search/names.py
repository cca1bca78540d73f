"""Whether a query *is* a name: relevance is a matter of degree, a name is not.

A name is meant by the whole query or, less surely, by its subject without the frame of a question.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from commonplace.search import identifiers
from commonplace.search.analysis import joined, plain_terms
from commonplace.search.query import Query
from commonplace.search.text import name_key, plain_key

Kind = Literal["t", "a", "m", "x"]
"""A title, an alias, the main part of a title (`What is a DAO?` of `What is a DAO? - Foundations`), or one of its
identifiers."""

GRADES: Mapping[str, Sequence[float]] = {
    "t": (1.0, 0.95, 0.8, 0.7),
    "a": (0.9, 0.85, 0.75, 0.65),
    "m": (0.6, 0.6, 0.6, 0.5),
}
"""Letter for letter; but for case and spaces; but for accents and punctuation (`#dao` is `DAO`); in another form or
spelling (`DAOs`, `rockpool`). How exact a name is counts before what kind of name it is."""

SUBJECT_SHARE = 0.6
"""What the grade of a subject counts for: less than any grade of a whole query."""

CORRECTED_SHARE = 0.35
"""What the grade of a query counts for that was corrected first."""

IDENTIFIED = 0.45
"""The grade of a record that has every identifier of the query: below that of any name that the whole query is."""


_EXACTLY = "="
"""Before the key of an identifier: no key of another name has it."""

_SUBTITLE = re.compile(r"\s[-–—|]\s|:\s")


def names_of(title: str, aliases: Sequence[str], identified: Sequence[str] = ()) -> Iterator[tuple[Kind, str]]:
    """The names of a record; `identified` are its identifiers (`search.identifiers`)."""
    if title:
        yield "t", title
    for alias in aliases:
        yield "a", alias
    main = _SUBTITLE.split(title, maxsplit=1)[0].strip()
    if main and main != title:
        yield "m", main
    for name in identified:
        yield "x", name


def name_keys(name: str, kind: Kind = "t") -> tuple[str, ...]:
    """What names share that may be meant by one another. A name without a word in it has one key, itself, and so has an
    identifier."""
    if kind == "x":
        return (_EXACTLY + name,)
    keys = ("".join(plain_terms(name)), joined(name))
    return tuple(dict.fromkeys(filter(None, keys))) or (name_key(name),)


def query_keys(query: Query) -> Sequence[str]:
    """The keys of names that the query may be."""
    exact = (_EXACTLY + name for name in identifiers.asked(query.text))
    return tuple(dict.fromkeys((*name_keys(query.text), *name_keys(query.subject), *exact)))


def grade(query: Query, names: Iterable[tuple[str, str]]) -> float:
    """How surely the query names a record by these kinds and names; 0 when it does not.

    Of titles and aliases the best counts, of identifiers how many of the query's the record has.
    """
    told = list(names)
    best = max((_grade_of(query, name, kind) for kind, name in told if kind != "x"), default=0.0)
    wanted = identifiers.asked(query.text)
    shared = len({name for kind, name in told if kind == "x"}.intersection(wanted))
    return max(best, IDENTIFIED * shared / len(wanted) if shared else 0.0)


def _grade_of(query: Query, name: str, kind: str) -> float:
    whole = _grade(query.text, name, GRADES[kind])
    return whole or SUBJECT_SHARE * _grade(query.subject, name, GRADES[kind])


def _grade(text: str, name: str, grades: Sequence[float]) -> float:
    letter, spelling, loose, form = grades
    if text.strip() == name.strip():
        return letter
    if plain_key(text) == plain_key(name):
        return spelling
    if name_key(text) == name_key(name):
        return loose
    return form if {*name_keys(text)} & {*name_keys(name)} else 0.0
