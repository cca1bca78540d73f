"""Names of persons that are told by a given name: twenty thousand of them, of sixty languages, and what stands around.

A model of 15 MB knows fewer names than a list does, and less of other languages than English; a list knows nothing of a
sentence. So each finds what the other misses.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from commonplace.redaction.model import Span
from commonplace.redaction.vocabulary import ALSO_WORDS, BEFORE_TOWNS, TECHNICAL, Forms

FORMS = Forms("given_names", ignore_case="asked spoken_to")

FILE = Path(__file__).with_suffix(".txt")
_STROKES = str.maketrans("łŁđĐøØıßæœþðə", "lLdDoOisaotda")

_PARTICLE = FORMS.text("particle")
NO_PERSON = FORMS.words("no_person")
_OPENERS = FORMS.words("openers")
_GIVEN_WORDS = FORMS.words("given_words")
_MONTHS = FORMS.words("months")
_SYLLABLES = FORMS.words("syllables")
_FAMILIES = FORMS.words("families")


def folded(name: str) -> str:
    """In small letters, without accents and strokes: one way of writing for many."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).translate(_STROKES)


@cache
def given_names() -> frozenset[str]:
    """Folded."""
    return frozenset(FILE.read_text(encoding="utf-8").partition("\n")[2].split())


def find_given_names(text: str) -> Iterator[Span]:
    """Names with a given name in them, whole: the words around it that belong to it, as far as they are capitalised."""
    for found in FORMS.name.finditer(text):
        for start, end in _people(text, found):
            yield Span(start, end, "NAME", "rule", label="given-name")
    for found in FORMS.initials.finditer(text):
        yield Span(*found.span(), "NAME", "rule", label="initials")


_Token = tuple[str, int, int]


def _people(text: str, found: re.Match[str]) -> Iterator[tuple[int, int]]:
    offset = found.start()
    tokens = [(token[0], offset + token.start(), offset + token.end()) for token in FORMS.token.finditer(found[0])]
    group: list[_Token] = []
    for token in [*tokens, None]:
        if token and (token[0][0].isupper() or (group and _is_particle(token[0]))):
            group.append(token)
            continue
        while group and _is_particle(group[-1][0]):
            group.pop()
        if group and (person := _person(text, group)):
            yield person
        group = []
        if token:
            # `ask priya`: a person is addressed, though the name is written small.
            word, start, end = token
            before = text[max(0, start - 24) : start]
            if len(word) > 3 and _is_given(folded(word)) and FORMS.spoken_to.search(before):
                yield start, end


def _is_particle(word: str) -> bool:
    return not word[0].isupper() and bool(re.fullmatch(_PARTICLE, word))


def _person(text: str, group: list[_Token]) -> tuple[int, int] | None:
    plain = [folded(word) for word, _, _ in group]
    if any(word in NO_PERSON or word in TECHNICAL for word in plain) or (plain[0] in BEFORE_TOWNS and len(plain) == 2):
        return None
    if FORMS.no_person_after.match(text, group[-1][2]):
        return None
    first = next((index for index in range(len(group)) if _tells(text, group, plain, index)), None)
    if first is None:
        return None
    # A family name may stand before: Hungarian, Vietnamese.
    while first > 0 and plain[first - 1] not in _OPENERS and (first > 1 or plain[0] not in ALSO_WORDS):
        first -= 1
    start = group[first][1]
    titled = FORMS.titled.search(text[max(0, start - 20) : start])
    return start - (len(titled[0]) if titled else 0), group[-1][2]


def _tells(text: str, group: list[_Token], plain: list[str], index: int) -> bool:
    """Return whether the word at `index` says that this is somebody."""
    (word, start, _), name = group[index], plain[index]
    if word.isupper() and len(word) > 1 and not (len(group) > 1 and all(each.isupper() for each, _, _ in group)):
        return False
    if re.search(r"-[a-z]", word) and not set(name.split("-")) <= _SYLLABLES:
        return False
    if _is_given(name) or (name in _FAMILIES and len(group) > index + 1 and name not in _OPENERS):
        return True
    before = text[max(0, start - 30) : start]
    if index == 0 and len(name) > 2 and FORMS.spoken_to.search(before) and word[1:].islower() and name not in _OPENERS:
        return True
    return name in _GIVEN_WORDS and _stands_as_name(text, group, index)


def _is_given(word: str) -> bool:
    if word in ALSO_WORDS:
        return False
    names, parts = given_names(), re.split(r"['’ʻ-]", word)
    if len(parts) > 1:
        return all(part in _SYLLABLES for part in parts) or (parts[0] in names and all(len(part) > 1 for part in parts))
    return word in names


def _stands_as_name(text: str, group: list[_Token], index: int) -> bool:
    """Whether a name that is a word as well is the name: somebody is asked, or does something, or has two names."""
    word, start, end = group[index]
    others = [each for each, _, _ in group[index + 1 :]]
    if 0 < len(others) < 3 and all(len(each) > 2 for each in others):
        before = text[:start].rstrip(" \t*_>#\"'“„«(")
        begins = not before or before[-1] in ".!?\n|:;-—–•" or before[-1].isdigit()  # a sentence, a cell or an item
        if not begins:
            return True
    if FORMS.asked.search(text[max(0, start - 24) : start]) and word.casefold() not in _MONTHS:
        return True
    if word.casefold() not in _MONTHS and FORMS.did.match(text, group[-1][2]) and text[end : end + 1] != "\n":
        return True
    following = re.match(r"(?:,| and| und| y| et) ([^\W\d_a-z][^\W\d_]+)", text[end : end + 30])
    return (
        following is not None
        and folded(following[1]) in _GIVEN_WORDS | given_names()
        and FORMS.did.match(text, end + following.end()) is not None
    )
