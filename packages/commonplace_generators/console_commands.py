"""A command out of what was found of it: how it is typed, what it does, what it takes, and how sure that is.

Which of the ways to type that people are told belong to which command is decided first.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from commonplace.reference.model import Example, Parameter
from commonplace.repository.slugs import slug
from commonplace_generators.commands import Command
from commonplace_generators.console_branches import Branch
from commonplace_generators.console_help import DESCRIPTIONS, Note, Told, text_of, texts_of
from commonplace_generators.console_usage import Way, options_in, parameters, ways
from commonplace_generators.generated import Unread
from commonplace_generators.usages import merged, name_of, option

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
                    what = f"`{one.way.text[:100]}` is in a help table, but no code that reads it was found."
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
                self._unread.append(Unread(f"line {branch.line}", f"A part of this usage is unknown: `{said}`"))


def folded(words: Iterable[str]) -> Name:
    return tuple(word.casefold() for word in words)


_SENTENCE = re.compile(r"(?!(?:Use|Try|See|Note|Required|Examples?|Options|Type)\b)[A-Z][\w'-]*(?: [^\0:\"]+){2,}")
_FAILED = re.compile(r"(?:Error: )?(?:Failed|Unable|Could not|Cannot) (?:to )?([\w][^:\0]+)")
_DONE = re.compile(
    r"(?:\[\w+\])?((?!Failed|Error|Unknown|Missing|Invalid|Usage|No |Unable|Could|Cannot|Required)"
    r"[A-Z][^\n\"/]* [^\n\"/]+)"
)


@dataclass(slots=True)
class Found:
    """A command, and what was found of it."""

    branches: list[Branch] = field(default_factory=list)
    aliases: dict[Name, None] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    shown: list[Example] = field(default_factory=list)
    noted: Note = field(default_factory=Note)
    """What comments say of it."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Return the fields of the object in a help table."""
        return next((one.told.fields for one in self.written if one.told.fields), {})

    @property
    def options(self) -> list[str]:
        """Those that its code reads."""
        read = [one for branch in self.branches for one in branch.options.items()]
        return [f"{name}={value}" if value else name for name, value in read]

    def arguments(self, name: Name) -> list[str]:
        """Those that its code takes."""
        taken = self.branches[0].arguments if self.branches else {}
        return [f"<{taken.get(at, 'value')}>" for at in range(len(name), max(taken, default=0) + 1)]

    @property
    def elsewhere(self) -> bool:
        """Return whether code that is not in the source may read more."""
        return not self.branches or any(one.elsewhere for one in self.branches)


@dataclass(frozen=True, slots=True)
class Composition:
    names: Mapping[Name, str]
    """What each command is called."""
    index: Index
    shows: frozenset[int]
    """Texts that say what is typed behind a name."""
    root: int
    """How many words the program's name has."""

    def command(self, name: Name, found: Found) -> Command:
        called, fields, tags = self.names[name], found.fields, found.noted.tags
        first, others = _chosen([one for one in found.written if self._tells(one, name, found)])
        exact, syntax = self._syntax(name, found, first)
        own = first.parameters if first else parameters(syntax.split()[len(name) :])[0]
        takes = _takes(own, others, found)
        summary = (
            text_of(fields, *DESCRIPTIONS)
            or next((one.told.way.summary for one in found.written if one.told.way.summary), "")
            or found.noted.summary
            or _printed(name, found)
        )
        noted = [Example(description=summary or called, code=one) for one in tags.get("example", ()) if one]
        said = text_of(found.fields, "replacedBy", "replaced_by", "useInstead", "deprecated")
        words = (said or next(iter(found.noted.tags.get("deprecated", ())), "")).replace("`", " ").split()
        matches = (self.index.match(words[at:]) for at in range(len(words)))
        replaced_by = next((self.names[match[0]] for match in matches if match and match[0] in self.names), None)
        return Command(
            words=tuple(called.split()),
            title=text_of(fields, "title", "label"),
            summary=summary,
            description=text_of(fields, "details", "longDescription", "long", "notes")
            or (found.noted.text if found.noted.summary == summary else ""),
            syntax=syntax,
            usages=tuple(" ".join((called, *one.rest)) for one in others),
            parameters=tuple(takes) if takes or not found.elsewhere else None,
            confidence="exact" if exact else "inferred",
            output=text_of(fields, "output", "returns", "prints") or next(iter(tags.get("output", ())), None),
            examples=(*found.shown, *_examples(fields, summary or called), *noted),
            aliases=tuple(self._aliases(name, found)),
            keywords=tuple(texts_of(fields, "keywords", "tags")),
            related=tuple(texts_of(fields, "seeAlso", "related")),
            deprecated=bool(fields.get("deprecated") or replaced_by or "deprecated" in tags),
            replaced_by=replaced_by,
            subcategory=slug(text_of(fields, "subcategory") or "") or None,
            module=slug(text_of(fields, "module") or "") or None,
        )

    def _tells(self, one: Written, name: Name, found: Found) -> bool:
        """Return whether it is a syntax. A name alone is one where others beside it say what stands behind theirs."""
        if one.rest or one.told.way.usage:
            return True
        again = any(other.rest for other in found.written if other.told.text == one.told.text)
        sure = one.told.row or again or not found.arguments(name)
        return one.told.text in self.shows and not one.told.fields and sure

    def _syntax(self, name: Name, found: Found, first: Written | None) -> tuple[bool, str]:
        """Return whether the product says so itself, and how it is typed."""
        called, arguments, options = self.names[name], found.arguments(name), found.options
        if first is not None:
            return True, " ".join((called, *first.rest))
        if usage := found.noted.tags.get("usage") or found.noted.tags.get("syntax"):
            return True, usage[0]
        nothing = bool(found.written and not (arguments or options or found.elsewhere))
        return nothing, " ".join((called, *arguments, *(f"[{one.partition(',')[0]}]" for one in options)))

    def _aliases(self, name: Name, found: Found) -> Iterator[str]:
        rootless = any(way.rootless for way in found.written) and len(name) > self.root
        sigil = self.names[name][: len(self.names[name]) - len(" ".join(name))]
        typed = [sigil + " ".join(one) for one in (*found.aliases, *([name[self.root :]] if rootless else []))]
        told = texts_of(found.fields, "aliases", "alias")
        for one in (*(one if " " in one or one[:1] == sigil else sigil + one for one in told), *typed):
            if not self.index.begins(one, name):
                yield one


