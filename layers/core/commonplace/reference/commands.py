"""Commands: the index of their names, and a typed line as a name, words and options.

A command is found by name, alias or another spelling, with arguments after it, or as a beginning. What a line may hold
beside the name, the entry says: its usages and its parameters. Where it has no parameters, only what cannot be a
subcommand is an argument.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from commonplace.reference.model import MAX_QUERY_CHARACTERS, Catalogue, Entry, UnknownOption
from commonplace.reference.options import Options, nearest, options_of
from commonplace.reference.shelf import Kept, Match, Shelved
from commonplace.reference.spelling import PROMPT, one_edit, parts, spelling, spellings, typed, unwrapped
from commonplace.reference.usages import Part, Pattern, ends, names_subcommand, pattern_of, values, wrapped_at

_TOKEN = re.compile(r"""(?:"[^"]*"|(?<![^\s=$])'[^']*'|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\S)+""")
_OPTION = re.compile(r"\[?-{1,2}[A-Za-z]")
_VALUE = re.compile(r"[\d@./=<>{}\[\]$*\"'\\]")
_NO_SUBCOMMAND = frozenset("@/='\"<>{}[]")
_SKIPPED = frozenset({"-", "--", "...", "…", "|", "\\"})
_OPERATORS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "2>", "2>&1"})
_ASSIGNED = re.compile(r"[A-Z_][A-Z0-9_]*=")
_NUMBERED = re.compile(r"-\d+\Z")
"""`-5` of `git log -5`."""

GENERATED = "auto-generated:"
"""What a source begins with that is the product itself: what its usages say of arguments, is so."""

END = "--"
"""What follows is no option of the command."""

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

    def subcommands(self, key: str, catalogue: Catalogue) -> set[str]:
        """Of one catalogue, and without what only a hyphen joins: `install-test` is no subcommand of `install`."""
        found = (kept for name in self._range(key + " ") for kept in self.commands.spelt(name))
        names = (command_name(kept.entry).split(" ") for kept in found if kept.catalogue is catalogue)
        size = key.count(" ") + 1
        return {name[end] for name in names for end in range(len(name)) if len(words(name[:end])) == size}

    def _range(self, prefix: str) -> Iterable[str]:
        return self._sorted[bisect_left(self._sorted, prefix) : bisect_left(self._sorted, prefix + _LAST)]


def command_name(entry: Entry) -> str:
    """What is typed for a command, without values; empty for other entries."""
    if entry.type != "command":
        return ""
    return bare_name(typed(entry.name or entry.syntax or ""))


@dataclass(frozen=True, slots=True)
class Taken:
    """What a command takes, as its entry says."""

    patterns: tuple[Pattern, ...]
    options: Options
    told: bool
    """Whether the entry lists what it takes: else a plain word may be a subcommand that does not exist."""
    within: bool
    """Whether a value stands between words of the name: `helios users <id> roles list`."""
    wrapped: int | None
    """After how many words another command begins, whose options are its own."""


ANY = Part("COMMAND")


