"""The words of an entry, field by field, in the order in which seed 003 weighs them."""

import re
from collections.abc import Iterator, Mapping, Sequence

from commonplace.reference.entries import Entry, EntryType
from commonplace.reference.synonyms import Stemmer
from commonplace.search.text import STOP_WORDS, words

NAME, TITLE, KEYWORDS, PLACE, SUMMARY, CONTENT = range(6)
FIELDS = (NAME, TITLE, KEYWORDS, PLACE, SUMMARY, CONTENT)

READ_CHARACTERS = 6_000
"""Of an entry's content: what stands deeper is found by meaning."""
EDITION_CHARACTERS = 8_000_000
"""Of the content of all entries together: of many, less of each is read. It bounds the time and memory of an index."""

KINDS: Mapping[EntryType, str] = {
    "command": "command cli console",
    "api": "api endpoint rest http request",
    "guide": "guide how tutorial steps",
    "feature": "feature",
    "troubleshooting": "troubleshooting problem error issue fix",
    "setting": "setting option configuration parameter",
}
"""What people call an entry of a type when they ask for one."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PARAMETER = re.compile(r"\{[^{}]*\}")


def terms(text: str, stem: Stemmer) -> list[str]:
    """The stemmed words of a text in order, without those that say nothing; a name in camel case is several."""
    return [stem(word) for word in words(_CAMEL.sub(" ", text)) if word not in STOP_WORDS]


def characters_read(entries: int) -> int:
    """Of the content of each of so many entries."""
    return min(READ_CHARACTERS, EDITION_CHARACTERS // max(1, entries))


def fields(entry: Entry, stem: Stemmer, characters: int = READ_CHARACTERS) -> list[list[str]]:
    """The words of each field, in the order of `FIELDS`; `characters` are read of the content."""
    return [[term for text in texts for term in terms(text, stem)] for texts in _texts(entry, characters)]


def _texts(entry: Entry, characters: int) -> Iterator[Sequence[str]]:
    yield (_name(entry),)
    yield (entry.title,)
    yield (*entry.keywords, *entry.aliases)
    yield (entry.category, entry.subcategory or "", entry.module or "", KINDS[entry.type])
    yield (entry.summary,)
    yield (entry.content[:characters], *(example.description for example in entry.examples))


def _name(entry: Entry) -> str:
    """What it is called where it is used; parameters of a path are no words of its name."""
    if entry.type == "api":
        return _PARAMETER.sub(" ", entry.path_template or "")
    return entry.name or "" if entry.type == "command" else ""
