"""Names of arguments: how callers write them, and what they say in their place, for tools and addresses alike."""

from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path

QUESTIONS = frozenset(["query", "q", "text", "search", "question", "keywords", "keyword", "term"])
"""Arguments that hold what is looked for."""

Synonyms = tuple[tuple[frozenset[str], frozenset[str]], ...]


def _synonyms(where: str) -> Synonyms:
    lines = Path(__file__).with_name("synonyms.txt").read_text("ascii").splitlines()
    rows = (line.removeprefix(f"{where} ").partition(":") for line in lines if line.startswith(f"{where} "))
    return tuple((frozenset(declared.split()), frozenset(given.split())) for declared, _, given in rows)


SYNONYMS = _synonyms("all")
"""Declared names, and what callers say in their place."""
OF_PARAMETERS = _synonyms("rest")
"""The same for parameters of addresses, after those of all."""

MAX_NAME_CHARACTERS = 100
"""The longest name; longer texts name nothing, and what callers send is remembered up to this length only."""


def plain(name: str) -> str:
    """Return a name without case, underscores, hyphens and spaces: the same for names that differ in these only."""
    return _plain(name[:MAX_NAME_CHARACTERS])


@lru_cache(maxsize=4_096)
def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


@lru_cache(maxsize=4_096)
def singular(name: str) -> str:
    """Return the same for singular and plural of a name that is plain already, though not always a word."""
    if len(name) > 4 and name.endswith("ies"):
        return name[:-3] + "y"
    if len(name) > 4 and name.endswith(("ses", "xes", "ches", "shes")):
        return name[:-2]
    return name[:-1] if len(name) > 2 and name.endswith("s") and not name.endswith("ss") else name


def meant(name: str, declared: Collection[str], required: Collection[str] = (), more: Synonyms = ()) -> str | None:
    """Return the declared name, or None if there is none or it might be several; `more` are further synonyms."""
    if name in declared:
        return name
    key = plain(name) if len(name) <= MAX_NAME_CHARACTERS else ""
    if not key:
        return None
    found = [one for one in declared if plain(one) == key] or [
        one for one in declared if singular(plain(one)) == singular(key)
    ]
    if found:
        return found[0] if len(found) == 1 else None
    for names, given in (*SYNONYMS, *more):
        if key in given or singular(key) in given:
            found = [one for one in declared if plain(one) in names]
            # Of several, the one without which a call means nothing.
            found = [one for one in found if one in required] or found
            if len(found) == 1:
                return found[0]
    return None


def closest(value: str, choices: Iterable[str], most: int = 6) -> list[str]:
    """Return valid values that are spelled like this one, best first."""
    from difflib import get_close_matches

    written = {plain(one): one for one in choices}
    return [written[one] for one in get_close_matches(plain(value), list(written), n=most, cutoff=0.5)]
