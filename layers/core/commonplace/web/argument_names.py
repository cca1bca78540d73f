"""Names of arguments: how callers write them, and what they say in their place, for tools and addresses alike."""

from collections.abc import Collection, Iterable
from functools import lru_cache

QUESTIONS = frozenset(["query", "q", "text", "search", "question", "keywords", "keyword", "term"])
"""Arguments that hold what is looked for."""

Synonyms = tuple[tuple[frozenset[str], frozenset[str]], ...]

SYNONYMS: Synonyms = tuple(
    (frozenset(declared.split()), frozenset(given.split()))
    for declared, given in (
        (" ".join(QUESTIONS), " ".join(QUESTIONS) + " searchquery searchterm querytext terms prompt"),
        ("term", "word name concept title entry"),
        ("title", "name heading"),
        ("limit k n", "limit topk k n pagesize perpage maxresults numresults count size maxitems first top"),
        ("contenttype type", "contenttype type kind doctype documenttype"),
        ("id", "documentid docid entryid uuid identifier slug uri url link path title name document"),
        ("url", "link href address uri"),
        ("cursor continuation", "continuation cursor nextcursor pagetoken nextpagetoken handle continue"),
        ("datefrom since", "since after from startdate fromdate"),
        ("dateto until", "until before to enddate todate"),
        ("content body", "content body text markdown"),
        ("description", "summary abstract"),
        ("tags", "labels topics keywords"),
        ("maxtokens", "tokens tokenbudget tokenlimit"),
        ("key", "idempotencykey requestid"),
        ("idempotencykey", "key requestid"),
        ("entryid", "id uuid identifier entry"),
        ("itemid", "id uuid identifier item contributionid knowledgeid"),
        ("entrytype", "type kind contenttype"),
        ("minconfidence", "confidence threshold"),
        ("orderby", "sort sortby"),
        ("order", "direction sortorder"),
        ("sourcestory", "story storyid"),
        ("sourcefile", "file path"),
        ("expectedversion", "version ifversion"),
        ("entries", "items records yaml"),
        ("command", "cmd commandname commandline name query q text syntax"),
        ("path", "endpoint route url uri pathtemplate query"),
        ("method", "verb httpmethod"),
        ("category", "subcategory section group"),
        ("guide", "id entryid title name query q topic entry slug"),
        ("catalogue", "catalog product"),
        ("page", "pagenumber pageindex"),
        ("pagecontext", "page context screen"),
    )
)
"""Declared names, and what models say in their place; both as `plain` writes them. The first that fits counts."""

MAX_NAME_CHARACTERS = 100
"""What is longer names nothing; what callers send is remembered up to this length only."""


def plain(name: str) -> str:
    """Without case, underscores, hyphens and spaces; the same for names that differ in these only."""
    return _plain(name[:MAX_NAME_CHARACTERS])


@lru_cache(maxsize=4_096)
def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


@lru_cache(maxsize=4_096)
def singular(name: str) -> str:
    """Of a name that is plain already; the same for singular and plural, though not always a word."""
    if len(name) > 4 and name.endswith("ies"):
        return name[:-3] + "y"
    if len(name) > 4 and name.endswith(("ses", "xes", "ches", "shes")):
        return name[:-2]
    return name[:-1] if len(name) > 2 and name.endswith("s") and not name.endswith("ss") else name


def meant(name: str, declared: Collection[str], required: Collection[str] = (), more: Synonyms = ()) -> str | None:
    """The declared name, or None if there is none or it might be several; `more` are further synonyms."""
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
    """Valid values that are spelled like this one, best first."""
    from difflib import get_close_matches

    written = {plain(one): one for one in choices}
    return [written[one] for one in get_close_matches(plain(value), list(written), n=most, cutoff=0.5)]
