"""Commands by what is typed: by name, alias or another spelling, with arguments after it, or as a beginning.

What a line may hold beside the name, the entry says: its usages and its parameters. Where it has no parameters, only
what cannot be a subcommand is an argument.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from commonplace.reference.model import MAX_QUERY_CHARACTERS, Entry, UnknownOption
from commonplace.reference.names import (
    END,
    Names,
    command_name,
    command_tokens,
    is_option,
    is_value,
    names_no_subcommand,
    tokens,
    words,
)
from commonplace.reference.options import Options, nearest, options_of
from commonplace.reference.shelf import Kept, Match
from commonplace.reference.spelling import PROMPT, one_edit, spelling, unwrapped
from commonplace.reference.usages import Part, Pattern, ends, names_subcommand, pattern_of, values, wrapped_at

_HELP = ("--help", "-h")
"""What may follow the name of a mere group; a group has no other options."""


GENERATED = "auto-generated:"
"""What a source begins with that is the product itself: what its usages say of arguments, is so."""

ANY = Part("COMMAND")
"""A value of a command without subcommands."""

_NUMBERED = re.compile(r"-\d+\Z")
"""`-5` of `git log -5`."""


Unknown = tuple[UnknownOption, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """The words and options that a command takes, as its entry says."""

    patterns: tuple[Pattern, ...]
    options: Options
    told: bool
    """True if the entry lists what it takes: else a plain word may be a subcommand that does not exist."""
    within: bool
    """True if a value stands between words of the name: `helios users <id> roles list`."""
    wrapped: int | None
    """After how many words another command begins, whose options are its own."""


def taken_by(entry: Entry, groups: Sequence[Entry] = ()) -> Taken:
    """Return what a command takes. `groups` are the commands above it, whose options it has as well."""
    options, name = options_of(entry, groups), command_name(entry)
    usages = [entry.syntax or entry.name or "", *entry.usages]
    literally = len(usages) > 1 or "<" in usages[0]
    patterns, within = list[Pattern](), False
    for usage in usages:
        # What follows the name, or stands within it; nothing of a usage of another command.
        left, rest, inside = list(words([name])), list[Part](), False
        for part in pattern_of(usage, lambda option: options.takes.get(option) is False, literally=literally):
            own = list(words([part.text]))
            if own and left[: len(own)] == own:
                del left[: len(own)]
            else:
                rest.append(part if literally else replace(part, literal=False))
                inside = inside or bool(left)
        if not patterns or not left:
            patterns.append(tuple(rest))
            within = within or (inside and not left)
    literal = any(part.literal for pattern in patterns for part in pattern)
    arguments = [one.name for one in entry.parameters or () if one.place == "argument"]
    if arguments and not literal:
        patterns.append(pattern_of(" ".join(arguments), lambda _: False, literally=False))
    wrapped = [at for pattern in patterns if (at := wrapped_at(pattern)) is not None]
    # What no usage says may be words of a subcommand as well, if there are any.
    generated = (entry.source or "").startswith(GENERATED)
    if generated and entry.parameters is None and usages == [entry.name]:
        patterns.append((replace(ANY, repeated=True),))
    sizes = {0} if literal else set[int]()
    if not literal:
        # How many words examples have after the name: no usage says that `kubectl delete pod a b` is one.
        nothing = Taken((), options, told=True, within=False, wrapped=None)
        for line in (line for example in entry.examples for line in example.code.splitlines()):
            begun, _, after = line.removeprefix(PROMPT).partition(f"{name} ")
            found, _ = read(command_tokens(after), nothing, swallow=False) if not begun else ([], [])
            sizes |= {len(found)} if found else set()
    patterns += [(ANY,) * size for size in sizes]
    return Taken(
        tuple(patterns),
        options,
        told=generated or entry.parameters is not None,
        within=within,
        wrapped=min(wrapped, default=None),
    )


def read(rest: Sequence[str], taken: Taken, *, swallow: bool) -> tuple[list[str], list[str]]:
    """The words of a line, without values of options; and its options. Both as far as they are the command's own."""
    found, given, option = list[str](), list[str](), ""
    for token in takewhile(lambda token: token != END, rest):
        if is_option(token):
            option, joined, _ = token.strip("[]").partition("=")
            given.append(option)
            option = "" if joined else option
            continue
        valued: bool | None = False
        if option:
            # The value of the option before it: of one that does not exist, as of the nearest.
            follows = taken.options.followed(option)
            if follows is None and not taken.options.has(option) and (near := nearest(option, taken.options.takes)):
                follows = taken.options.followed(near[0])
            valued = follows or (follows is None and swallow and (taken.told or is_value(token)))
        if not valued and not _NUMBERED.match(token):
            found.append(token)
            if taken.wrapped is not None and len(found) > taken.wrapped:
                break
        option = ""
    return found, given