class Commands:
    """Commands by what is typed."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._taken: dict[Kept, Taken] = {}

    def ways(self, text: str) -> Iterator[Match]:
        """What a line may name, the surest way first; nothing if it is longer than any name."""
        if len(text) <= MAX_QUERY_CHARACTERS:
            yield from self._ways(unwrapped(text))

    def named(self, line: str) -> bool:
        """Whether a line begins with a command's name, or is the beginning of some."""
        key = words(token for token in tokens(line) if not is_option(token))
        some = any(self._names.commands.spelt(" ".join(key[:end])) for end in range(len(key), 0, -1))
        return some or next(self._names.beginning_with(" ".join(key)), None) is not None

    def without_root(self, text: str) -> Match:
        """Commands that a line names which lacks the first word of all of them: `gw users list`."""
        first, *more = words([unwrapped(text)]) or [""]
        roots = sorted(self._names.roots) if more and first not in self._names.roots else ()
        lines = (" ".join((root, first, *more)) for root in roots)
        return Match([kept for line in lines for kept in self._names.commands.spelt(line)], "spelling")

    def _ways(self, line: str) -> Iterator[Match]:
        names, aliases = self._names.commands, self._names.aliases
        yield Match(names.exactly(line), "name")
        yield Match(_most_alike(aliases.exactly(line), line), "alias")
        yield Match(names.however_spelt(line), "spelling")
        yield Match(_most_alike(aliases.however_spelt(line), line), "alias")
        found = _tokens(line)
        yield self._with_arguments(found, swallow=False)
        yield self._with_arguments(found, swallow=True)
        yield Match(tuple(self._with_values_within(found)), "arguments")
        plain = [token for token in found if token not in _HELP]
        if not any(map(is_option, plain)):
            yield Match(tuple(self._names.beginning_with(" ".join(words(plain)))), "prefix")

    def _with_arguments(self, line: Sequence[str], *, swallow: bool) -> Match:
        """The longest name of each catalogue that the line begins with, where all else is what the command takes.

        Options may stand before the name is complete. `swallow`: those that nobody knows have a value.
        """
        places = self._places(line, swallow=swallow)
        told, decided = dict[Kept, tuple[UnknownOption, ...]](), set[str]()
        for end in range(len(places), 0, -1):
            head = " ".join(line[place] for place in places[:end])
            rest = [token for place, token in enumerate(line) if place not in places[:end]]
            named = self._names.commands.however_spelt(head)
            named = named or _most_alike(self._names.lines.however_spelt(head), head)
            found = [kept for kept in named if kept.catalogue.name not in decided]
            decided.update(kept.catalogue.name for kept in found)
            unknown = ((kept, self._unknown(kept, head, rest, swallow=swallow)) for kept in found)
            told.update((kept, options) for kept, options in unknown if options is not None)
        return Match(tuple(told), "arguments", told)

    def _places(self, line: Sequence[str], *, swallow: bool) -> list[int]:
        """Where words stand that may be those of a name: not as values of the options of a group."""
        found, option = list[int](), ""
        for place, token in enumerate(takewhile(lambda token: token != END, line)):
            if is_option(token):
                option = "" if "=" in token else token
                continue
            if option:
                group = self._names.commands.however_spelt(" ".join(line[each] for each in found))
                follows = self._take(group[0]).options.followed(option) if group else None
                option = ""
                if follows or (follows is None and swallow):
                    continue
            found.append(place)
        return found

    def _unknown(
        self, kept: Kept, head: str, rest: Sequence[str], *, swallow: bool
    ) -> tuple[UnknownOption, ...] | None:
        """The options of a line that the command does not have; None where the line is none of this command."""
        taken = self._take(kept)
        found, given = _read(rest, taken, swallow=swallow)
        capitals = head in (head.lower(), command_name(kept.entry))
        key = " ".join(words([head]))
        siblings = self._names.subcommands(key, kept.catalogue) if taken.told else self._names.next_words(key)

        def fits(part: Part, at: int) -> bool:
            word = found[at].lower()
            if part.literal:
                return spelling(part.text) == spelling(word) or is_value(word)
            if names_subcommand(part, group=at == 0 and bool(siblings)):
                return False
            if not taken.told:
                return _cannot_be_subcommand(found[at], siblings, capitals=capitals)
            return at > 0 or not any(word == sibling or one_edit(word, sibling) for sibling in siblings)

        size = len(found)
        if size and not any(size in ends(pattern, size, fits) for pattern in taken.patterns):
            return None
        return taken.options.unknown(given)

    def _with_values_within(self, line: Sequence[str]) -> Iterator[Kept]:
        """The name that is left without the values, of a command that has some between the words of its name."""
        typed = [token for token in line if not is_option(token)]
        name = [word for word in typed if not is_value(word) or self._names.words.issuperset(words([word]))]
        found = self._names.commands.however_spelt(" ".join(name)) if len(name) < len(typed) else ()
        for kept in found:
            taken = self._take(kept)
            if taken.within and len(typed) - len(name) <= max(len([*values(one)]) for one in taken.patterns):
                yield kept

    def _take(self, kept: Kept) -> Taken:
        if kept not in self._taken:
            self._taken[kept] = taken_by(kept.entry, self._groups(kept))
        return self._taken[kept]

    def _groups(self, kept: Kept) -> list[Entry]:
        """The commands that its name begins with, and those that list the options of a group: `kubectl options`."""
        key = words([command_name(kept.entry)])
        heads = [" ".join(key[:end]) for end in range(len(key) - 1, 0, -1)]
        found = (
            one for head in heads for name in (head, f"{head} options") for one in self._names.commands.spelt(name)
        )
        return [one.entry for one in found if one.catalogue is kept.catalogue]