def _takes(own: Sequence[Parameter], others: Sequence[Written], found: Found) -> list[Parameter]:
    """Return what the first way has, what lists of options say, what other ways have, and what code reads."""
    said = [one for branch in found.branches for text in branch.texts for one in options_in(text.replace("\0", "…"))]
    further = [one for way in others for one in way.parameters if one.place == "option"]
    further += [one for flag in found.options if (one := option(flag))]
    optional = [one.model_copy(update={"required": False}) for one in further]
    return merged([*own, *said, *_options(found.fields), *optional])


def _printed(name: Name, found: Found) -> str:
    """Return what the command prints about itself: a sentence after its usage, its failure, or its success."""
    stems = {word[:4].casefold() for word in name[-1].split("-")}
    texts = [one.strip(" \n.") for branch in found.branches for one in branch.texts if " " in one]
    for usage, next_ in pairwise(texts):
        if "usage:" in usage.casefold() and _SENTENCE.fullmatch(next_):
            return next_
    own = [one for one in reversed(texts) if stems & {word[:4] for word in re.findall(r"\w+", one.casefold())}]
    if failed := next((one[1] for text in own if (one := _FAILED.match(text)) and " " in one[1].strip()), None):
        return f"{failed[:1].upper()}{failed[1:].strip()}"
    done = (said[1] for one in own if (said := _DONE.fullmatch(one.replace("\0", "…"))))
    return next((f"Says “{one}”." for one in done), "")


def _chosen(written: Sequence[Written]) -> tuple[Written | None, list[Written]]:
    """The way to tell first, and others that say more: one of many (`delete --filter=...`) comes after one of one."""
    most = max((one.arguments for one in written), default=0)
    single = [one for one in written if one.arguments == most or not one.needed]
    usages = [one for one in single if one.told.way.usage]
    pool = [one for one in single if one.rest or one.told.way.usage or not usages]
    if not pool:
        return None, []
    count = min(pool, key=lambda one: not one.told.row).arguments
    same = [one for one in usages if one.arguments == count]
    first = min(same, key=lambda one: (len(one.needed), -len(one.parameters))) if same else pool[0]
    if not same:
        first = min(pool, key=lambda one: not one.told.row)
    shapes = {(first.arguments, frozenset(one.name for one in first.parameters if one.place == "option"))}
    others = []
    for one in written:
        shape = (one.arguments, frozenset(each.name for each in one.parameters if each.place == "option"))
        if one is not first and not any(shape[0] == other[0] and shape[1] <= other[1] for other in shapes):
            shapes.add(shape)
            others.append(one)
    return first, others


def _options(fields: Mapping[str, Any]) -> Iterator[Parameter]:
    """`[{flag, description}]`, `{'--flag': 'what it does'}`, `['--flag']`."""
    value = fields.get("options") or fields.get("flags") or ()
    for name, one in value.items() if isinstance(value, dict) else (("", one) for one in value):
        told = one if isinstance(one, dict) else {"flag": name or one, "description": one if name else ""}
        called = text_of(told, "flag", "flags", "name", "option") or name
        if called and (found := option(called, text_of(told, *DESCRIPTIONS) or "")):
            yield found


def _examples(fields: Mapping[str, Any], summary: str) -> Iterator[Example]:
    value = fields.get("examples") or fields.get("example")
    for one in value if isinstance(value, list) else [value]:
        fits = {"code": one} if isinstance(one, str) else one if isinstance(one, dict) else {}
        if code := text_of(fits, "code", "command", "example"):
            described = text_of(fits, "description", "desc", "title") or summary
            yield Example(description=described, code=code, output=text_of(fits, "output"))
