"""Options that commands have, and those of a line that they do not have, with the nearest that exist."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from commonplace.reference.model import Entry, UnknownOption
from commonplace.reference.synonyms import stem
from commonplace.search.text import words

NEAREST = 3
SHORTEST_ALIKE = 3
"""Letters that an option begins with, or a word in it has, for two to be alike."""

_SPELT = re.compile(r"(?<![\w-])(-{1,2})(\[no-\]|\(no-\))?(\w[\w.-]*)")
_IN_USAGE = re.compile(r"(?<![\w-])(?P<name>-{1,2}(?:\[no-\])?[A-Za-z][\w-]*)(?P<value>=| (?=[^\s\[\]()|.-]))?")
_PLACEHOLDER = re.compile(r"(?i)[\[<](?:[\w-]*[ _-])?(?:options?|flags?)[\]>]|\b(?:OPTIONS|FLAGS)\b")
_BOOLEAN = re.compile(r"(?i)\W*(?:true|false|bool|boolean|flag)\W*\Z")
_HELP = frozenset({"-h", "--help", "-help", "-?"})


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a command, with those of the groups that it belongs to."""

    takes: dict[str, bool | None]
    """Says whether a value follows; None where it may be joined by `=` alone, or where nobody says."""
    described: dict[str, str]
    """What is said of each, by its first name."""
    known: bool
    """True if they were read: else nothing can be said of an option that is not among them."""
    complete: bool
    """True if these are all: help that a library makes lists itself, or says [OPTIONS]; a usage may list all."""
    partial: bool = False
    """True if these are known not to be all."""

    def has(self, name: str) -> bool:
        """Return whether there is this one, or a cluster of short ones; or what nobody lists."""
        if name in self.takes or name in _HELP:
            return True
        if name.startswith("--no-") and not _HELP & self.takes.keys():
            return self.takes.get(f"--{name[5:]}", True) is not True
        if name.startswith("--"):
            return False
        for letter in name[1:]:  # of `-xzf` the first that has a value has all that follows: `-n5`
            if f"-{letter}" not in self.takes:
                return False
            if self.takes[f"-{letter}"] is not False:
                return True
        return True

    def followed(self, name: str) -> bool | None:
        """Return whether the next word is the value of an option: of the last one of a cluster."""
        if name in self.takes or name.startswith("--"):
            return self.takes.get(name, False if name in _HELP else None)
        valued = next((at for at, letter in enumerate(name[1:], 1) if self.takes.get(f"-{letter}") is not False), None)
        if valued is None:
            return False
        return self.takes.get(f"-{name[valued]}") if valued == len(name) - 1 else False

    def unknown(self, names: Iterable[str]) -> tuple[tuple[UnknownOption, ...], tuple[UnknownOption, ...]]:
        """Return those that do not exist, as far as that can be said, and those that are not listed and may exist.

        A part of the options says nothing of others, and what says no to an option need not be listed beside it.
        """
        found: list[UnknownOption] = []
        unlisted: list[UnknownOption] = []
        for name in dict.fromkeys(names) if self.known or self.partial else ():
            if self.has(name):
                continue
            near = nearest(name, self.takes)
            if not near and self.complete:
                # Those that are said to do what it is called: `--detach` runs in the background.
                stems = set(map(stem, words(name)))
                alike = (other for other, said in self.described.items() if stems & set(map(stem, words(said))))
                near = tuple(alike)[:NEAREST]
            if self.partial or _negated(name) in self.takes:
                unlisted.append(UnknownOption(name, near))
            elif near or self.complete:
                found.append(UnknownOption(name, near))
        return tuple(found), tuple(unlisted)


def _negated(name: str) -> str:
    """`--no-legend` of `--legend`, and the other way round."""
    return f"--{name[5:]}" if name.startswith("--no-") else f"--no-{name[2:]}"


def nearest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the nearest by edits, by what both begin with, by words that both have."""
    far = [(distance, other) for other in names if (distance := _distance(name, other)) is not None]
    return tuple(other for _, other in sorted(far)[:NEAREST])


def options_of(entry: Entry, groups: Sequence[Entry]) -> Options:
    """Those of `groups` count as well."""
    takes: dict[str, bool | None] = {}
    described: dict[str, str] = {}
    for one in (entry, *groups):
        for parameter in (each for each in one.parameters or () if each.place == "option"):
            described.setdefault(parameter.name, parameter.description.partition(". ")[0])
            valued = None if parameter.type and parameter.type.startswith(("[", "=")) else True
            if parameter.type is None or _BOOLEAN.match(parameter.type):
                valued = False
            for name in _names([parameter.name, *parameter.aliases]):
                takes.setdefault(name, valued)
    usages = "\n".join((entry.syntax or "", *entry.usages))
    hidden = _PLACEHOLDER.search(usages) is not None
    own = any(parameter.place == "option" for parameter in entry.parameters or ())
    in_usage = list(_IN_USAGE.finditer(usages))
    for found in in_usage:
        for name in _names([found["name"]]):
            takes.setdefault(name, bool(found["value"]) if found["value"] != "=" else True)
    complete = not _HELP.isdisjoint(takes) or (bool(in_usage) and not hidden) or (own and "[OPTIONS]" in usages)
    partial = "options" in entry.partial
    complete = complete and entry.confidence == "exact" and not partial
    known = entry.parameters is not None and (own or not hidden)
    return Options(takes, described, known=known, complete=complete, partial=partial)


def _names(spellings: Iterable[str]) -> Iterator[str]:
    """`--[no-]status` is two, `-S|--save` as well, `--quiet...` is one."""
    for spelt in spellings:
        for dashes, negated, name in _SPELT.findall(spelt):
            yield f"{dashes}{name.rstrip('.')}"
            if negated:
                yield f"{dashes}no-{name.rstrip('.')}"


def _distance(name: str, other: str) -> tuple[int, float] | None:
    """The nearer, the less; None for what is not near."""
    from rapidfuzz.distance import OSA

    one, two = (text.lstrip("-").casefold() for text in (name, other))
    allowed = max(1, len(one) // 4)
    shorter = min(len(one), len(two))
    edits = OSA.distance(one, two, score_cutoff=allowed)
    if edits <= allowed and (shorter >= SHORTEST_ALIKE or edits == 0):
        return 0, edits
    if shorter >= SHORTEST_ALIKE and (one.startswith(two) or two.startswith(one)):
        return 1, abs(len(one) - len(two))
    letters = iter(two)
    if shorter >= SHORTEST_ALIKE and one[0] == two[0] and all(letter in letters for letter in one):
        # `msg` is `message`: its letters in their order.
        return 3, len(two) - len(one)
    ours, theirs = (frozenset(word for word in text.split("-") if len(word) >= SHORTEST_ALIKE) for text in (one, two))
    alike = len(ours & theirs) / (len(ours | theirs) or 1)
    return (2, 1 - alike) if alike >= 1 / 2 else None
