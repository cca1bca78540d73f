"""Which of the ways to type that people are told belong to which command."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from commonplace.reference.model import Parameter
from generators.console_branches import Branch
from generators.console_help import Told
from generators.console_usage import Way, parameters, ways
from generators.generated import Unread
from generators.usages import name_of

MAX_WORDS = 12
_PROSE = re.compile("[A-Z][a-z]")
Name = tuple[str, ...]
Leaf = tuple[Branch, list[Name], bool]
"""A branch with its names, and whether it is a command of its own."""


@dataclass(frozen=True, slots=True)
class Written:
    """A way to type a command that people are told."""

    told: Told
    rest: Sequence[str]
    """What stands behind the name."""
    parameters: Sequence[Parameter]
    sigil: str = ""
    """What stands before the name: `/`."""
    rootless: bool = False

    @property
    def arguments(self) -> int:
        return sum(one.place == "argument" and one.required for one in self.parameters)

    @property
    def needed(self) -> frozenset[str]:
        return frozenset(one.name for one in self.parameters if one.place == "option" and one.required)


class Index:
    """Commands by their words, with the program's name and without it."""

    def __init__(self, names: Iterable[Name], root: Name, told: Sequence[Told], unread: list[Unread]) -> None:
        self._names = {folded(name): name for name in names}
        for name in list(self._names.values()):
            if root and name[: len(root)] == root != name:
                self._names.setdefault(folded(name[len(root) :]), name)
        self._told = told
        self._unread = unread

    def begins(self, alias: str, name: Name) -> bool:
        """Return whether other commands begin with it: an alias that is a verb alone would answer for all of them."""
        words = folded(alias.split())
        return any(one[: len(words)] == words != one and own != name for one, own in self._names.items())

    def match(self, tokens: Sequence[str], scopes: Iterable[Name] = ()) -> tuple[Name, Sequence[str], str, bool] | None:
        """The command that a way begins with, what stands behind its name, the sign before it, whether without root."""
        words = folded(tokens)
        sign = words[0][:1] if words and words[0][:1] in "/!." and len(words[0]) > 1 else ""
        for count in range(min(len(words), MAX_WORDS), 0, -1):
            head = words[:count]
            bare = (head[0].removeprefix(sign), *head[1:])
            for sigil, one in (*(("", (*folded(scope), *head)) for scope in scopes), ("", head), (sign, bare)):
                if name := self._names.get(one):
                    return name, tokens[count:], sigil, one != folded(name)
        return None

    def believed(self) -> Iterator[tuple[Name, Written]]:
        """Return where no code reads any command: tables, usages, and lists of three lines and more."""
        lines = Counter(one.line for one in self._told if one.way.summary and not one.way.colon)
        for one in self._told:
            name = name_of(one.way.text)
            found, plain = parameters(one.way.tokens[len(name) :])
            prose = plain or one.row or one.way.colon or not one.way.summary or _PROSE.match(one.way.text)
            if name and not one.shown and (one.fields or one.way.usage or (lines[one.line] > 2 and not prose)):
                yield name, Written(one, one.way.tokens[len(name) :], found)
        if self._told:
            what = "What help says was believed: no code that reads it was found."
            self._unread.append(Unread(f"line {self._told[0].line}", what))

    def written(self, leaves: Sequence[Leaf]) -> Iterator[tuple[Name, Written]]:
        """Return what people are told of the commands that code reads."""
        lines = Counter(one.line for one in self._told if one.way.colon and self.match(one.way.tokens))
        scoped = [
            (
                Told(way, branch.line, text=hash(text)),
                [name[:count] for name in names for count in range(len(name), 0, -1)],
                not leaf,
            )
            for branch, names, leaf in leaves
            for text in branch.texts
            for way in self._ways(text, branch)
        ]
        seen, inner = set(), set()
        for one, scopes, group in [*scoped, *((one, [], False) for one in self._told if not one.shown)]:
            match = self.match(one.way.tokens, scopes)
            within = match is not None and any(match[0][: len(scope)] == scope for scope in scopes)
            if not scopes and one.way in inner:
                continue  # `clear` in the help of `todo`
            if within or (group and not one.way.usage):
                inner.add(one.way)
            if match is None:
                found, plain = parameters(one.way.tokens)
                if one.row and (one.fields or found) and not plain:
                    what = f"`{one.way.text[:100]}` stands in a help table, and no code that reads it was found."
                    self._unread.append(Unread(f"line {one.line}", what))
                continue
            found, plain = parameters(match[1])
            deeper = within and match[0] not in scopes
            said = one.way.summary and (deeper or not one.way.colon or lines[one.line] > 1)
            says = one.way.usage or (not plain and (one.row or said or found) and (within or one.way not in inner))
            key = (match[0], tuple(match[1]), one.way.usage, bool(one.way.summary))
            if says and (key not in seen or one.fields):
                seen.add(key)
                yield match[0], Written(one, match[1], found, match[2], match[3])

    def _ways(self, text: str, branch: Branch) -> Iterator[Way]:
        found = [one for one in ways(text) if isinstance(one, Way)]
        listed = sum(one.colon for one in found) > 1  # `Status: pending` alone is no help
        for way in found:
            if "\0" not in way.text and (way.usage or not way.colon or (listed and "\0" not in way.summary)):
                yield replace(way, summary=way.summary.replace("\0", "…"))
            elif way.usage:
                said = way.text.replace("\0", "…")[:200]
                self._unread.append(Unread(f"line {branch.line}", f"A part of this usage is not known: `{said}`"))


def folded(words: Iterable[str]) -> Name:
    return tuple(word.casefold() for word in words)
