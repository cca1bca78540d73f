"""A query as every engine takes it: nothing in it is syntax."""

from dataclasses import dataclass
from functools import lru_cache

from commonplace.search.analysis import telling, terms
from commonplace.search.frames import subject
from commonplace.search.text import clean_query, query_terms

MOST_TERMS = 32
"""Of a query: what comes after them is not looked for."""

REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Query:
    """The text of a query and what is looked for. Make it by `Query.of`."""

    text: str
    """Valid Unicode, no control characters, single spaces."""
    words: tuple[str, ...]
    """The distinct folded words of the subject that are worth looking for: as they are written, for suggestions."""
    terms: tuple[str, ...]
    """The same as terms of the index (`search.analysis`)."""
    subject: str
    """The text without the frame of a question: `DAO` of `What is a DAO?`."""

    @classmethod
    def of(cls, text: str) -> "Query":
        """Any text is a valid query."""
        return _query(clean_query(text))


NOTHING = Query("", (), (), "")
"""The query that only a vector asks."""


@lru_cache(maxsize=REMEMBERED)
def _query(text: str) -> Query:
    asked = subject(text)
    found = dict.fromkeys(terms(asked))
    wanted = telling(found)
    kept = [term for term in found if term in wanted]
    return Query(text, tuple(query_terms(asked, MOST_TERMS)), tuple(kept[:MOST_TERMS]), asked)
