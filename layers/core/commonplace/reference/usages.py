"""Usages of commands, `docker run [OPTIONS] IMAGE [COMMAND] [ARG...]`, as patterns of the words that may follow a name.

Options are no part of them: they stand anywhere in a line, and are read apart from its words.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

_CLOSED_BY = {"[": "]", "(": ")", "<": ">", "{": "}", '"': '"', "'": "'"}
_DOTS = re.compile(r"\s*(?:\.\.\.|…)(?!\w)")
_AFTER_GROUP = re.compile(r"[\s|\])]|\.\.\.|…|\Z")
_OPTION = re.compile(r"[\[(]*(--?(?:\[no-\])?\w[\w-]*)")
_OPTIONS = re.compile(r"(?i)\W*(?:[\w-]*[ _-])?(?:options?|flags?)\W*\Z")
_WRAPPED = re.compile(r"(?i)\W*(?:\w+[ _-])?(?:command|cmd|args?|arguments?)\W*\Z")
_SUBCOMMAND = re.compile(r"(?i)\W*sub[ _-]?command\W*\Z")
_ACTION = re.compile(r"(?i)\W*(?:\w+[ _-])?(?:action|operation)\W*\Z")
_LITERAL = re.compile(r"[a-z0-9][a-z0-9_.:-]*\Z")


@dataclass(frozen=True, slots=True)
class Part:
    """A word that is written so, a value, or a group of ways to go on."""

    text: str = ""
    literal: bool = False
    ways: tuple["Pattern", ...] = ()
    optional: bool = False
    repeated: bool = False


Pattern = tuple[Part, ...]
Fits = Callable[[Part, int], bool]
"""Whether the word at this place of a line may stand for this part."""


def ends(pattern: Pattern, size: int, fits: Fits, starts: frozenset[int] = frozenset({0})) -> frozenset[int]:
    """Up to which words of a line of this size a pattern may reach. What a line lacks at its end is forgiven."""
    for part in pattern:
        found = reached = _once(part, size, fits, starts)
        while part.repeated and (reached := _once(part, size, fits, reached) - found):
            found |= reached
        starts = found | starts if part.optional else found
    return starts


def _once(part: Part, size: int, fits: Fits, starts: frozenset[int]) -> frozenset[int]:
    if part.ways:
        return frozenset[int]().union(*(ends(way, size, fits, starts) for way in part.ways))
    return frozenset(at + 1 for at in starts if at < size and fits(part, at)) | (starts & {size})


def values(pattern: Pattern) -> Iterator[Part]:
    """What stands for values in it."""
    for part in pattern:
        yield from (inner for way in part.ways for inner in values(way))
        if not (part.ways or part.literal):
            yield part


def names_subcommand(part: Part, *, group: bool) -> bool:
    """Whether what stands here is no value: `SUBCOMMAND`, and of a group also `COMMAND` and `<action>`."""
    kinds = (_SUBCOMMAND, _ACTION, _WRAPPED) if group else (_SUBCOMMAND,)
    return any(kind.match(part.text) for kind in kinds)


def wrapped_at(pattern: Pattern, at: int = 0) -> int | None:
    """After how many words another command begins, whose options are its own: 1 of `IMAGE [COMMAND] [ARG...]`."""
    for part in pattern:
        if not part.literal and part.text and _WRAPPED.match(part.text):
            return at
        inner = [found for way in part.ways if (found := wrapped_at(way, at)) is not None]
        if inner:
            return min(inner)
        at += max(map(len, part.ways), default=1)
    return None


def pattern_of(usage: str, is_flag: Callable[[str], bool], *, literally: bool) -> Pattern:
    """What stands in a usage beside options and their values; of what follows `--`, nothing.

    `is_flag` says whether an option is known to have no value. `literally`: whether a word in small letters is typed as
    it is; else it stands for a value, unless it is one of several.
    """
    return _Reader(usage, is_flag, literally=literally).ways(outer=True)[0]


class _Reader:
    def __init__(self, text: str, is_flag: Callable[[str], bool], *, literally: bool) -> None:
        self._text, self._is_flag, self._literally = text, is_flag, literally
        self._at = self._depth = 0

    def ways(self, *, outer: bool = False) -> list[Pattern]:
        """Up to the end of the group. Outside of every group, alternatives are those of one word."""
        found: list[list[Part]] = [[]]
        after_option = joined = False
        while (at := self._skip_spaces()) < len(self._text) and (outer or self._text[at] not in "])"):
            if self._text[at] == "|":
                self._at += 1
                after_option, joined = False, outer
                found += [] if outer else [[]]
            elif dots := _DOTS.match(self._text, at):
                self._at = dots.end()
            else:
                part, after_option = self._part(after_option=after_option)
                if part and part.text == "--":
                    self._skip_group()
                elif part and joined and found[-1]:
                    found[-1][-1] = Part(ways=((found[-1][-1],), (part,)))
                elif part:
                    found[-1].append(part)
                joined = False
        return [tuple(self._valued(way, alone=len(found) == 1 and not outer)) for way in found]

    def _valued(self, way: list[Part], *, alone: bool) -> Iterator[Part]:
        """With small words as values where none is typed as it is: `[package]`, but not `[fix|audit]`."""
        for part in way:
            yield replace(part, literal=False) if alone and len(way) == 1 and not self._literally else part

    def _part(self, *, after_option: bool) -> tuple[Part | None, bool]:
        """The next part; None for an option or its value; and whether it is an option whose value follows."""
        start = self._at
        if self._text[start] in "[(" and _AFTER_GROUP.match(self._text, (close := self._closing(start)) + 1):
            self._at, self._depth = start + 1, self._depth + 1
            ways = self.ways()
            self._at, self._depth = close + 1, self._depth - 1
            if not any(ways):
                return None, self._text[start] == "("
            part = Part(ways=tuple(ways), optional=self._text[start] == "[" or () in ways)
            return None if after_option else self._dotted(part), False
        word = self._word()
        if option := _OPTION.match(word):
            return None, "=" not in word and option.end() == len(word) and not self._is_flag(option[1])
        literal = _LITERAL.match(word) is not None
        if after_option or (_OPTIONS.match(word) and (self._depth or not literal)):
            return None, False
        return self._dotted(Part(word, literal=literal)), False

    def _dotted(self, part: Part) -> Part:
        dots = _DOTS.match(self._text, self._at)
        self._at = dots.end() if dots else self._at
        return replace(part, repeated=bool(dots) or part.text.startswith("..."))

    def _word(self) -> str:
        start = self._at
        while self._at < len(self._text) and not (self._text[self._at].isspace() or self._text[self._at] in "|])"):
            if self._at > start and _DOTS.match(self._text, self._at):
                break
            self._at = self._closing(self._at) + 1
        self._at = max(self._at, start + 1)
        return self._text[start : self._at]

    def _closing(self, start: int) -> int:
        """Where what opens here is closed: here, if nothing opens; the last letter, where it is not closed."""
        opening, depth = self._text[start], 0
        closing = _CLOSED_BY.get(opening)
        if closing is None or opening == closing:
            end = self._text.find(closing, start + 1) if closing else start
            return max(end, start)
        for at in range(start, len(self._text)):
            depth += (self._text[at] == opening) - (self._text[at] == closing)
            if depth == 0:
                return at
        return len(self._text) - 1

    def _skip_spaces(self) -> int:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._at

    def _skip_group(self) -> None:
        depth = 0
        while self._at < len(self._text) and depth >= 0:
            depth += (self._text[self._at] in "[(") - (self._text[self._at] in "])")
            self._at += depth >= 0
