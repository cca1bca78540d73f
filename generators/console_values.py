"""What an expression of a console holds of the line that was typed: all of it, its words from one on, one word."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_ALTERNATIVES = 24

Path = Mapping[int, str]
"""What is known of the typed words: index -> word."""


class TooMuchError(Exception):
    """The source leads round in circles, or further than is looked."""


@dataclass(frozen=True, slots=True)
class Text:
    said: str


@dataclass(frozen=True, slots=True)
class Line:
    """The line from its word `at` on, as one string."""

    at: int


@dataclass(frozen=True, slots=True)
class Words:
    """A list: words that are known, then those of the line from `at` on (None: no more)."""

    at: int | None
    known: tuple[str, ...] = ()

    def word(self, index: int) -> "Text | Word | None":
        if index < 0:
            return None
        if index < len(self.known):
            return Text(self.known[index])
        return None if self.at is None else Word(self.at + index - len(self.known))

    def without(self, count: int) -> "Words":
        over = max(0, count - len(self.known))
        return Words(None if self.at is None else self.at + over, self.known[count:])


@dataclass(frozen=True, slots=True)
class Word:
    at: int


@dataclass(frozen=True, slots=True)
class Flag:
    """Whether an option was given, or what its value is."""

    called: str
    """`--recursive, -r`, `--limit=<value>`."""


@dataclass(frozen=True, slots=True)
class Table:
    """What an object of functions has for a word; `node` is the object, None where it cannot be read."""

    name: str
    at: int
    node: Any


Value = Text | Line | Words | Word | Flag | Table | None
Known = Mapping[str, Value]
"""Names in a function -> what they hold."""


def joined(one: Path, other: Path) -> dict[int, str] | None:
    """Both at once; None where they contradict each other."""
    if any(index in one and one[index] != word for index, word in other.items()):
        return None
    return {**one, **other}


def each_joined(paths: "list[dict[int, str]]", others: "list[dict[int, str]]") -> "list[dict[int, str]]":
    found = [both for one in paths for other in others if (both := joined(one, other)) is not None]
    unique = {tuple(sorted(one.items())): one for one in found}
    return list(unique.values())[:MAX_ALTERNATIVES]
