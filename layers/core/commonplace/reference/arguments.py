"""The words and options that commands take, as their entries say it, and those that a line has."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from commonplace.reference.model import Entry
from commonplace.reference.names import END, command_name, command_tokens, is_option, is_value, words
from commonplace.reference.options import Options, nearest, options_of
from commonplace.reference.spelling import PROMPT
from commonplace.reference.usages import Part, Pattern, pattern_of, wrapped_at

GENERATED = "auto-generated:"
"""What a source begins with that is the product itself: what its usages say of arguments, is so."""

ANY = Part("COMMAND")
"""A value of a command without subcommands."""

_NUMBERED = re.compile(r"-\d+\Z")
"""`-5` of `git log -5`."""


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
