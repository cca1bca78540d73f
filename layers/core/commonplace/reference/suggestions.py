"""Did you mean: existing names near to one that does not exist.

By their letters first; then, of commands, by what the words say that follow the part of a line which exists, and of
endpoints, by the segments that both paths have.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from commonplace.reference.endpoints import SLOT, known_method, segment_shape, segments, shape
from commonplace.reference.model import SUGGESTIONS, Entry
from commonplace.reference.names import (
    Names,
    command_name,
    is_option,
    is_placeholder,
    is_value,
    names_no_subcommand,
    tokens,
)
from commonplace.reference.names import words as words_of
from commonplace.reference.shelf import Conditions, Kept, Shelved
from commonplace.reference.spelling import one_edit, spelling, unwrapped
from commonplace.reference.synonyms import DEFAULT, Synonyms, stem
from commonplace.search.text import fold

if TYPE_CHECKING:
    from commonplace.reference.scorer import Scorer

MISSPELT = 2
"""Edits that are believed to be mistakes."""

COMPARED = 20
"""Names that are looked at closely."""

LONGEST_BEGINNING = 5
"""Words of a line that may be a misspelt name before arguments."""

LOOKED_UP = 1000
"""Endpoints that are compared, those with the rarest segments first."""

KEPT_CONDITIONS = 16
"""Sets of conditions whose names are kept for the next miss."""

_ENOUGH = 0.05
"""Share of what is asked that the words of a command tell, below which it is not suggested."""
_NO_GROUP = 0.3
"""The same where nothing of the line exists."""
_FAR = 2.2
"""Cost above which two paths are not alike."""
_METHOD, _TAIL, _MORE, _OTHER, _NEARLY, _WORD = 0.5, 0.8, 1.0, 1.5, 0.4, 0.1
"""What it costs that two paths differ: in the method, in a segment less or more, in one that is another, misspelt, or a
plain word where a value is meant."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A name, or another way to say it."""

    kept: Kept
    letters: str
    """As spelling mistakes are counted in."""
    proper: bool
    """True if it is what the entry is called, and no alias or title beside that."""


