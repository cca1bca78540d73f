"""The names that a query may be: relevance is a matter of degree, a name is not.

A name is meant by the whole query or, less surely, by its subject without the frame of a question.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote

from commonplace.search import identifiers
from commonplace.search.analysis import joined, plain_terms
from commonplace.search.model import Record
from commonplace.search.query import REMEMBERED, Query
from commonplace.search.text import name_key, plain_key

Kind = Literal["t", "a", "m", "s", "u", "p", "g", "x"]
"""A title, an alias, the main part of a title (`What is a DAO?` of `What is a DAO? - Foundations`, `Cells` of `Cells
(pattern)`), the stem of a file's name, an author, a place (path, `type/id`, link), a tag, an identifier."""

GRADES: Mapping[str, Sequence[float]] = {
    "t": (1.0, 0.95, 0.8, 0.7),
    "a": (0.9, 0.85, 0.75, 0.65),
    "m": (0.6, 0.6, 0.6, 0.5),
    "s": (0.56, 0.56, 0.56, 0.46),
    "u": (0.4, 0.4, 0.4, 0.37),
}
"""Letter for letter; but for case and spaces; but for accents and punctuation (`#dao` is `DAO`); in another form or
spelling (`DAOs`, `rockpool`). How exact a name is counts before what kind of name it is."""

SUBJECT_SHARE = 0.6
"""What the grade of a subject counts for: less than any grade of a whole query."""

CORRECTED_SHARE = 0.35
"""What the grade of a query counts for that was corrected first."""

IDENTIFIED = 0.45
"""The grade of a record that has every identifier of the query: below that of any name that the whole query is."""

PLACE, FILE = 0.925, 0.82
"""The grade of a path with a folder in it, which only a title written so precedes; and of the name of a file."""

TAGGED = 0.35
"""The grade of every record with the tag that the query is: `tag:governance`, `#governance`."""

_EXACT = {"x": "=", "p": "/", "g": "#"}
"""The mark before the key of a name that is compared whole: no key of another name has it."""

_DETAIL = re.compile(r"\s[-–—|]\s|:\s|\s\([^()]*\)(?=$|\s[-–—|]\s|:\s)")
_HOST = re.compile(r"(?:[a-z]+://)?(?:www\.)?[./]*")
_ENDING = re.compile(r"(?<=[^/])\.(?:md|mdx|markdown)$")
_TAG = re.compile(r"(?:tags?:|#)(.+)")


def names_of(record: Record) -> Iterator[tuple[Kind, str]]:
    """The names of a record. What belongs to an organisation is no file: its path is that of its source."""
    path = place(record.path) if record.organisation is None else ""
    named: Sequence[tuple[Kind, Iterable[str]]] = (
        ("t", (record.title,)),
        ("a", record.aliases),
        ("m", (_main_part(record.title),)),
        ("s", (path.rpartition("/")[2],)),
        ("u", (*record.authors, *map(_main_part, record.authors))),
        ("p", (*_ends(path), *_ends(place(record.id)), place(record.url or "")) if path else ()),
        ("g", map(name_key, (*record.tags, *record.tag_parents))),
        ("x", record.identifiers),
    )
    return ((kind, name) for kind, names in named for name in dict.fromkeys(names) if name)


def _main_part(name: str) -> str:
    main = _DETAIL.split(name, maxsplit=1)[0].strip()
    return main if main != name else ""


@lru_cache(maxsize=1_024)
def place(text: str) -> str:
    """A path, or an address, as places are compared: without scheme, ending and heading, folded."""
    text = unquote(plain_key(text)).replace("\\", "/")
    path = text.partition("#")[0] if "/" in text else text
    return _ENDING.sub("", _HOST.sub("", path, count=1).rstrip("/"))


def _ends(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.partition("/")[2]


def name_keys(name: str, kind: Kind = "t") -> tuple[str, ...]:
    """Return what names share that may be meant by one another. A name without a word in it has one key, itself, and so
    has a place, a tag and an identifier."""
    if kind in _EXACT:
        return (_EXACT[kind] + name,)
    keys = ("".join(plain_terms(name)), joined(name))
    return tuple(dict.fromkeys(filter(None, keys))) or (name_key(name),)


@lru_cache(maxsize=REMEMBERED)
def query_keys(query: Query) -> Sequence[str]:
    """The keys of names that the query may be."""
    whole, tag = place(query.text), _TAG.match(plain_key(query.text))
    exact = [("x", name) for name in identifiers.asked(query.text)]
    exact += [("p", end) for end in _ends(whole) if end == whole or "/" in end]
    exact += [("g", name_key(tag[1]))] if tag else []
    words = (*name_keys(query.text), *name_keys(query.subject))
    return tuple(dict.fromkeys((*words, *(_EXACT[kind] + name for kind, name in exact))))


def grade(query: Query, names: Iterable[tuple[str, str]]) -> float:
    """Return how surely the query names a record by these kinds and names; 0 when it does not.

    The best name counts, and of identifiers how many of the query's the record has.
    """
    own = list(names)
    best = max((_grade_of(query, name, kind) for kind, name in own if kind != "x"), default=0.0)
    wanted = identifiers.asked(query.text)
    shared = len({name for kind, name in own if kind == "x"}.intersection(wanted))
    return max(best, IDENTIFIED * shared / len(wanted) if shared else 0.0)


def _grade_of(query: Query, name: str, kind: str) -> float:
    if kind in "gp":
        if _EXACT[kind] + name not in query_keys(query):
            return 0.0
        # The end of an address counts by its share, so that the record that has most of it is first.
        return TAGGED if kind == "g" else (PLACE if "/" in name else FILE) * len(name) / len(place(query.text))
    best = _grade(query.text, name, GRADES[kind])
    return best or SUBJECT_SHARE * _grade(query.subject, name, GRADES[kind])


def _grade(text: str, name: str, grades: Sequence[float]) -> float:
    letter, spelling, loose, form = grades
    if text.strip() == name.strip():
        return letter
    if plain_key(text) == plain_key(name):
        return spelling
    if name_key(text) == name_key(name):
        return loose
    return form if {*name_keys(text)} & {*name_keys(name)} else 0.0
