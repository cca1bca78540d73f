"""Which command a line names: by name, alias or another spelling, with values after it, or as a beginning."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from commonplace.reference.commandline import Syntax, is_option, is_value, names_no_subcommand, syntax_of, tokens, words
from commonplace.reference.edits import one_edit
from commonplace.reference.model import MAX_QUERY_CHARACTERS, MatchedBy
from commonplace.reference.naming import Names, command_name
from commonplace.reference.shelf import Kept, Match
from commonplace.reference.spelling import unwrapped

_HELP = ("--help", "-h")
"""What may follow the name of a mere group; a group has no other options."""


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
