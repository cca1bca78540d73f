"""Everything that entries are called, ready to be compared with what is not quite right."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

from commonplace.reference.entries import Entry
from commonplace.reference.naming import command_name
from commonplace.reference.paths import shape
from commonplace.reference.shelf import Kept, Shelved
from commonplace.reference.spelling import spelling
from commonplace.reference.synonyms import DEFAULT, Stemmer, Synonyms
from commonplace.search.text import fold, words


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
        """What the words of each tell."""

    def weight(self, word: str) -> float:
        """How much a word tells: what is rare tells more, and what nothing has tells most."""
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
