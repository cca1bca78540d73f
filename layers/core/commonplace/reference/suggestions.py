"""Did you mean: existing names near to one that does not exist, by their letters and by their words.

Words count as shared when they are the same, synonyms, or one misspelt.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from math import log

from commonplace.reference.commands import command_name, is_option, is_placeholder, names_no_subcommand, tokens
from commonplace.reference.endpoints import SLOT, is_path, joined, segment_shape, segments, shape
from commonplace.reference.model import SUGGESTIONS, Entry
from commonplace.reference.shelf import Conditions, Kept, Shelved
from commonplace.reference.spelling import spelling, unwrapped
from commonplace.reference.synonyms import DEFAULT, Stemmer, Synonyms
from commonplace.search.text import fold, words

Meant = dict[str, float]
"""Words that a word may stand for, itself first, and how much each counts. Stemmed."""

SHORTEST_MISSPELT = 4
"""Letters of a word that is believed to be misspelt."""

_SYNONYM, _MISSPELT = 0.9, 0.7
_NEAREST = 5

MISSPELT = 2
"""Edits that are believed to be mistakes; above, words count more than letters."""

MOST_EDITS = 4
"""Edits above which two names have no more than their words in common, however long they are."""

COMPARED = 20
"""Names that are looked at closely: so many that are spelt alike, and so many that share words."""

LOOKED_UP = 1000
"""Names that are looked up by their words, those with the rarest of them first."""

KEPT_CONDITIONS = 16
"""Sets of conditions whose names are kept for the next miss."""

_ENOUGH = 0.4
"""Likeness below which a name is not suggested."""
_IMPROPER = 0.95
"""What likeness to an alias or a title counts, beside that to what the entry is called."""
_BY_WORDS, _BY_LETTERS = 0.75, 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A name, or another way to say it."""

    kept: Kept
    letters: str
    """As spelling mistakes are counted in."""
    words: frozenset[str]
    """Stemmed."""
    proper: bool
    """Whether it is what the entry is called, and no alias or title beside that."""


class Everything:
    """Of every entry that nothing replaces."""

    def __init__(self, shelved: Shelved) -> None:
        self.stem = Stemmer()
        self.synonyms = Synonyms([DEFAULT, *(one.synonyms for one in shelved.catalogues)], self.stem)
        current = [kept for kept in shelved if shelved.current(kept) is kept]
        self.all = sorted((known for kept in current for known in self._of(kept)), key=lambda one: len(one.letters))
        """The shorter first."""
        self.having: dict[str, list[int]] = defaultdict(list)
        """Stemmed word -> places in `all`."""
        for place, known in enumerate(self.all):
            for word in known.words:
                self.having[word].append(place)
        self.vocabulary = tuple(self.having)
        self._weights = {word: log(1 + len(self.all) / len(having)) for word, having in self.having.items()}
        self._unknown = log(1 + len(self.all))
        self.told = tuple(sum(map(self.weight, known.words)) for known in self.all)
        """The significance of the words of each."""

    def weight(self, word: str) -> float:
        """The significance of a word: rare words have more, and unknown ones most."""
        return self._weights.get(word, self._unknown)

    def stems(self, text: str) -> list[str]:
        """Of every word, in order."""
        return [self.stem(word) for word in words(text)]

    def _of(self, kept: Kept) -> Iterator[Known]:
        for number, (letters, text) in enumerate(_ways_to_say(kept.entry)):
            yield Known(kept, letters, frozenset(self.stems(text)), proper=number == 0)


def _ways_to_say(entry: Entry) -> Iterator[tuple[str, str]]:
    """As letters and as text, the proper name first."""
    if entry.type == "api" and entry.path_template:
        yield fold(f"{entry.method or ''} {shape(entry.path_template)}").strip(), entry.called
        yield fold(shape(entry.path_template)), entry.path_template
    elif name := command_name(entry):
        yield spelling(name), name
    said: Sequence[str] = (entry.title, *entry.aliases)
    yield from ((spelling(text), text) for text in said)