class Commands:
    """Commands by what is typed."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._taken: dict[Kept, Taken] = {}

    def ways(self, text: str) -> Iterator[Match]:
        """Return what a line may name, the surest way first; nothing if it is longer than any name."""
        if len(text) <= MAX_QUERY_CHARACTERS:
            line = unwrapped(text)
            names, aliases = self._names.commands, self._names.aliases
            yield Match(names.exactly(line), "name")
            yield Match(_most_alike(aliases.exactly(line), line), "alias")
            yield Match(names.however_spelt(line), "spelling")
            yield Match(_most_alike(aliases.however_spelt(line), line), "alias")
            found = command_tokens(line)
            yield self._with_arguments(found, swallow=False)
            yield self._with_arguments(found, swallow=True)
            # The name that is left without the values, of a command that has some between the words of its name.
            typed = [token for token in found if not is_option(token)]
            name = [word for word in typed if not is_value(word) or self._names.words.issuperset(words([word]))]
            named = self._names.commands.however_spelt(" ".join(name)) if len(name) < len(typed) else ()
            left, matching = len(typed) - len(name), list[Kept]()
            for kept in named:
                taken = self._take(kept)
                if taken.within and left <= max(len([*values(one)]) for one in taken.patterns):
                    matching.append(kept)
            yield Match(matching, "arguments")
            plain = [token for token in found if token not in _HELP]
            if not any(map(is_option, plain)):
                yield Match(tuple(self._names.beginning_with(" ".join(words(plain)))), "prefix")

    def named(self, line: str) -> bool:
        """Return whether a line begins with a command's name, or is the beginning of some."""
        key = words(token for token in tokens(line) if not is_option(token))
        some = any(self._names.commands.spelt(" ".join(key[:end])) for end in range(len(key), 0, -1))
        return some or next(self._names.beginning_with(" ".join(key)), None) is not None

    def without_root(self, text: str) -> Match:
        """Commands that a line names which lacks the first word of all of them: `gw users list`."""
        first, *more = words([unwrapped(text)]) or [""]
        roots = sorted(self._names.roots) if more and first not in self._names.roots else ()
        lines = (" ".join((root, first, *more)) for root in roots)
        return Match([kept for line in lines for kept in self._names.commands.spelt(line)], "spelling")

    def _with_arguments(self, line: Sequence[str], *, swallow: bool) -> Match:
        """The longest name of each catalogue that the line begins with, where all else is what the command takes.

        Options may stand before the name is complete. `swallow`: those that nobody knows have a value.
        """
        places = self._places(line, swallow=swallow)
        told, unlisted, decided = dict[Kept, Unknown](), dict[Kept, Unknown](), set[str]()
        for end in range(len(places), 0, -1):
            head = " ".join(line[place] for place in places[:end])
            rest = [token for place, token in enumerate(line) if place not in places[:end]]
            named = self._names.commands.however_spelt(head)
            named = named or _most_alike(self._names.lines.however_spelt(head), head)
            found = [kept for kept in named if kept.catalogue.name not in decided]
            decided.update(kept.catalogue.name for kept in found)
            for kept in found:
                if (said := self._unknown(kept, head, rest, swallow=swallow)) is not None:
                    told[kept], unlisted[kept] = said
        return Match(tuple(told), "arguments", told, unlisted)

    def _places(self, line: Sequence[str], *, swallow: bool) -> list[int]:
        """Return where words stand that may be those of a name: not as values of the options of a group."""
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

    def _unknown(self, kept: Kept, head: str, rest: Sequence[str], *, swallow: bool) -> tuple[Unknown, Unknown] | None:
        """The options of a line that the command does not have, and what it does not list; None where it is none of it.

        A word may stand there unlisted where no command is below this one, or not all of them are known.
        """
        taken = self._take(kept)
        found, given = read(rest, taken, swallow=swallow)
        capitals = head in (head.lower(), command_name(kept.entry))
        key = " ".join(words([head]))
        siblings = self._names.subcommands(key, kept.catalogue) if taken.told else self._names.next_words(key)

        tried: dict[int, set[str]] = {}

        def fits(part: Part, at: int) -> bool:
            word = found[at].lower()
            if part.literal:
                tried.setdefault(at, set()).add(part.text)
                return spelling(part.text) == spelling(word) or is_value(word)
            if names_subcommand(part, group=at == 0 and bool(siblings)):
                return False
            if not taken.told:
                token = found[at]
                if names_no_subcommand(token):
                    return True
                if not is_value(token) and not (capitals and token != token.lower()):
                    return False
                return not any(one_edit(token.lower(), sibling) for sibling in siblings)
            return at > 0 or not any(word == sibling or one_edit(word, sibling) for sibling in siblings)

        size = len(found)
        reached = max((max(ends(pattern, size, fits), default=0) for pattern in taken.patterns), default=0)
        left = found[reached:]
        open_ = ("commands" if siblings or len(tried.get(reached, ())) > 1 else "arguments") in kept.entry.partial
        if left and (not open_ or any(one_edit(left[0].lower(), sibling) for sibling in siblings)):
            return None
        unknown, unlisted = taken.options.unknown(given)
        return unknown, (*map(UnknownOption, left), *unlisted)

    def _take(self, kept: Kept) -> Taken:
        if kept not in self._taken:
            key = words([command_name(kept.entry)])
            heads = [" ".join(key[:end]) for end in range(len(key) - 1, 0, -1)]
            found = (
                one for head in heads for name in (head, f"{head} options") for one in self._names.commands.spelt(name)
            )
            self._taken[kept] = taken_by(kept.entry, [one.entry for one in found if one.catalogue is kept.catalogue])
        return self._taken[kept]


def _most_alike(found: Sequence[Kept], line: str) -> Sequence[Kept]:
    """Those whose names begin most as the line does: an alias may be told of two that do the same."""
    asked = words([line])
    names = [words([command_name(kept.entry)]) for kept in found]
    common = [next((at for at in range(len(name), 0, -1) if name[:at] == asked[:at]), 0) for name in names]
    return [kept for kept, size in zip(found, common, strict=True) if size == max(common)]
