"""Whether a query *is* the name of a record. Relevance is a matter of degree; a name is not."""

from commonplace.search.text import fold, words

TITLE_GRADES = (1.0, 0.95, 0.8)
ALIAS_GRADES = (0.9, 0.85, 0.75)
"""Letter for letter, but for case and spaces, but for accents and punctuation (`#dao` is `DAO`). How exact a name is
counts before what kind of name it is."""


def name_key(name: str) -> str:
    """What equal names share. Names without a word in them (`C++` has one, `???` has none) are kept as they are."""
    return " ".join(words(name)) or _plain_key(name)


def grade(query: str, name: str, *, is_title: bool) -> float:
    """How surely the query names this: one of the grades, or 0 when it does not."""
    letter, spelling, loose = TITLE_GRADES if is_title else ALIAS_GRADES
    if query.strip() == name.strip():
        return letter
    if _plain_key(query) == _plain_key(name):
        return spelling
    return loose if name_key(query) == name_key(name) else 0.0


def _plain_key(name: str) -> str:
    return " ".join(fold(name).split())
