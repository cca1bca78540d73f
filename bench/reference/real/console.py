"""A console's commands by what its source tells people: the rows of its help table, and its `Usage:` sentences."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

_ROW = re.compile(
    r'<td className="command-name">(?P<name>.*?)</td>\s*<td className="command-desc">(?P<said>.*?)</td>', re.DOTALL
)
_USAGE = re.compile(r"'(?:[^'\n]*\s)?Usage: (?P<said>[^'\n]+)'")
_TAG = re.compile(r"<[^<>]*>")
_NAMED = re.compile(r"[a-z0-9][a-z0-9-]*")
_OPTION = re.compile(r"--[A-Za-z][\w-]*")


@dataclass
class Truth:
    """Of one command: each way to type it, and what it does where a row says it."""

    ways: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Form:
    """What has to be typed behind a name, and what may be."""

    arguments: int
    needed: frozenset[str]
    allowed: frozenset[str]
    """Names of options, the needed ones as well."""


def truths(source: Path, root: str) -> Mapping[str, Truth]:
    """Name without the root -> what people are told. Rows of other tables (of filters) name no command."""
    text = source.read_text(encoding="utf-8")
    found: dict[str, Truth] = {}
    for row in _ROW.finditer(text):
        way = _plain(row["name"])
        if name := name_of(way, root):
            truth = found.setdefault(name, Truth())
            truth.ways.append(way)
            truth.said.append(_plain(row["said"]))
    for usage in _USAGE.finditer(text):
        if name := name_of(usage["said"], root):
            found.setdefault(name, Truth()).ways.append(usage["said"])
    return found


def name_of(way: str, root: str) -> str:
    """The words before the first argument or option; empty for a pattern of several commands, or for none."""
    words = way.split()
    words = words[1:] if words[:1] == [root] else words
    name: list[str] = []
    for word in words:
        if not _NAMED.fullmatch(word):
            break
        name.append(word)
    after = words[len(name) : len(name) + 1]
    return "" if after in (["<resource>"], ["<verb>"], ["<action>"]) else " ".join(name)


def form(way: str, name: str, root: str) -> Form | None:
    """None for what nobody can read: a bracket or a quotation mark that is not closed."""
    if way.count('"') % 2 or way.count("[") != way.count("]"):
        return None
    rest = way.removeprefix(f"{root} ").removeprefix(name)
    optional = " ".join(re.findall(r"\[[^\]]*\]", rest))
    fixed = re.sub(r"\[[^\]]*\]", " ", rest)
    fixed = re.sub(r"(--[A-Za-z][\w-]*)=(?:\"[^\"]*\"|<[^>]*>|\S*)", r"\1", fixed)
    arguments = [one for one in fixed.split() if not one.startswith("--")]
    needed = frozenset(_OPTION.findall(re.sub(r"<[^>]*>", " ", fixed)))
    return Form(len(arguments), needed, needed | frozenset(_OPTION.findall(optional)))


def agrees(way: str, name: str, root: str, truth: Truth) -> bool:
    """Whether it has the arguments of the first way that people are told, and the needed options of a way with these.

    Another number of arguments is a variant: `delete --filter=...` deletes many where `delete <email>` deletes one.
    """
    own = form(way, name, root)
    told = [one for one in (form(each, name, root) for each in truth.ways) if one]
    if own is None or not told or own.arguments != told[0].arguments:
        return False
    return any((one.arguments, one.needed) == (own.arguments, own.needed) for one in told)


def _plain(html: str) -> str:
    return " ".join(re.sub(r"\{'(.*?)'\}", r"\1", unescape(_TAG.sub("", html))).split())
