"""What entries are called: commands by name, everything by alias and title, and what names begin with."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from commonplace.reference.commandline import bare_name
from commonplace.reference.edits import one_edit
from commonplace.reference.entries import Entry
from commonplace.reference.shelf import Kept, Match, Shelved
from commonplace.reference.spelling import spellings, typed, unwrapped

SHORTEST_BEGINNING = 2
"""Characters of a word that is only begun."""

_LAST = "\U0010ffff"


class Spelt:
    """Entries by a text that refers to them: as it is, and however it is spelt."""

    def __init__(self) -> None:
        self._exact: dict[str, list[Kept]] = defaultdict(list)
        self._spelt: dict[str, list[Kept]] = defaultdict(list)
        self._humped: dict[str, list[Kept]] = defaultdict(list)

    def add(self, text: str, kept: Kept) -> None:
        plain, *humped = spellings(text)
        self._exact[text].append(kept)
        self._spelt[plain].append(kept)
        for key in humped:
            self._humped[key].append(kept)

    def exactly(self, text: str) -> Sequence[Kept]:
        return self._exact.get(text, ())

    def however_spelt(self, text: str) -> Sequence[Kept]:
        """Those spelt most alike: the same, the same words, or the same words once camelCase is taken apart."""
        if found := self._exact.get(text):
            return found
        keys = spellings(text)
        return next((found for each in (self._spelt, self._humped) for key in keys if (found := each.get(key))), ())

    def spelt(self, key: str) -> Sequence[Kept]:
        """By the spelling itself."""
        return self._spelt.get(key, ())

    def keys(self) -> Iterable[str]:
        return self._spelt.keys()


class Names:
    """Of everything that is kept."""

    def __init__(self, shelved: Shelved) -> None:
        self.commands, self.aliases = Spelt(), Spelt()
        self.titles = Spelt()
        """Of what is called by its title."""
        self.captions = Spelt()
        """Titles of what has a name besides: commands and endpoints."""
        for kept in shelved:
            if name := command_name(kept.entry):
                self.commands.add(name, kept)
            titles = self.titles if kept.entry.called == kept.entry.title else self.captions
            titles.add(typed(kept.entry.title), kept)
            for alias in kept.entry.aliases:
                self.aliases.add(typed(alias), kept)
        self._sorted = sorted(self.commands.keys())
        self.words = frozenset(word for key in self._sorted for word in key.split())
        """Every word of a command's name."""
        self.roots = frozenset(key.split(" ", 1)[0] for key in self._sorted)
        """Those that a name begins with."""

    def called(self, text: str) -> Iterator[Match]:
        """What is called exactly so."""
        line = unwrapped(text)
        yield Match(self.commands.however_spelt(line), "name")
        yield Match(self.aliases.however_spelt(line), "alias")
        yield Match(self.titles.however_spelt(line), "name")

    def captioned(self, text: str) -> Match:
        """Commands and endpoints with exactly this title."""
        return Match(self.captions.however_spelt(unwrapped(text)), "alias")

    def beginning_with(self, key: str) -> Iterator[Kept]:
        """Commands whose names go on after these words, then those whose next letters finish the last word."""
        if not key:
            return
        found = list(self._range(key))
        whole = [name for name in found if name.startswith(key + " ")]
        begun = [name for name in found if name[len(key) : len(key) + 1] not in ("", " ")]
        if len(key.rsplit(" ", 1)[-1]) < SHORTEST_BEGINNING:
            begun = []
        for name in (*whole, *begun):
            yield from self.commands.spelt(name)

    def has_nearly(self, key: str, root: str) -> bool:
        """Whether one mistake makes this of a command's name that begins with the root."""
        return any(one_edit(key, name) for name in self._range(root + " ") if abs(len(name) - len(key)) <= 1)

    def next_words(self, key: str) -> set[str]:
        """Words that stand after these in the names of commands."""
        after = len(key) + 1
        return {name[after:].split(" ", 1)[0] for name in self._range(key + " ")}

    def _range(self, prefix: str) -> Iterable[str]:
        return self._sorted[bisect_left(self._sorted, prefix) : bisect_left(self._sorted, prefix + _LAST)]


def command_name(entry: Entry) -> str:
    """What is typed for a command, without values; empty for other entries."""
    if entry.type != "command":
        return ""
    return bare_name(typed(entry.name or entry.syntax or ""))