def meant(text: str, everything: Everything) -> tuple[Meant, ...]:
    """For each word of a text: itself, what else it is called, and, if nothing has it, what it may be misspelt for."""
    stems = everything.stems(text)
    found: list[Meant] = [{stem: 1.0} for stem in stems]
    for start, end, word in _synonyms(stems, everything):
        for place in range(start, end):
            found[place].setdefault(word, _SYNONYM)
    for stem, one in zip(stems, found, strict=True):
        if stem not in everything.having:
            one.update(dict.fromkeys(_near(stem, everything), _MISSPELT))
    return tuple(found)


def told(asked: Sequence[Meant], everything: Everything) -> float:
    """What the words tell, as they were asked."""
    return sum(everything.weight(next(iter(one))) for one in asked)


def shared(asked: Sequence[Meant], words: frozenset[str], everything: Everything) -> float:
    """What is told by the words that both have, counted on either side."""
    common, used = 0.0, set[str]()
    for one in asked:
        in_both = [word for word in one if word in words and word not in used]
        if in_both:
            best = max(in_both, key=one.__getitem__)
            used.add(best)
            common += one[best] * (everything.weight(next(iter(one))) + everything.weight(best))
    return common


def _synonyms(stems: Sequence[str], everything: Everything) -> Iterator[tuple[int, int, str]]:
    """From where to where, and one word for all that is there."""
    synonyms = everything.synonyms
    for start in range(len(stems)):
        for end in range(start + 1, min(len(stems), start + synonyms.longest) + 1):
            for other in synonyms.of(tuple(stems[start:end])):
                if len(other) == 1:
                    yield start, end, other[0]


def _near(word: str, everything: Everything) -> list[str]:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    if len(word) < SHORTEST_MISSPELT:
        return []
    found = process.extract(word, everything.vocabulary, scorer=OSA.distance, score_cutoff=1, limit=_NEAREST)
    return [near for near, _, _ in found]


@dataclass(frozen=True, slots=True)
class Near:
    """A name that may have been meant."""

    known: Known
    edits: int
    """MISSPELT + 1 for what is more than a mistake."""
    likeness: float
    """From 0 to 1, by words and letters."""


