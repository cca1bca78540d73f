"""Commands by what is typed: by name, alias or another spelling, with arguments after it, or as a beginning.

What a line may hold beside the name, the entry says: its usages and its parameters. Where it has no parameters, only
what cannot be a subcommand is an argument.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from commonplace.reference.arguments import Taken, read, taken_by
from commonplace.reference.model import MAX_QUERY_CHARACTERS, UnknownOption
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
from commonplace.reference.shelf import Kept, Match
from commonplace.reference.spelling import one_edit, spelling, unwrapped
from commonplace.reference.usages import Part, ends, names_subcommand, values

_HELP = ("--help", "-h")
"""What may follow the name of a mere group; a group has no other options."""


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

    def _unknown(
        self, kept: Kept, head: str, rest: Sequence[str], *, swallow: bool
    ) -> tuple[UnknownOption, ...] | None:
        """The options of a line that the command does not have; None where the line is none of this command."""
        taken = self._take(kept)
        found, given = read(rest, taken, swallow=swallow)
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
                token = found[at]
                if names_no_subcommand(token):
                    return True
                if not is_value(token) and not (capitals and token != token.lower()):
                    return False
                return not any(one_edit(token.lower(), sibling) for sibling in siblings)
            return at > 0 or not any(word == sibling or one_edit(word, sibling) for sibling in siblings)

        size = len(found)
        if size and not any(size in ends(pattern, size, fits) for pattern in taken.patterns):
            return None
        return taken.options.unknown(given)

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
