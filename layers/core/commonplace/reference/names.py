"""The tokens of a line, and the index of names: of commands, of their aliases, of titles."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from commonplace.reference.model import Catalogue, Entry
from commonplace.reference.shelf import Kept, Match, Shelved
from commonplace.reference.spelling import one_edit, parts, spelling, spellings, typed, unwrapped

_TOKEN = re.compile(r"""(?:"[^"]*"|(?<![^\s=$])'[^']*'|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\S)+""")
_OPTION = re.compile(r"\[?-{1,2}[A-Za-z]")
_VALUE = re.compile(r"[\d@./=<>{}\[\]$*\"'\\]")
_NO_SUBCOMMAND = frozenset("@/='\"<>{}[]")
_SKIPPED = frozenset({"-", "--", "...", "…", "|", "\\"})
_OPERATORS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "2>", "2>&1"})
_REDIRECTS = frozenset({">", ">>", "<", "2>"})
_WITHIN = re.compile(r"\$\([^()]*\)")
"""Another command, whose output is a value."""
_ASSIGNED = re.compile(r"[A-Z_][A-Z0-9_]*=")

END = "--"
"""What follows is no option of the command."""

SHORTEST_BEGINNING = 2
"""Characters of a word that is only begun."""

_LAST = "\U0010ffff"


def tokens(line: str) -> list[str]:
    """Split at white space, but not within quotes and brackets."""
    return [token for token in _TOKEN.findall(line) if token not in _SKIPPED]


def command_tokens(line: str) -> list[str]:
    """Return those of one command: what a shell would run after it, and with which rights, is not of it."""
    found: list[str] = []
    parts = iter(_TOKEN.findall(_WITHIN.sub("$", line)))
    for token in takewhile(lambda token: token not in _OPERATORS - _REDIRECTS, parts):
        if token in _REDIRECTS:
            token = next(parts, "")  # noqa: PLW2901 - the file
        else:
            found.append(token.removesuffix(";") or token)
        if token.endswith(";"):
            break
    while len(found) > 1 and (found[0] == "sudo" or _ASSIGNED.match(found[0])):
        del found[0]
    return [token for token in found if token == END or token not in _SKIPPED]


def is_option(token: str) -> bool:
    """`--json`, `-v`, `--email=x`, and in a syntax also `[--json]`."""
    return _OPTION.match(token) is not None


def is_placeholder(token: str) -> bool:
    """`<email>`, `[email]`, `{email}`: what stands for a value."""
    return token[0] in "<[{"


def is_value(token: str) -> bool:
    """Return whether no subcommand is written so: it is quoted, or has a digit, `@`, `.`, `/`, `=`, or a bracket.

    A capital is such a mark as well where the rest of the line has none, which only the line shows.
    """
    return _VALUE.search(token) is not None


def names_no_subcommand(token: str) -> bool:
    """Return whether it is a value beyond doubt: nobody who mistypes a subcommand gets an `@`, a slash or quotes."""
    return not _NO_SUBCOMMAND.isdisjoint(token) or token.isdecimal()


def words(names: Iterable[str]) -> tuple[str, ...]:
    """Each folded, those joined by `-` or `_` taken apart: what a name is compared by."""
    return tuple(spelling(" ".join(names)).split())


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
        """Return the entries of the spelling itself."""
        return self._spelt.get(key, ())

    def keys(self) -> Iterable[str]:
        return self._spelt.keys()


class Names:
    """The names of every entry."""

    def __init__(self, shelved: Shelved) -> None:
        self.commands, self.aliases = Spelt(), Spelt()
        self.lines = Spelt()
        """Aliases of commands that are typed as names are: `npm i`."""
        self.titles = Spelt()
        """Of what is called by its title."""
        self.captions = Spelt()
        """Titles of what has a name besides: commands and endpoints."""
        for kept in shelved:
            name = command_name(kept.entry)
            if name:
                self.commands.add(name, kept)
            titles = self.titles if kept.entry.called == kept.entry.title else self.captions
            titles.add(typed(kept.entry.title), kept)
            for alias in map(typed, kept.entry.aliases):
                # One word is no name of a command that has several: `delete` is a way to say many.
                if len(parts(alias)) > 1 or " " not in name:
                    self.aliases.add(alias, kept)
        self._sorted = sorted(self.commands.keys())
        self.words = frozenset(word for key in self._sorted for word in key.split())
        """Every word of a command's name."""
        self.roots = frozenset(key.split(" ", 1)[0] for key in self._sorted)
        """Those that a name begins with."""
        for kept in shelved:
            for alias in map(typed, kept.entry.aliases if kept.entry.type == "command" else ()):
                if len(found := words([alias])) > 1 and found[0] in self.roots:
                    self.lines.add(alias, kept)

    def called(self, text: str) -> Iterator[Match]:
        """Return what is called exactly so."""
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
        """Return whether one mistake makes this of a command's name that begins with the root."""
        return any(one_edit(key, name) for name in self._range(root + " ") if abs(len(name) - len(key)) <= 1)

    def next_words(self, key: str) -> set[str]:
        """Words that stand after these in the names of commands."""
        after = len(key) + 1
        return {name[after:].split(" ", 1)[0] for name in self._range(key + " ")}

    def subcommands(self, key: str, catalogue: Catalogue) -> set[str]:
        """Return those of one catalogue, without what only a hyphen joins: `install-test` is no subcommand of
        `install`.
        """
        found = (kept for name in self._range(key + " ") for kept in self.commands.spelt(name))
        names = (command_name(kept.entry).split(" ") for kept in found if kept.catalogue is catalogue)
        size = key.count(" ") + 1
        return {name[end] for name in names for end in range(len(name)) if len(words(name[:end])) == size}

    def _range(self, prefix: str) -> Iterable[str]:
        return self._sorted[bisect_left(self._sorted, prefix) : bisect_left(self._sorted, prefix + _LAST)]


def command_name(entry: Entry) -> str:
    """Return what is typed for a command, without values; empty for other entries."""
    name = typed(entry.name or entry.syntax or "") if entry.type == "command" else ""
    return " ".join(token for token in tokens(name) if not (is_option(token) or is_placeholder(token)))