def taken_by(entry: Entry, groups: Sequence[Entry] = ()) -> Taken:
    """`groups` are the commands above it, whose options it has as well."""
    options = options_of(entry, groups)
    usages = [entry.syntax or entry.name or "", *entry.usages]
    literally = len(usages) > 1 or "<" in usages[0]
    found: list[tuple[Pattern, bool]] = []
    for usage in usages:
        pattern = pattern_of(usage, lambda option: options.takes.get(option) is False, literally=literally)
        found += _after_name(pattern, command_name(entry), first=not found, literally=literally)
    patterns = [pattern for pattern, _ in found]
    literal = any(part.literal for pattern in patterns for part in pattern)
    arguments = [one.name for one in entry.parameters or () if one.place == "argument"]
    if arguments and not literal:
        patterns.append(pattern_of(" ".join(arguments), lambda _: False, literally=False))
    wrapped = [at for pattern in patterns if (at := wrapped_at(pattern)) is not None]
    # What no usage says may be words of a subcommand as well, if there are any.
    generated = (entry.source or "").startswith(GENERATED)
    if generated and entry.parameters is None and usages == [entry.name]:
        patterns.append((replace(ANY, repeated=True),))
    patterns += [(ANY,) * size for size in ({0} if literal else _shown(entry, options))]
    return Taken(
        tuple(patterns),
        options,
        told=generated or entry.parameters is not None,
        within=any(within for _, within in found),
        wrapped=min(wrapped, default=None),
    )


def _most_alike(found: Sequence[Kept], line: str) -> Sequence[Kept]:
    """Those whose names begin most as the line does: an alias may be told of two that do the same."""
    asked = words([line])
    names = [words([command_name(kept.entry)]) for kept in found]
    common = [next((at for at in range(len(name), 0, -1) if name[:at] == asked[:at]), 0) for name in names]
    return [kept for kept, size in zip(found, common, strict=True) if size == max(common)]


def _shown(entry: Entry, options: Options) -> set[int]:
    """How many words examples have after the name: no usage says that `kubectl delete pod a b` is one."""
    taken = Taken((), options, told=True, within=False, wrapped=None)
    lines = (line.removeprefix(PROMPT) for example in entry.examples for line in example.code.splitlines())
    begun = f"{command_name(entry)} "
    found = (_read(_tokens(line.removeprefix(begun)), taken, swallow=False) for line in lines if line.startswith(begun))
    return {len(said) for said, _ in found if said}


def _after_name(pattern: Pattern, name: str, *, first: bool, literally: bool) -> Iterator[tuple[Pattern, bool]]:
    """What follows the name, and whether some of it stands within; nothing of a usage of another command."""
    left, kept, within = list(words([name])), list[Part](), False
    for part in pattern:
        own = list(words([part.text]))
        if own and left[: len(own)] == own:
            del left[: len(own)]
        else:
            kept.append(part if literally else replace(part, literal=False))
            within = within or bool(left)
    if first or not left:
        yield tuple(kept), within and not left


def _tokens(line: str) -> list[str]:
    """Of one command: what a shell would run after it, and with which rights, is not of it."""
    found = list(takewhile(lambda token: token not in _OPERATORS, _TOKEN.findall(line)))
    while len(found) > 1 and (found[0] == "sudo" or _ASSIGNED.match(found[0])):
        del found[0]
    return [token for token in found if token == END or token not in _SKIPPED]


def _read(rest: Sequence[str], taken: Taken, *, swallow: bool) -> tuple[list[str], list[str]]:
    """The words of a line, without values of options; and its options. Both as far as they are the command's own."""
    found, given, option = list[str](), list[str](), ""
    for token in takewhile(lambda token: token != END, rest):
        if is_option(token):
            option, joined, _ = token.strip("[]").partition("=")
            given.append(option)
            option = "" if joined else option
            continue
        if not (option and _is_value_of(option, token, taken, swallow=swallow)) and not _NUMBERED.match(token):
            found.append(token)
            if taken.wrapped is not None and len(found) > taken.wrapped:
                break
        option = ""
    return found, given


def _is_value_of(option: str, token: str, taken: Taken, *, swallow: bool) -> bool:
    """Whether a word is the value of the option before it: of one that does not exist, as it is of the nearest."""
    follows = taken.options.followed(option)
    if follows is None and not taken.options.has(option):
        near = nearest(option, taken.options.takes)
        follows = taken.options.followed(near[0]) if near else None
    return follows or (follows is None and swallow and (taken.told or is_value(token)))


def _cannot_be_subcommand(token: str, siblings: Iterable[str], *, capitals: bool) -> bool:
    if names_no_subcommand(token):
        return True
    if not is_value(token) and not (capitals and token != token.lower()):
        return False
    return not any(one_edit(token.lower(), sibling) for sibling in siblings)
