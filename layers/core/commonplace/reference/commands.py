"""Commands: their syntax, the index of their names, and the parsing of a typed line into command and values.

A command is found by name, alias or another spelling, with values after it, or as a beginning.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from commonplace.reference.model import MAX_QUERY_CHARACTERS, Entry, MatchedBy
from commonplace.reference.shelf import Kept, Match, Shelved
from commonplace.reference.spelling import one_edit, spelling, spellings, typed, unwrapped

_TOKEN = re.compile(r"""(?:"[^"]*"|(?<![^\s=])'[^']*'|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\S)+""")
_OPTION = re.compile(r"\[?-{1,2}[A-Za-z]")
_VALUE = re.compile(r"[\d@./=<>{}\[\]$*\"'\\]")
_NO_SUBCOMMAND = frozenset("@/='\"<>{}[]")
_SKIPPED = frozenset({"-", "--", "...", "…", "|", "\\"})
_REPEATED = ("...", "…")
_OPTIONS_PLACEHOLDER = frozenset({"options", "flags", "option", "flag"})

SHORTEST_BEGINNING = 2
"""Characters of a word that is only begun."""

_LAST = "\U0010ffff"

_HELP = ("--help", "-h")
"""What may follow the name of a mere group; a group has no other options."""


def tokens(line: str) -> list[str]:
    """Split at white space, but not within quotes and brackets."""
    return [token for token in _TOKEN.findall(line) if token not in _SKIPPED]


def is_option(token: str) -> bool:
    """`--json`, `-v`, `--email=x`, and in a syntax also `[--json]`."""
    return _OPTION.match(token) is not None


def is_placeholder(token: str) -> bool:
    """`<email>`, `[email]`, `{email}`: what stands for a value."""
    return token[0] in "<[{"


def is_value(token: str) -> bool:
    """Whether no subcommand is written so: it is quoted, or has a digit, `@`, `.`, `/`, `=`, or a bracket.

    A capital is such a mark as well where the rest of the line has none, which only the line shows.
    """
    return _VALUE.search(token) is not None


def names_no_subcommand(token: str) -> bool:
    """Whether it is a value beyond doubt: nobody who mistypes a subcommand gets an `@`, a slash or quotes."""
    return not _NO_SUBCOMMAND.isdisjoint(token) or token.isdecimal()


def bare_name(line: str) -> str:
    """Without placeholders and options, for a name that was given with them: `users roles list`."""
    return " ".join(token for token in tokens(line) if not (is_option(token) or is_placeholder(token)))


def words(names: Iterable[str]) -> tuple[str, ...]:
    """Each folded, those joined by `-` or `_` taken apart: what a name is compared by."""
    return tuple(spelling(" ".join(names)).split())


@dataclass(frozen=True, slots=True)
class Syntax:
    """The arguments and options of a command."""

    positions: int
    """Values that are not those of options, at most."""
    repeats: bool
    """Whether one of them may be given any number of times."""
    within: bool
    """Whether a value stands between words of the name: `helios users <id> roles list`."""
    valued: frozenset[str]
    """Options that are followed by a value: `--email`."""

    def takes(self, values: int) -> bool:
        return values <= self.positions or (self.repeats and self.positions > 0)


def syntax_of(line: str, name: str) -> Syntax:
    """Reads `helios gw users get <email> [--format <format>] [-v]`: what is neither name nor option is a value."""
    left = list(words([name]))
    positions, within, valued, option = 0, False, set[str](), ""
    for token in tokens(line):
        if is_option(token):
            option, *value = re.split(r"[ =]", token.strip("[]"), maxsplit=1)
            valued.update([option] if value else [])
            option = "" if value or token[0] == "[" else option
        elif option:
            valued.add(option)
            option = ""
        elif left[: len(own := words([token]))] == list(own):
            del left[: len(own)]
        elif spelling(token.strip("[]<>")) not in _OPTIONS_PLACEHOLDER:
            positions += 1
            within = within or bool(left)
    return Syntax(positions, any(dots in line for dots in _REPEATED), within, frozenset(valued))


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