class Suggesting:
    """The libraries that count edits and rank words are loaded with the first suggestion.

    `scorer` ranks all entries, in their order, by words; without it, letters alone are compared.
    """

    def __init__(self, shelved: Shelved, names: Names, scorer: Callable[[], "Scorer"] | None) -> None:
        self._shelved, self._names, self._scorer = shelved, names, scorer
        self._synonyms = Synonyms([DEFAULT, *(one.synonyms for one in shelved.catalogues)])
        current = [kept for kept in shelved if shelved.current(kept) is kept]
        found = (
            Known(kept, letters, proper=number == 0)
            for kept in current
            for number, letters in enumerate(_ways_to_say(kept.entry))
        )
        self._all = sorted(found, key=lambda one: len(one.letters))
        self._lengths = [len(known.letters) for known in self._all]
        self._letters = lru_cache(maxsize=KEPT_CONDITIONS)(
            lambda conditions: [one.letters if conditions.let(one.kept) else None for one in self._all]
        )
        self._paths = [(kept, _template(path)) for kept in current for path in _paths(kept.entry)]
        self._having: dict[str, list[int]] = defaultdict(list)
        for place, (_, template) in enumerate(self._paths):
            for segment in dict.fromkeys(template):
                self._having[stem(segment)].append(place)

    def suggest(self, text: str, conditions: Conditions, limit: int = SUGGESTIONS) -> tuple[str, ...]:
        """Names as they are, the nearest first; none where nothing is near."""
        found = tokens(unwrapped(text))
        near: Iterable[Kept] = ()
        if "/" in " ".join(found[:2]) and spelling(found[0]) not in self._names.roots:
            near = self._near_paths(" ".join(found[:2]), conditions)
        elif line := [token for token in found if not (is_option(token) or is_placeholder(token))]:
            near = self._near_lines(line, conditions)
        return tuple(dict.fromkeys(kept.entry.called for kept in near))[:limit]

    def _near_lines(self, line: Sequence[str], conditions: Conditions) -> Iterable[Kept]:
        plain = words_of(token for token in line if not names_no_subcommand(token)) or words_of(line)
        written = dict.fromkeys((" ".join(plain), spelling(" ".join(line))))
        begun = [" ".join(plain[:end]) for end in range(min(len(plain) - 1, LONGEST_BEGINNING), 1, -1)]
        rooted = set(plain[:1]) <= self._names.roots
        near = [one for letters in written for one in self._misspelt(letters, conditions)]
        near += (one for letters in begun for one in self._misspelt(letters, conditions, most=1))
        near += self._misspelt(" ".join(plain[1:]), conditions) if rooted and len(plain) > 2 else ()
        near.sort(key=lambda one: (one[0], not one[1].proper))
        same = [known.kept for _, known in near if not rooted or self._is_of(known.kept, plain[0])]
        return chain(same, self._meant(plain, conditions), (known.kept for _, known in near))

    def _is_of(self, kept: Kept, head: str) -> bool:
        return spelling(command_name(kept.entry)).startswith(f"{head} ")

    def _meant(self, plain: Sequence[str], conditions: Conditions) -> Iterator[Kept]:
        """Yield by the words after what exists of a line, among what begins with that; by all, where nothing does."""
        for end in range(len(plain), -1, -1):
            head, rest = " ".join(plain[:end]), plain[end:]
            if end and not (self._names.commands.spelt(head) or self._names.next_words(head)):
                continue
            ranked = self._ranked(head, rest, conditions)
            own = [kept for kept in self._names.commands.spelt(head) if " " in head and conditions.let(kept)]
            yield from chain(ranked, own) if self._names.next_words(head) else chain(own, ranked)
            if end == 1:
                return

    def _ranked(self, head: str, rest: Sequence[str], conditions: Conditions) -> list[Kept]:
        def admits(place: int) -> bool:
            kept = self._shelved.all[place]
            fits = not head or self._is_of(kept, head)
            return fits and conditions.let(kept) and self._shelved.current(kept) is kept

        least = _ENOUGH if head else _NO_GROUP
        ranked = self._scorer().rank(" ".join(rest), admits)[:COMPARED] if rest and self._scorer else ()
        found = [self._shelved.all[place] for place, score in ranked if score >= least]
        found.sort(key=lambda kept: -self._likeness(rest, words_of([kept.entry.called])[len(head.split()) :]))
        return found

    def _likeness(self, asked: Sequence[str], name: Sequence[str]) -> float:
        """The share of the words of both that one has of the other, or a synonym. The first word asked counts twice."""
        asked = [asked[0], *asked]
        stems = set(map(stem, name))
        meant = (
            {one, *(other[0] for other in self._synonyms.of((one,)) if len(other) == 1)} for one in map(stem, asked)
        )
        return 2 * sum(not stems.isdisjoint(one) for one in meant) / (len(asked) + len(name) or 1)

    def _misspelt(self, letters: str, conditions: Conditions, most: int = MISSPELT) -> Iterator[tuple[int, Known]]:
        """Yield names near by letters alone, with the edits."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        allowed = min(most, 1 + len(letters) // 6, (len(letters) - 1) // 2)
        if allowed < 1:
            return
        start, end = (bisect_left(self._lengths, len(letters) + more) for more in (-allowed, allowed + 1))
        choices = self._letters(conditions)[start:end]
        for _, edits, place in process.extract(
            letters, choices, scorer=OSA.distance, score_cutoff=allowed, limit=COMPARED
        ):
            yield int(edits), self._all[start + place]

    def _near_paths(self, line: str, conditions: Conditions) -> list[Kept]:
        method, _, rest = line.partition("/")
        path = "/" + rest
        known = known_method(method.strip())
        near = [(0.1 * edits, one.kept) for edits, one in self._misspelt(fold(method + shape(path)), conditions)]
        asked = _template(path)
        places: dict[int, None] = {}
        for having in sorted((self._having.get(stem(segment), []) for segment in set(asked) - {SLOT}), key=len):
            if len(places) < LOOKED_UP:
                places.update(dict.fromkeys(having))
        for kept, template in (self._paths[place] for place in places):
            more = len(asked) - len(template)
            cost = sum(_apart(one, other) for one, other in zip(asked, template, strict=False))
            cost += _TAIL * more if more > 0 else -_MORE * more
            cost += _METHOD * (known not in (None, kept.entry.method))
            if cost <= _FAR and conditions.let(kept):
                near.append((cost, kept))
        return [kept for _, kept in sorted(near, key=lambda one: one[0])]


def _ways_to_say(entry: Entry) -> Iterator[str]:
    """The proper name first."""
    for path in _paths(entry):
        yield fold(f"{entry.method or ''} {shape(path)}").strip()
        yield fold(shape(path))
    if name := command_name(entry):
        yield spelling(name)
    yield from map(spelling, (entry.title, *entry.aliases))


def _paths(entry: Entry) -> Iterator[str]:
    if entry.type == "api" and entry.path_template:
        yield entry.path_template
        yield from (path for alias in entry.aliases if (path := alias.rpartition(" ")[2]).startswith("/"))


def _template(path: str) -> list[str]:
    return [SLOT if SLOT in (one := segment_shape(segment)) else one.lower() for segment in segments(path)]


def _apart(segment: str, known: str) -> float:
    if segment == known:
        return 0.0
    if known == SLOT:
        return 0.0 if is_value(segment) else _WORD
    return _NEARLY if one_edit(segment, known) or stem(segment) == stem(known) else _OTHER
