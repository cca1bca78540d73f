"""Usages of commands, `docker run [OPTIONS] IMAGE [COMMAND] [ARG...]`, as patterns of the words that may follow a name.

Options are no part of them: they stand anywhere in a line, and are read apart from its words.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

MAX_DEPTH = 30
REPEATED = ("...", "…")
_CLOSED_BY = {"[": "]", "(": ")", "<": ">", "{": "}"}
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


@dataclass(slots=True)
class Group:
    """The content of brackets: words and groups, and other ways to fill them."""

    optional: bool
    ways: list[list["str | Group"]] = field(default_factory=lambda: [[]])


Pattern = tuple[Part, ...]
Fits = Callable[[Part, int], bool]
"""Says whether the word at this place of a line may stand for this part."""


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
    """Return what stands for values in it."""
    for part in pattern:
        yield from (inner for way in part.ways for inner in values(way))
        if not (part.ways or part.literal):
            yield part


def names_subcommand(part: Part, *, group: bool) -> bool:
    """Return whether what stands here is no value: `SUBCOMMAND`, and of a group also `COMMAND` and `<action>`."""
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
    """Return what stands in a usage beside options and their values; of what follows `--`, nothing.

    `is_flag` says whether an option is known to have no value. `literally`: whether a word in small letters is typed as
    it is; else it stands for a value, unless it is one of several.
    """
    return _Reader(is_flag, literally).ways(parsed(usage, bars=True), outer=True)[0]


@dataclass(frozen=True, slots=True)
class _Reader:
    is_flag: Callable[[str], bool]
    literally: bool

    def ways(self, group: Group, *, outer: bool = False) -> list[Pattern]:
        """Return the ways of a group. Outside of every group, alternatives are those of one word."""
        found: list[list[Part]] = []
        for way in group.ways:
            after_option, joined = False, outer and bool(found)
            found += [] if joined else [[]]
            for item, following in zip(way, [*way[1:], ""], strict=False):
                if item in REPEATED:
                    continue
                part, after_option = self._part(item, after_option=after_option, outer=outer)
                if part and part.text == "--":
                    return self._valued(found, outer=outer)
                if part and following in REPEATED:
                    part = replace(part, repeated=True)
                if part and joined and found[-1]:
                    found[-1][-1] = Part(ways=((found[-1][-1],), (part,)))
                elif part:
                    found[-1].append(part)
                joined = False
        return self._valued(found, outer=outer)

    def _valued(self, ways: list[list[Part]], *, outer: bool) -> list[Pattern]:
        """Return them with a small word as a value unless it is typed as it is: `[package]`, but not `[fix|audit]`."""
        if self.literally or outer or len(ways) > 1 or len(ways[0]) != 1:
            return [tuple(way) for way in ways]
        return [(replace(ways[0][0], literal=False),)]

    def _part(self, item: str | Group, *, after_option: bool, outer: bool) -> tuple[Part | None, bool]:
        """None for an option or its value; and whether it is an option whose value follows."""
        if isinstance(item, Group):
            ways = self.ways(item)
            if not any(ways):
                return None, not item.optional
            return None if after_option else Part(ways=tuple(ways), optional=item.optional or () in ways), False
        word = item.rstrip(".…") or item
        if option := _OPTION.match(word):
            return None, "=" not in word and option.end() == len(word) and not self.is_flag(option[1])
        literal = _LITERAL.match(word) is not None
        if after_option or (_OPTIONS.match(word) and not (outer and literal)):
            return None, False
        return Part(word, literal=literal, repeated=word != item or word.startswith("...")), False


def parsed(usage: str, *, bars: bool = False) -> Group:
    """`bars`: as it is typed in a shell, `|` within a word parts ways too, `on|off`, and what is quoted is one word."""
    return _group(tokens(usage, bars=bars))


def tokens(text: str, *, whole: bool = False, bars: bool = False) -> Iterator[str]:
    """Words, each with what is bracketed within it, and the brackets around words; `whole` of words alone."""
    at = 0
    while at < len(text):
        sign = text[at]
        if sign.isspace():
            at += 1
        elif sign in "[]()|" and not whole and not _leads(text, at):
            yield sign
            at += 1
        else:
            end = _end(text, at, whole=whole, bars=bars)
            yield text[at:end]
            at = end


def _leads(text: str, start: int) -> bool:
    """Return whether a bracket begins a word: `[user@]host`."""
    if text[start] not in "[(":
        return False
    end = _end(text, start, whole=True, first=True)
    return text[end - 1] in "])" and text[end : end + 1] not in ("", " ", "]", ")", "|", ".", "…", "[", "(")


def _end(text: str, start: int, *, whole: bool, first: bool = False, bars: bool = False) -> int:
    """Return the end of the word that begins there, or of its `first` bracket."""
    at, open_ = start, list[str]()
    while at < len(text):
        sign = text[at]
        if open_:
            if sign == open_[-1]:
                open_.pop()
                if first and not open_:
                    return at + 1
            elif sign in _CLOSED_BY and sign in "[(<{" and (sign != "<" or text[at + 1 : at + 2].isalpha()):
                open_.append(_CLOSED_BY[sign])
        elif (
            sign.isspace()
            or (sign in "])" and not whole)
            or (sign == "|" and (bars or text[start] == "-" or text[at + 1 : at + 2] in ("", " ", "-")))
        ):
            break
        elif sign in _CLOSED_BY or (bars and sign in "'\"" and sign in text[at + 1 :]):
            open_.append(_CLOSED_BY.get(sign, sign))
        at += 1
    return max(at, start + 1)


def _group(words: Iterator[str], closing: str = "", depth: int = 0) -> Group:
    """Up to the bracket that closes it; another one that nothing opened is passed over."""
    group = Group(optional=closing == "]")
    for one in words:
        if one == closing:
            break
        if one == "|":
            group.ways.append([])
        elif one in ("[", "(") and depth < MAX_DEPTH:
            group.ways[-1].append(_group(words, _CLOSED_BY[one], depth + 1))
        elif depth < MAX_DEPTH and re.match(r"<(?:-|.*[\s|<]-)", one, re.DOTALL):  # `<PACKAGES|--requirements <FILE>>`
            group.ways[-1].append(_group(tokens(one[1:].rstrip(".").removesuffix(">")), depth=depth + 1))
        elif one not in ("[", "]", "(", ")"):
            group.ways[-1].append(one)
    return group