class Suggesting:
    """The library that counts edits is loaded with the first suggestion."""

    def __init__(self, everything: Everything, roots: frozenset[str]) -> None:
        self._everything = everything
        self._roots = roots
        self._lengths = [len(known.letters) for known in everything.all]
        self._letters = lru_cache(maxsize=KEPT_CONDITIONS)(self._letters_under)

    def suggest(self, text: str, conditions: Conditions, limit: int = SUGGESTIONS) -> tuple[str, ...]:
        """Names as they are, the nearest first; none where nothing is near."""
        found = tokens(unwrapped(text))
        written, perhaps = _written(found, self._everything.having)
        near = [one for letters in written for one in self._near(letters, conditions)]
        near += (one for letters in perhaps for one in self._misspelt(letters, conditions))
        if conditions.type in (None, "command") and (letters := self._rootless(found)):
            near += self._misspelt(letters, replace(conditions, type="command"))
        near.sort(key=lambda one: (one.edits, -one.likeness))
        return tuple(dict.fromkeys(one.known.kept.entry.called for one in near))[:limit]

    def _near(self, letters: str, conditions: Conditions) -> Iterator[Near]:
        """By letters and by words."""
        asked = meant(letters, self._everything)
        spelt = self._spelt(letters, conditions, min(MOST_EDITS, max(MISSPELT, len(letters) // 3)))
        near = (self._compared(letters, asked, place) for place in {*spelt, *self._worded(asked, conditions)})
        return (one for one in near if one.edits <= MISSPELT or one.likeness >= _ENOUGH)

    def _misspelt(self, letters: str, conditions: Conditions) -> Iterator[Near]:
        """By letters alone, if they are nearly right."""
        asked = meant(letters, self._everything)
        near = (self._compared(letters, asked, place) for place in self._spelt(letters, conditions, MISSPELT))
        return (one for one in near if one.edits <= MISSPELT)

    def _compared(self, letters: str, asked: Sequence[Meant], place: int) -> Near:
        from rapidfuzz.distance import OSA

        known, of_both = self._everything.all[place], told(asked, self._everything) + self._everything.told[place]
        edits = OSA.distance(letters, known.letters)
        alike = 1 - edits / max(len(letters), len(known.letters), 1)
        common = shared(asked, known.words, self._everything) / (of_both or 1)
        likeness = _BY_WORDS * common + _BY_LETTERS * alike
        believed = edits <= min(MISSPELT, 1 + len(letters) // 6) and 2 * edits < len(letters)
        return Near(known, edits if believed else MISSPELT + 1, likeness if known.proper else likeness * _IMPROPER)

    def _spelt(self, letters: str, conditions: Conditions, allowed: int) -> list[int]:
        """Places of what is at most so many edits away, those first that are fewest away."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        start, end = (bisect_left(self._lengths, len(letters) + more) for more in (-allowed, allowed + 1))
        choices = self._letters(conditions)[start:end]
        found = process.extract(letters, choices, scorer=OSA.distance, score_cutoff=allowed, limit=COMPARED)
        return [start + place for _, _, place in found]

    def _worded(self, asked: Sequence[Meant], conditions: Conditions) -> list[int]:
        """Places of names that share words, those first that share the most significance."""
        everything, found, looked_up = self._everything, defaultdict[int, float](float), 0
        words = [(everything.having.get(word, ()), word, counts) for one in asked for word, counts in one.items()]
        for having, word, counts in sorted(words, key=lambda each: len(each[0])):
            looked_up += len(having)
            if looked_up > LOOKED_UP and found:
                break
            weight = counts * everything.weight(word)
            for place in having:
                found[place] += weight
        of_asked = told(asked, everything)
        best = sorted(found, key=lambda place: found[place] / (of_asked + everything.told[place]), reverse=True)
        passing = (place for place in best if conditions.let(everything.all[place].kept))
        return list(islice(passing, COMPARED))

    def _letters_under(self, conditions: Conditions) -> list[str | None]:
        return [known.letters if conditions.let(known.kept) else None for known in self._everything.all]

    def _rootless(self, found: Sequence[str]) -> str:
        """As aliases are, which do without the root of a command."""
        root, _, rest = _line(found, values=False).partition(" ")
        return rest if root in self._roots and " " in rest else ""


def _written(found: Sequence[str], known: Container[str]) -> tuple[Iterable[str], Iterable[str]]:
    """As names are: a line without its options, also without values, or a path as its shape; and what else it may be.

    Of a path that is the same without its method, and with its last segment as a value: somebody takes
    `/users/export` for what `/users/{id}` is.
    """
    place = next((place for place, token in enumerate(found[:2]) if is_path(token)), None)
    if place is None:
        return dict.fromkeys((_line(found, values=False), _line(found))), ()
    method, path = " ".join(map(fold, found[:place])), _shape(found[place], known)
    return [f"{method} {path}".strip()], dict.fromkeys((path, f"{method} {path.rpartition('/')[0]}/{SLOT}".strip()))


def _line(found: Sequence[str], *, values: bool = True) -> str:
    kept = (token for token in found if not (is_option(token) or is_placeholder(token)))
    return spelling(" ".join(token for token in kept if values or not names_no_subcommand(token)))


def _shape(path: str, known: Container[str]) -> str:
    """With what looks like a value, and is part of no name, as what stands for it in a template."""
    return joined([_slot(segment, known) for segment in segments(path)])


def _slot(segment: str, known: Container[str]) -> str:
    valued = not segment.replace("-", "").replace("_", "").isalpha()
    return SLOT if valued and not any(word in known for word in words(segment)) else segment_shape(fold(segment))