@dataclass(frozen=True, slots=True)
class Typed:
    """A word of a line, and the option right before it, whose value it may be."""

    text: str
    option: str = ""


class Commands:
    """Commands by what is typed."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def ways(self, text: str) -> Iterator[Match]:
        """What a line may name, the surest way first; nothing if it is longer than any name."""
        if len(text) <= MAX_QUERY_CHARACTERS:
            yield from (Match(tuple(found), matched_by) for matched_by, found in self._ways(unwrapped(text)))

    def named(self, line: str) -> bool:
        """Whether a line begins with a command's name, or is the beginning of some."""
        key = words(word.text for word in _typed(line))
        some = any(self._names.commands.spelt(" ".join(key[:end])) for end in range(len(key), 0, -1))
        return some or next(self._names.beginning_with(" ".join(key)), None) is not None

    def _ways(self, line: str) -> Iterable[tuple[MatchedBy, Iterable[Kept]]]:
        names, aliases = self._names.commands, self._names.aliases
        yield "name", names.exactly(line)
        yield "alias", aliases.exactly(line)
        yield "spelling", names.however_spelt(line)
        yield "alias", aliases.however_spelt(line)
        typed = _typed(line)
        if any(is_option(token) for token in tokens(line)):
            yield "arguments", names.however_spelt(" ".join(word.text for word in typed))
        yield "arguments", self._with_values(typed)
        yield "arguments", self._with_values_within(typed)
        if len(typed) == len([token for token in tokens(line) if token not in _HELP]):
            yield "prefix", self._names.beginning_with(" ".join(words(word.text for word in typed)))

    def _with_values(self, typed: Sequence[Typed]) -> Iterable[Kept]:
        """The longest name that the line begins with, if all that follows are values which the command takes."""
        for end in range(len(typed) - 1, 0, -1):
            head = " ".join(word.text for word in typed[:end])
            if found := self._names.commands.however_spelt(head):
                return [kept for kept in found if self._takes(kept, head, typed[end:])]
        return ()

    def _takes(self, kept: Kept, head: str, rest: Sequence[Typed]) -> bool:
        syntax = _syntax(kept)
        capitals = head in (head.lower(), command_name(kept.entry))
        siblings = self._names.next_words(" ".join(words([head])))
        values = 0
        for word in rest:
            if _cannot_be_subcommand(word.text, siblings, capitals=capitals):
                values += 0 if word.option else 1
            elif word.option not in syntax.valued:
                return False
        return values == 0 or syntax.takes(values)

    def _with_values_within(self, typed: Sequence[Typed]) -> Iterable[Kept]:
        """The name that is left without the values, of a command that has some between the words of its name."""
        known = self._names.words
        name = [word.text for word in typed if not is_value(word.text) or set(words([word.text])) <= known]
        values = len(typed) - len(name)
        found = self._names.commands.however_spelt(" ".join(name)) if values else ()
        return [kept for kept in found if _syntax(kept).within and _syntax(kept).takes(values)]


def _typed(line: str) -> tuple[Typed, ...]:
    found, option = [], ""
    for token in tokens(line):
        if is_option(token):
            option = "" if "=" in token else token
        else:
            found.append(Typed(token, option))
            option = ""
    return tuple(found)


def _cannot_be_subcommand(token: str, siblings: Iterable[str], *, capitals: bool) -> bool:
    if names_no_subcommand(token):
        return True
    if not is_value(token) and not (capitals and token != token.lower()):
        return False
    return not any(one_edit(token.lower(), sibling) for sibling in siblings)


def _syntax(kept: Kept) -> Syntax:
    return _read(kept.entry.syntax or kept.entry.name or "", command_name(kept.entry))


@lru_cache(maxsize=1000)
def _read(syntax: str, name: str) -> Syntax:
    return syntax_of(syntax, name)
